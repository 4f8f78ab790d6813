//! Brings a tensor into the order and shape that a node reads: nothing where it is so already, a view where
//! only the shape differs, a transposition where elements move. Constants are put in order at import.

use std::sync::Arc;

use super::importer::{Data, Importer, Placed, Tensor};
use super::layout::Layout;
use super::tensor;
use crate::graph::{Constant, DType, Node, Op, Value, ValueId};
use crate::kernel;
use crate::model::fault::Fault;
use crate::model::names::unique;
use crate::model::size::{MAX_CONSTANT_LEN, MAX_LEN, checked_len};
use crate::model::{npy, shape as shapes};

/// Words of a constant and the order they are in.
type Ordered = (Arc<Vec<f32>>, Layout);

impl Importer<'_> {
    /// The words of a constant, with the order they are in. None at run time.
    pub(super) fn words(&mut self, index: usize) -> Result<Option<Ordered>, Fault> {
        let info = &self.file.tensors[index];
        let Tensor { dtype, shape, data } = &mut self.known[index];
        let words = |data: &[i64], dtype: DType| -> Result<Vec<f32>, String> {
            let range = dtype.int_range().ok_or("it holds integers of a floating-point type")?;
            data.iter().map(|x| npy::checked_word(*x, dtype, range)).collect()
        };
        let fresh = match data {
            Data::Words(data, layout, _) => return Ok(Some((data.clone(), layout.clone()))),
            Data::Run(_) => return Ok(None),
            Data::Missing => return Err(format!("'{}' has no value yet", self.names[index]).into()),
            Data::Ints(data) => words(data, *dtype)?,
            Data::Stored if tensor::is_integer(info) => words(&tensor::ints(info)?, *dtype)?,
            Data::Stored => {
                *dtype = DType::F32;
                tensor::floats(info)?
            }
        };
        let (fresh, layout) = (Arc::new(fresh), Layout::plain(shape));
        *data = Data::Words(fresh.clone(), layout.clone(), Vec::new());
        Ok(Some((fresh, layout)))
    }

    /// A value of the graph of the shape `shape` that holds a tensor in the order of `want`.
    pub(super) fn place(&mut self, index: usize, want: &Layout, shape: &[usize]) -> Result<ValueId, Fault> {
        if let Some((data, layout)) = self.words(index)? {
            return self.constant(index, data, &layout, want, shape);
        }
        let Data::Run(places) = &self.known[index].data else {
            return Err(format!("'{}' has no value yet", self.names[index]).into());
        };
        let same_order = |p: &&Placed| p.layout.aligned(want).is_some_and(|(a, b)| a == b);
        let mut as_wanted: Vec<ValueId> = places.iter().filter(same_order).map(|p| p.value).collect();
        let ready = as_wanted.iter().find(|v| self.graph.get(**v).shape == shape);
        if let Some(ready) = ready {
            return Ok(*ready);
        }
        let value = match as_wanted.pop() {
            Some(value) => self.viewed(index, value, shape)?,
            None => {
                let from = places[0].clone();
                self.turned(index, &from, want, shape)?
            }
        };
        if let Data::Run(places) = &mut self.known[index].data {
            places.push(Placed { value, layout: want.clone() });
        }
        Ok(value)
    }

    fn constant(
        &mut self,
        index: usize,
        data: Arc<Vec<f32>>,
        layout: &Layout,
        want: &Layout,
        shape: &[usize],
    ) -> Result<ValueId, Fault> {
        let (from, to) = layout.aligned(want).ok_or("a constant cannot be brought in order")?;
        // Tensors of a file may share their bytes.
        let info = &self.file.tensors[index];
        let bytes = info.data.filter(|b| b.len() == data.len() * 4 && layout.is_plain());
        let key = bytes.map(|b| (b.as_ptr() as usize, to.clone(), shape.to_vec()));
        if let Some(id) = key.as_ref().and_then(|key| self.shared.get(key)) {
            return Ok(*id);
        }
        if let Data::Words(_, _, places) = &self.known[index].data {
            let ready = |p: &&Placed| p.layout == to && self.graph.get(p.value).shape == shape;
            if let Some(ready) = places.iter().find(ready) {
                return Ok(ready.value);
            }
        }
        let data = match from == to {
            true => data,
            false => Arc::new(transpose(&data, &from.stored(), &to.perm_from(&from))),
        };
        let own = &self.names[index];
        let name = match self.constants.insert(index) {
            true => own.clone(),
            false => unique(&mut self.value_names, format!("{own}/constant")),
        };
        let dtype = self.known[index].dtype;
        let id =
            self.graph.value(Value { constant: Some(Constant::new(data)), ..Value::new(name, dtype, shape) });
        if let Data::Words(_, _, places) = &mut self.known[index].data {
            places.push(Placed { value: id, layout: to });
        }
        if let Some(key) = key {
            self.shared.insert(key, id);
        }
        Ok(id)
    }

    /// Appends a node, or computes it where it reads constants alone, and returns what it writes.
    pub(super) fn append(
        &mut self,
        node: String,
        op: Op,
        inputs: Vec<ValueId>,
        output: Value,
    ) -> Result<ValueId, Fault> {
        checked_len(&output.shape, MAX_LEN)?;
        let values: Vec<&Value> = inputs.iter().map(|id| self.graph.get(*id)).collect();
        op.check_types(&values, &output)?;
        let foldable = values.iter().all(|value| value.constant.is_some());
        let len = output.len();
        let id = self.graph.value(output);
        let node = Node { name: node, op, inputs, outputs: vec![id] };
        if foldable && len <= MAX_CONSTANT_LEN {
            let folded = kernel::fold(&self.graph, &node).map_err(|e| e.to_string())?;
            self.graph.values[id.index()].constant = folded;
        }
        if self.graph.get(id).constant.is_none() {
            self.graph.nodes.push(node);
        }
        Ok(id)
    }

    /// As [`Importer::append`], for a value that has no name in the file.
    pub(super) fn helper(
        &mut self,
        name: String,
        op: Op,
        inputs: Vec<ValueId>,
        shape: &[usize],
    ) -> Result<ValueId, Fault> {
        let dtype = inputs.first().map_or(DType::F32, |id| self.graph.get(*id).dtype);
        self.helper_as(name, op, inputs, shape, dtype)
    }

    /// As [`Importer::helper`], of another element type than the first input.
    pub(super) fn helper_as(
        &mut self,
        name: String,
        op: Op,
        inputs: Vec<ValueId>,
        shape: &[usize],
        dtype: DType,
    ) -> Result<ValueId, Fault> {
        let value = unique(&mut self.value_names, name.clone());
        let node = unique(&mut self.node_names, name);
        self.append(node, op, inputs, Value::new(value, dtype, shape))
    }

    /// The same elements in the same order under another shape.
    fn viewed(&mut self, index: usize, value: ValueId, shape: &[usize]) -> Result<ValueId, Fault> {
        if self.graph.get(value).shape == shape {
            return Ok(value);
        }
        self.helper(format!("{}/view", self.names[index]), Op::Copy, vec![value], shape)
    }

    /// A tensor held by a value, in another order and shape.
    pub(super) fn arranged(
        &mut self,
        index: usize,
        from: &Placed,
        want: &Layout,
        shape: &[usize],
    ) -> Result<ValueId, Fault> {
        match from.layout.aligned(want).is_some_and(|(a, b)| a == b) {
            true => self.viewed(index, from.value, shape),
            false => self.turned(index, from, want, shape),
        }
    }

    fn turned(
        &mut self,
        index: usize,
        from: &Placed,
        want: &Layout,
        shape: &[usize],
    ) -> Result<ValueId, Fault> {
        let (a, b) = from.layout.aligned(want).ok_or("its elements cannot be brought in order")?;
        let held = self.graph.get(from.value).shape.clone();
        let (source, perm) = match whole_dims(&held, &a.stored(), &b.perm_from(&a), shape) {
            Some(perm) => (held, perm),
            None => merged(&a.stored(), &b.perm_from(&a)),
        };
        let value = self.viewed(index, from.value, &source)?;
        let turned: Vec<usize> = perm.iter().map(|d| source[*d]).collect();
        let name = format!("{}/transpose", self.names[index]);
        let value = self.helper(name, Op::Transpose { perm }, vec![value], &turned)?;
        self.viewed(index, value, shape)
    }
}

