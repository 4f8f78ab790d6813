//! What LSTM, GRU and RNN share: the products of all steps' inputs are one node, the steps are unrolled, so
//! that the planner sees every state.

use super::compose;
use crate::graph::{Gate, Op, ValueId};
use crate::model::onnx::site::{Fault, Site};

/// Rows of the batch that run together, as many steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    first: usize,
    pub rows: usize,
    steps: usize,
}

/// The attributes and inputs that all three operators have.
pub(super) struct Sequence {
    steps: usize,
    batch: usize,
    pub hidden: usize,
    /// Whether each direction runs from the end.
    pub reversed: Vec<bool>,
    batch_first: bool,
    pub groups: Vec<Group>,
    /// What gates are clipped to; 0 for nothing.
    pub clip: f32,
    /// Activations of each direction.
    pub gates: Vec<Vec<Gate>>,
    /// `[steps * batch, inputs]`.
    pub x: ValueId,
}

/// What one direction makes of one group.
pub(super) struct Lane {
    /// The output of every step that was run, by its place in the sequence.
    pub outputs: Vec<ValueId>,
    /// The states after the last step: output, and cell state where there is one.
    pub states: Vec<ValueId>,
}

impl Sequence {
    /// Reads a node whose weights hold `gate_count` gates and whose activations default to `defaults`.
    pub(super) fn read(site: &mut Site, gate_count: usize, defaults: &[Gate]) -> Result<Sequence, Fault> {
        let attributes = site.attributes();
        let batch_first = attributes.flag("layout", false)?;
        let [w, r] = [site.shape(1)?, site.shape(2)?];
        let reversed = match attributes.string("direction")?.unwrap_or("forward") {
            "forward" => vec![false],
            "reverse" => vec![true],
            "bidirectional" => vec![false, true],
            other => return Err(format!("direction is '{other}'").into()),
        };
        let shape = site.shape(0)?;
        let (&[a, b, inputs], &[_, _, hidden]) = (&shape[..], &r[..]) else {
            return Err(format!("inputs {shape:?} and {r:?} have not three dimensions each").into());
        };
        let (steps, batch) = if batch_first { (b, a) } else { (a, b) };
        let rows = gate_count.checked_mul(hidden).ok_or("too many gates")?;
        if w != [reversed.len(), rows, inputs] || r != [reversed.len(), rows, hidden] {
            let directions = reversed.len();
            return Err(format!(
                "weights {w:?} and {r:?} for {directions} directions of {gate_count} gates, {inputs} inputs"
            )
            .into());
        }
        if attributes.int("hidden_size")?.is_some_and(|stated| stated != hidden as i64) {
            return Err(format!("hidden_size does not match weights {r:?}").into());
        }
        let gates = gates(site, reversed.len(), defaults)?;
        let clip = attributes.float("clip")?.unwrap_or(0.0);
        let groups = groups(site, steps, batch)?;
        let mut x = site.value(0)?;
        if batch_first {
            let op = Op::Transpose { perm: vec![1, 0, 2] };
            x = site.emit_before("steps", op, vec![x], vec![steps, batch, inputs])?;
        }
        let x = compose::view(site, "rows", x, vec![steps * batch, inputs])?;
        Ok(Sequence { steps, batch, hidden, reversed, batch_first, groups, clip, gates, x })
    }

    /// The steps of a group, in the order of a direction.
    pub(super) fn order(&self, direction: usize, group: Group) -> Vec<usize> {
        let mut order: Vec<usize> = (0..group.steps).collect();
        if self.reversed[direction] {
            order.reverse();
        }
        order
    }

    /// What rows `[steps * batch, n]` hold for one step of a group.
    pub(super) fn step(
        &self,
        site: &mut Site,
        rows: ValueId,
        t: usize,
        group: Group,
    ) -> Result<ValueId, Fault> {
        let width = compose::dims(site, rows)[1];
        let op = Op::Slice { starts: vec![(t * self.batch + group.first) as i64, 0], steps: vec![1, 1] };
        site.emit_before("step", op, vec![rows], vec![group.rows, width])
    }

