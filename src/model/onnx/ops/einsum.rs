//! Einsum, written out: diagonals, then products of two operands at a time as batched matrix products, then
//! sums over what is left.

use crate::graph::{Op, ValueId};
use crate::model::onnx::site::{Fault, Site};
use crate::model::shape as shapes;

/// A dimension of an operand: a letter, or one that the ellipsis stands for, counted from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Ellipsis(usize),
    Letter(char),
}

/// A term of the equation.
struct Term {
    before: Vec<char>,
    ellipsis: bool,
    after: Vec<char>,
}

/// An operand on its way: its value with a label for each dimension.
struct Operand {
    value: ValueId,
    labels: Vec<Label>,
    dims: Vec<usize>,
}

pub(super) fn einsum(site: &mut Site) -> Result<(), Fault> {
    let equation = site.attributes().string("equation")?.ok_or("attribute 'equation' is missing")?;
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(term(right)?)),
        None => (equation.as_str(), None),
    };
    let terms = left.split(',').map(term).collect::<Result<Vec<_>, _>>()?;
    if terms.len() != site.input_count() {
        let (due, given) = (terms.len(), site.input_count());
        return Err(format!("equation '{equation}' has {due} operands, {given} are given").into());
    }
    let mut operands = Vec::new();
    for (i, term) in terms.iter().enumerate() {
        let dims = site.shape(i)?;
        let labels = label(term, dims.len())
            .ok_or_else(|| format!("input {i} of shape {dims:?} does not fit equation '{equation}'"))?;
        operands.push(Operand { value: site.value(i)?, labels, dims });
    }
    let wanted = output_labels(right.as_ref(), &operands);
    if let Some(label) = wanted.iter().find(|l| operands.iter().all(|o| !o.labels.contains(l))) {
        return Err(format!("output label {label:?} of '{equation}' is in no operand").into());
    }
    let mut writer = Writer { site, count: 0 };
    let mut rest = operands.into_iter();
    let Some(first) = rest.next() else { return Err("it has no operand".into()) };
    let mut so_far = writer.diagonal(first)?;
    let mut rest: Vec<Operand> = rest.collect();
    while !rest.is_empty() {
        let next = rest.remove(0);
        let next = writer.diagonal(next)?;
        let needed = |label: &Label| wanted.contains(label) || rest.iter().any(|o| o.labels.contains(label));
        so_far = writer.product(so_far, next, needed)?;
    }
    let so_far = writer.sum_out(so_far, |label| wanted.contains(label))?;
    let so_far = writer.arrange(so_far, &wanted)?;
    site.emit_values(Op::Copy, vec![so_far.value], so_far.dims)
}

fn term(text: &str) -> Result<Term, String> {
    let (before, ellipsis, after) = match text.split_once("...") {
        Some((before, after)) => (before, true, after),
        None => (text, false, ""),
    };
    let letters = |part: &str| -> Result<Vec<char>, String> {
        match part.chars().find(|c| !c.is_ascii_alphabetic()) {
            Some(other) => Err(format!("'{other}' in term '{text}' is no letter")),
            None => Ok(part.chars().collect()),
        }
    };
    Ok(Term { before: letters(before)?, ellipsis, after: letters(after)? })
}

/// A label for each of `rank` dimensions.
fn label(term: &Term, rank: usize) -> Option<Vec<Label>> {
    let hidden = rank.checked_sub(term.before.len() + term.after.len())?;
    if hidden > 0 && !term.ellipsis {
        return None;
    }
    let letters = |part: &[char]| part.iter().copied().map(Label::Letter).collect::<Vec<_>>();
    let middle: Vec<Label> = (0..hidden).rev().map(Label::Ellipsis).collect();
    Some([letters(&term.before), middle, letters(&term.after)].concat())
}

/// Labels of the output. Where the equation has none: the ellipsis, then each letter that appears once, in
/// order.
fn output_labels(right: Option<&Term>, operands: &[Operand]) -> Vec<Label> {
    let all = || operands.iter().flat_map(|o| o.labels.iter().copied());
    let widest = all().filter_map(|l| if let Label::Ellipsis(i) = l { Some(i + 1) } else { None }).max();
    let hidden: Vec<Label> = (0..widest.unwrap_or(0)).rev().map(Label::Ellipsis).collect();
    match right {
        Some(term) => {
            let letters = |part: &[char]| part.iter().copied().map(Label::Letter).collect::<Vec<_>>();
            let middle = if term.ellipsis { hidden } else { Vec::new() };
            [letters(&term.before), middle, letters(&term.after)].concat()
        }
        None => {
            let mut once: Vec<Label> = all()
                .filter(|l| matches!(l, Label::Letter(_)) && all().filter(|other| other == l).count() == 1)
                .collect();
            once.sort_unstable();
            [hidden, once].concat()
        }
    }
}

/// Appends the nodes.
struct Writer<'s, 'a, 'm> {
    site: &'s mut Site<'a, 'm>,
    count: usize,
}