/// The permutation of the factors `stored` as one of the dimensions `held`, where those are the factors with
/// some dimensions of 1 between. These go where `shape` has its own, else to the front.
fn whole_dims(held: &[usize], stored: &[usize], perm: &[usize], shape: &[usize]) -> Option<Vec<usize>> {
    let (units, dims): (Vec<usize>, Vec<usize>) = (0..held.len()).partition(|d| held[*d] == 1);
    if !dims.iter().map(|d| held[*d]).eq(stored.iter().copied()) {
        return None;
    }
    let mut turned = perm.iter().map(|p| dims[*p]);
    let wanted: Vec<usize> = turned.clone().map(|d| held[d]).collect();
    if shape.len() == held.len() && shape.iter().copied().filter(|d| *d != 1).eq(wanted) {
        let mut units = units.into_iter();
        return shape.iter().map(|d| if *d == 1 { units.next() } else { turned.next() }).collect();
    }
    Some(units.iter().copied().chain(turned).collect())
}

/// The permutation over as few dimensions as possible: neighbours that stay neighbours are one.
fn merged(stored: &[usize], perm: &[usize]) -> (Vec<usize>, Vec<usize>) {
    // Runs of the target order, each by the first factor it starts with in the source.
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for place in perm {
        match runs.last_mut() {
            Some((start, len)) if *start + *len == *place => *len += 1,
            _ => runs.push((*place, 1)),
        }
    }
    let mut starts: Vec<(usize, usize)> = runs.clone();
    starts.sort_unstable();
    let dims = starts.iter().map(|(start, len)| stored[*start..start + len].iter().product()).collect();
    let perm = runs.iter().filter_map(|run| starts.iter().position(|s| s == run)).collect();
    (dims, perm)
}