    /// A group's part of an initial state, where the input is given.
    pub(super) fn initial(
        &self,
        site: &mut Site,
        input: usize,
        direction: usize,
        group: Group,
    ) -> Result<Option<ValueId>, Fault> {
        let Some(tensor) = site.optional(input) else { return Ok(None) };
        let directions = self.reversed.len();
        let (due, starts, part) = match self.batch_first {
            true => ([self.batch, directions, self.hidden], [group.first, direction, 0], [group.rows, 1]),
            false => ([directions, self.batch, self.hidden], [direction, group.first, 0], [1, group.rows]),
        };
        if tensor.shape != due {
            return Err(format!("input {input} has shape {:?}, {due:?} is due", tensor.shape).into());
        }
        let state = site.value(input)?;
        let op = Op::Slice { starts: starts.map(|s| s as i64).to_vec(), steps: vec![1; 3] };
        let part = site.emit_before("initial", op, vec![state], vec![part[0], part[1], self.hidden])?;
        compose::view(site, "state", part, vec![group.rows, self.hidden]).map(Some)
    }

    /// A state of zeros.
    pub(super) fn zeros(&self, site: &mut Site, rows: usize) -> ValueId {
        site.constant("zeros", vec![rows, self.hidden], vec![0.0; rows * self.hidden])
    }

    /// The outputs: all steps, then each state. `lanes` go by direction, then by group.
    pub(super) fn finish(&self, site: &mut Site, lanes: &[Vec<Lane>]) -> Result<(), Fault> {
        let directions = self.reversed.len();
        if site.output_used(0) {
            let mut pieces = Vec::new();
            for t in 0..self.steps {
                for lane in lanes {
                    for (lane, group) in lane.iter().zip(&self.groups) {
                        let piece = lane.outputs.get(t).copied();
                        pieces.push(piece.unwrap_or_else(|| self.zeros(site, group.rows)));
                    }
                }
            }
            let shape = vec![self.steps, directions, self.batch, self.hidden];
            self.join(site, 0, pieces, shape, &[2, 0, 1, 3])?;
        }
        for state in 0..2 {
            if site.output_used(state + 1) {
                let all = lanes.iter().flatten().map(|lane| lane.states.get(state).copied());
                let pieces = all.collect::<Option<Vec<_>>>();
                let pieces = pieces.ok_or_else(|| format!("it has no output {}", state + 1))?;
                let shape = vec![directions, self.batch, self.hidden];
                self.join(site, state + 1, pieces, shape, &[1, 0, 2])?;
            }
        }
        Ok(())
    }

    /// Writes an output of that shape from pieces `[_, hidden]`; with the batch first, dimensions change
    /// places.
    fn join(
        &self,
        site: &mut Site,
        output: usize,
        pieces: Vec<ValueId>,
        shape: Vec<usize>,
        batch_first: &[usize],
    ) -> Result<(), Fault> {
        let rows = shape[..shape.len() - 1].iter().product();
        let dtype = site.dtype_of(self.x);
        if rows == 0 {
            let nothing = site.constant("nothing", vec![0, self.hidden], vec![]);
            return site.emit_output_as(output, Op::Copy, vec![nothing], shape, dtype);
        }
        let all = match pieces[..] {
            [piece] => piece,
            _ => site.emit_before("all", Op::Concat { axis: 0 }, pieces, vec![rows, self.hidden])?,
        };
        if !self.batch_first {
            return site.emit_output_as(output, Op::Copy, vec![all], shape, dtype);
        }
        let all = compose::view(site, "by_steps", all, shape.clone())?;
        let out = batch_first.iter().map(|d| shape[*d]).collect();
        let op = Op::Transpose { perm: batch_first.to_vec() };
        site.emit_output_as(output, op, vec![all], out, dtype)
    }
}

/// Rows `from .. from + count` of a direction of an input `[directions, rows, ..]`.
pub(super) fn part(
    site: &mut Site,
    input: usize,
    direction: usize,
    from: usize,
    count: usize,
) -> Result<ValueId, Fault> {
    let mut shape = site.shape(input)?;
    let fits = shape.len() >= 2 && direction < shape[0] && from + count <= shape[1];
    if !fits {
        return Err(format!("input {input} has shape {shape:?}, {} rows are due", from + count).into());
    }
    let value = site.value(input)?;
    let mut starts = vec![0; shape.len()];
    (starts[0], starts[1]) = (direction as i64, from as i64);
    (shape[0], shape[1]) = (1, count);
    let op = Op::Slice { starts, steps: vec![1; shape.len()] };
    let part = site.emit_before("part", op, vec![value], shape.clone())?;
    compose::view(site, "matrix", part, shape[1..].to_vec())
}