impl Writer<'_, '_, '_> {
    fn step(&mut self, op: Op, inputs: Vec<ValueId>, dims: Vec<usize>) -> Result<ValueId, Fault> {
        self.count += 1;
        self.site.emit_before(&format!("einsum{}", self.count), op, inputs, dims)
    }

    /// The operand with its dimensions in the order of `labels`, all of which it has.
    fn arrange(&mut self, operand: Operand, labels: &[Label]) -> Result<Operand, Fault> {
        if operand.labels == labels {
            return Ok(operand);
        }
        let place = |label: &Label| operand.labels.iter().position(|l| l == label);
        let perm: Vec<usize> = labels.iter().filter_map(place).collect();
        if perm.len() != operand.labels.len() {
            return Err("its output names a label twice".into());
        }
        let dims: Vec<usize> = perm.iter().map(|p| operand.dims[*p]).collect();
        let value = self.step(Op::Transpose { perm }, vec![operand.value], dims.clone())?;
        Ok(Operand { value, labels: labels.to_vec(), dims })
    }

    /// Of a label that stands twice, the elements at which both dimensions agree.
    fn diagonal(&mut self, mut operand: Operand) -> Result<Operand, Fault> {
        loop {
            let twice = (0..operand.labels.len()).find_map(|i| {
                let later = operand.labels[i + 1..].iter().position(|l| *l == operand.labels[i])?;
                Some((i, i + 1 + later))
            });
            let Some((i, j)) = twice else { return Ok(operand) };
            let size = operand.dims[i];
            if size != operand.dims[j] {
                return Err(format!("one label is {size} and {} long", operand.dims[j]).into());
            }
            let others: Vec<usize> = (0..operand.labels.len()).filter(|d| *d != i && *d != j).collect();
            let label = operand.labels[i];
            let perm = [&others[..], &[i, j]].concat();
            let dims: Vec<usize> = perm.iter().map(|d| operand.dims[*d]).collect();
            let turned = self.step(Op::Transpose { perm }, vec![operand.value], dims)?;
            let mut dims: Vec<usize> = others.iter().map(|d| operand.dims[*d]).collect();
            let mut labels: Vec<Label> = others.iter().map(|d| operand.labels[*d]).collect();
            dims.push(size * size);
            let flat = self.step(Op::Copy, vec![turned], dims.clone())?;
            let mut steps = vec![1; dims.len()];
            steps[dims.len() - 1] = size as i64 + 1;
            dims[labels.len()] = size;
            let op = Op::Slice { starts: vec![0; dims.len()], steps };
            labels.push(label);
            operand = Operand { value: self.step(op, vec![flat], dims.clone())?, labels, dims };
        }
    }

    /// Sums over every label that is not needed: a product with ones.
    fn sum_out(&mut self, operand: Operand, needed: impl Fn(&Label) -> bool) -> Result<Operand, Fault> {
        let (kept, summed): (Vec<Label>, Vec<Label>) = operand.labels.iter().copied().partition(needed);
        if summed.is_empty() {
            return Ok(operand);
        }
        let operand = self.arrange(operand, &[&kept[..], &summed[..]].concat())?;
        let (outer, inner) = operand.dims.split_at(kept.len());
        let (rows, len): (usize, usize) = (outer.iter().product(), inner.iter().product());
        let matrix = self.step(Op::Copy, vec![operand.value], vec![rows, len])?;
        self.count += 1;
        let ones = self.site.constant(&format!("ones{}", self.count), vec![len, 1], vec![1.0; len]);
        let sums = self.step(Op::MatMul { activation: None }, vec![matrix, ones], vec![rows, 1])?;
        let value = self.step(Op::Copy, vec![sums], outer.to_vec())?;
        Ok(Operand { value, labels: kept, dims: outer.to_vec() })
    }

    /// Both operands multiplied, summed over what they share and nobody needs.
    fn product(&mut self, a: Operand, b: Operand, needed: impl Fn(&Label) -> bool) -> Result<Operand, Fault> {
        let a = self.sum_out(a, |l| needed(l) || b.labels.contains(l))?;
        let b = self.sum_out(b, |l| needed(l) || a.labels.contains(l))?;
        let (a, b) = self.agree(a, b)?;
        let shared = |wanted: bool| -> Vec<Label> {
            a.labels.iter().copied().filter(|l| b.labels.contains(l) && needed(l) == wanted).collect()
        };
        let (batch, contracted) = (shared(true), shared(false));
        let own = |x: &Operand, other: &Operand| -> Vec<Label> {
            x.labels.iter().copied().filter(|l| !other.labels.contains(l)).collect()
        };
        let (a_own, b_own) = (own(&a, &b), own(&b, &a));
        let a = self.arrange(a, &[&batch[..], &a_own, &contracted].concat())?;
        let b = self.arrange(b, &[&batch[..], &contracted, &b_own].concat())?;
        let (n, m) = (batch.len(), batch.len() + a_own.len());
        let size = |dims: &[usize]| dims.iter().product::<usize>();
        let (batches, rows, depth) = (size(&a.dims[..n]), size(&a.dims[n..m]), size(&a.dims[m..]));
        let columns = size(&b.dims[n + contracted.len()..]);
        let left = self.step(Op::Copy, vec![a.value], vec![batches, rows, depth])?;
        let right = self.step(Op::Copy, vec![b.value], vec![batches, depth, columns])?;
        let product =
            self.step(Op::MatMul { activation: None }, vec![left, right], vec![batches, rows, columns])?;
        let dims = [&a.dims[..m], &b.dims[n + contracted.len()..]].concat();
        let value = self.step(Op::Copy, vec![product], dims.clone())?;
        Ok(Operand { value, labels: [batch, a_own, b_own].concat(), dims })
    }

    /// Brings shared labels to one length: 1 is repeated.
    fn agree(&mut self, a: Operand, b: Operand) -> Result<(Operand, Operand), Fault> {
        let mut both = [a, b];
        for i in [0, 1] {
            let mut dims = both[i].dims.clone();
            for (label, dim) in both[i].labels.iter().zip(&mut dims) {
                let other = both[1 - i].labels.iter().position(|l| l == label);
                let other = other.map_or(*dim, |at| both[1 - i].dims[at]);
                *dim = shapes::broadcast(&[*dim], &[other])?[0];
            }
            if dims != both[i].dims {
                both[i].value = self.step(Op::Expand, vec![both[i].value], dims.clone())?;
                both[i].dims = dims;
            }
        }
        let [a, b] = both;
        Ok((a, b))
    }
}