/// Constant elements of the shape `stored` with their dimensions permuted.
fn transpose(data: &[f32], stored: &[usize], perm: &[usize]) -> Vec<f32> {
    let (dims, perm) = merged(stored, perm);
    let strides = shapes::strides(&dims);
    let (shape, steps): (Vec<usize>, Vec<usize>) = perm.iter().map(|d| (dims[*d], strides[*d])).unzip();
    let mut index = vec![0; shape.len()];
    let mut at = 0;
    let mut out = Vec::with_capacity(data.len());
    for _ in 0..data.len() {
        out.push(data[at]);
        for d in (0..shape.len()).rev() {
            index[d] += 1;
            at += steps[d];
            if index[d] < shape[d] {
                break;
            }
            at -= steps[d] * shape[d];
            index[d] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_that_stay_together_move_as_one() {
        assert_eq!(merged(&[24, 16, 16], &[1, 2, 0]), (vec![24, 256], vec![1, 0]));
        assert_eq!(merged(&[2, 3, 4, 5], &[0, 1, 3, 2]), (vec![6, 4, 5], vec![0, 2, 1]));
        assert_eq!(merged(&[7], &[0]), (vec![7], vec![0]));
    }

    #[test]
    fn dimensions_of_one_go_where_they_are_wanted() {
        let perm = whole_dims(&[1, 24, 16, 8], &[24, 16, 8], &[1, 2, 0], &[1, 16, 8, 24]).unwrap();
        assert_eq!(perm, [0, 2, 3, 1]);
        let perm = whole_dims(&[1, 24, 16, 8], &[24, 16, 8], &[1, 2, 0], &[128, 24]).unwrap();
        assert_eq!(perm, [0, 2, 3, 1]);
        assert_eq!(whole_dims(&[24, 128], &[24, 16, 8], &[1, 2, 0], &[1, 16, 8, 24]), None);
    }

    #[test]
    fn constants_are_transposed() {
        let data: Vec<f32> = (0..6).map(|x| x as f32).collect();
        assert_eq!(transpose(&data, &[2, 3], &[1, 0]), [0., 3., 1., 4., 2., 5.]);
        assert_eq!(transpose(&data, &[1, 6], &[1, 0]), data);
    }
}