/// Part of the biases of the input (the first half of input 3) or of the state (the second).
pub(super) fn bias(
    site: &mut Site,
    direction: usize,
    from: usize,
    count: usize,
) -> Result<Option<ValueId>, Fault> {
    match site.optional(3).is_some() {
        true => part(site, 3, direction, from, count).map(Some),
        false => Ok(None),
    }
}

/// `a [m, k]` times `b [n, k]`, plus what broadcasts to `[m, n]`.
pub(super) fn product(
    site: &mut Site,
    what: &str,
    a: ValueId,
    b: ValueId,
    c: Option<ValueId>,
) -> Result<ValueId, Fault> {
    let (m, n) = (compose::dims(site, a)[0], compose::dims(site, b)[0]);
    let op = Op::Gemm { alpha: 1.0, beta: 1.0, trans_a: false, trans_b: true, activation: None };
    site.emit_before(what, op, [a, b].into_iter().chain(c).collect(), vec![m, n])
}

/// All rows together where they run as many steps; else each alone.
fn groups(site: &Site, steps: usize, batch: usize) -> Result<Vec<Group>, Fault> {
    let Some(lengths) = site.optional_ints(4)? else {
        return Ok(vec![Group { first: 0, rows: batch, steps }]);
    };
    let lengths: Vec<usize> = lengths.iter().map(|l| usize::try_from(*l).unwrap_or(usize::MAX)).collect();
    if lengths.len() != batch || lengths.iter().any(|l| *l > steps) {
        return Err(format!("sequence_lens {lengths:?} for {batch} sequences of {steps} steps").into());
    }
    match lengths.iter().all(|l| *l == lengths[0]) {
        true => Ok(vec![Group { first: 0, rows: batch, steps: lengths.first().copied().unwrap_or(steps) }]),
        false => {
            let alone = |(first, steps): (usize, &usize)| Group { first, rows: 1, steps: *steps };
            Ok(lengths.iter().enumerate().map(alone).collect())
        }
    }
}

/// The activations of each direction; alpha and beta are dealt in order to those that take them.
fn gates(site: &Site, directions: usize, defaults: &[Gate]) -> Result<Vec<Vec<Gate>>, Fault> {
    let attributes = site.attributes();
    let Some(names) = attributes.get("activations").map(|a| &a.strings).filter(|names| !names.is_empty())
    else {
        return Ok(vec![defaults.to_vec(); directions]);
    };
    if names.len() != directions * defaults.len() {
        return Err(format!("{} activations, {} are due", names.len(), directions * defaults.len()).into());
    }
    let mut alphas = attributes.floats("activation_alpha")?.unwrap_or_default().iter().copied();
    let mut betas = attributes.floats("activation_beta")?.unwrap_or_default().iter().copied();
    let mut gate = |name: &String| -> Result<Gate, Fault> {
        let mut alpha = |default: f32| alphas.next().unwrap_or(default);
        let mut beta = |default: f32| betas.next().unwrap_or(default);
        Ok(match name.to_ascii_lowercase().as_str() {
            "sigmoid" => Gate::Sigmoid,
            "tanh" => Gate::Tanh,
            "relu" => Gate::Relu,
            "affine" => Gate::Affine { alpha: alpha(1.0), beta: beta(0.0) },
            "leakyrelu" => Gate::LeakyRelu { alpha: alpha(0.01) },
            "thresholdedrelu" => Gate::ThresholdedRelu { alpha: alpha(1.0) },
            "scaledtanh" => Gate::ScaledTanh { alpha: alpha(1.0), beta: beta(1.0) },
            "hardsigmoid" => Gate::HardSigmoid { alpha: alpha(0.2), beta: beta(0.5) },
            "elu" => Gate::Elu { alpha: alpha(1.0) },
            "softsign" => Gate::Softsign,
            "softplus" => Gate::Softplus,
            other => return Err(format!("activation '{other}'").into()),
        })
    };
    let all = names.iter().map(&mut gate).collect::<Result<Vec<_>, _>>()?;
    Ok(all.chunks(defaults.len()).map(<[Gate]>::to_vec).collect())
}
