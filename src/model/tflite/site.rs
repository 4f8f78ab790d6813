//! One operator being imported: its inputs, attributes and outputs, as the handlers see them.

use std::sync::Arc;

use super::file::Operator;
use super::flat::Scalar;
use super::importer::{Data, Importer, Placed, Tensor};
use super::layout::Layout;
use super::tensor;
use crate::graph::{DType, Op, UnaryOp, Value, ValueId, word_int};
use crate::model::fault::Fault;
use crate::model::names::unique;
use crate::model::size::{MAX_LEN, checked_len};

/// Batch, channels, rows, columns: how kernels store a TFLite image.
pub(super) const NCHW: [usize; 4] = [0, 3, 1, 2];

/// One operator being imported.
pub(super) struct Site<'a, 'm> {
    pub importer: &'a mut Importer<'m>,
    pub operator: &'m Operator<'m>,
    pub name: String,
}

/// A tensor whose dimensions each lie in one piece, as a value of the graph.
pub(super) struct View {
    pub value: ValueId,
    /// Dimension i of the value is dimension `perm[i]` of the tensor.
    pub perm: Vec<usize>,
}

/// What a node writes.
#[derive(Debug, Clone)]
pub(super) struct Out {
    /// Shape of the tensor.
    pub shape: Vec<usize>,
    pub layout: Layout,
    /// Shape of the value in the graph.
    pub dims: Vec<usize>,
    /// Element type; none where it is that of the first input.
    pub dtype: Option<DType>,
}

impl Out {
    /// A tensor stored with its dimensions in the order of `perm`.
    pub(super) fn permuted(shape: Vec<usize>, perm: &[usize]) -> Self {
        let dims = perm.iter().map(|axis| shape[*axis]).collect();
        Out { layout: Layout::permuted(&shape, perm), shape, dims, dtype: None }
    }

    /// A tensor stored as TFLite stores it.
    pub(super) fn plain(shape: Vec<usize>) -> Self {
        Out { layout: Layout::plain(&shape), dims: shape.clone(), shape, dtype: None }
    }
}

impl View {
    /// The dimension of the value that is dimension `axis` of the tensor.
    pub(super) fn place(&self, axis: usize) -> usize {
        self.perm.iter().position(|p| *p == axis).unwrap_or(0)
    }

    /// A list over the tensor's dimensions as one over the value's.
    pub(super) fn arrange<T: Copy>(&self, list: &[T]) -> Vec<T> {
        self.perm.iter().map(|axis| list[*axis]).collect()
    }
}

impl<'m> Site<'_, 'm> {
    /// Refuses tensors without an element, which no layout describes.
    pub(super) fn check(&self) -> Result<(), Fault> {
        for index in self.operator.inputs.iter().flatten() {
            let Tensor { shape, data, .. } = &self.importer.known[*index];
            if shape.contains(&0) && !matches!(data, Data::Ints(_) | Data::Stored) {
                let name = &self.importer.names[*index];
                return Err(
                    format!("'{name}' {shape:?} has no element; such tensors are not supported").into()
                );
            }
        }
        Ok(())
    }

    pub(super) fn op(&self) -> &'m str {
        &self.operator.op
    }

    /// A number among the operator's attributes.
    pub(super) fn option<T: Scalar>(&self, field: usize, default: T) -> Result<T, Fault> {
        Ok(self.operator.options.map_or(Ok(default), |o| o.scalar(field, default))?)
    }

    pub(super) fn flag(&self, field: usize) -> Result<bool, Fault> {
        Ok(self.option::<u8>(field, 0)? != 0)
    }

    /// A list of integers among the operator's attributes.
    pub(super) fn list(&self, field: usize) -> Result<Vec<i64>, Fault> {
        let list = self.operator.options.map_or(Ok(Vec::new()), |o| o.scalars::<i32>(field))?;
        Ok(list.into_iter().map(i64::from).collect())
    }

    pub(super) fn input_count(&self) -> usize {
        self.operator.inputs.len()
    }

    pub(super) fn output_count(&self) -> usize {
        self.operator.outputs.len()
    }

    /// Index of an input among the file's tensors, where it is given.
    pub(super) fn optional(&self, input: usize) -> Option<usize> {
        self.operator.inputs.get(input).copied().flatten()
    }

    pub(super) fn index(&self, input: usize) -> Result<usize, Fault> {
        self.optional(input).ok_or_else(|| format!("input {input} is missing").into())
    }

    pub(super) fn tensor(&self, input: usize) -> Result<&Tensor, Fault> {
        let index = self.index(input)?;
        match &self.importer.known[index] {
            Tensor { data: Data::Missing, .. } => {
                let name = &self.importer.names[index];
                let variable = self.importer.file.tensors[index].is_variable;
                let why = if variable {
                    "which keeps its value between runs; such variables are not supported"
                } else {
                    "which nothing has written"
                };
                Err(format!("reads '{name}', {why}").into())
            }
            tensor => Ok(tensor),
        }
    }

    pub(super) fn shape(&self, input: usize) -> Result<Vec<usize>, Fault> {
        Ok(self.tensor(input)?.shape.clone())
    }

    /// Whether an input is known at import.
    pub(super) fn is_constant(&self, input: usize) -> bool {
        self.tensor(input).is_ok_and(|t| !matches!(t.data, Data::Run(_)))
    }

    /// The integers of a constant input.
    pub(super) fn ints(&mut self, input: usize) -> Result<Arc<Vec<i64>>, Fault> {
        let index = self.index(input)?;
        let info = &self.importer.file.tensors[index];
        let Tensor { dtype, data, .. } = self.tensor(input)?;
        match data {
            Data::Ints(data) => Ok(data.clone()),
            Data::Stored if tensor::is_integer(info) => Ok(Arc::new(tensor::ints(info)?)),
            Data::Words(data, layout, _) if !dtype.is_float() && layout.is_plain() => {
                Ok(Arc::new(data.iter().map(|word| i64::from(word_int(*word))).collect()))
            }
            _ => {
                let name = &self.importer.names[index];
                Err(format!("input {input} '{name}' must be constant integers").into())
            }
        }
    }

    /// The one number of a constant float input, where it is one.
    pub(super) fn number(&mut self, input: usize) -> Result<Option<f32>, Fault> {
        let index = self.index(input)?;
        let words = self.importer.words(index)?.map(|(data, _)| data);
        let float = self.importer.known[index].dtype.is_float();
        Ok(words.filter(|data| float && data.len() == 1).map(|data| data[0]))
    }

    /// Whether output 0 is read by a convolution alone, as the image that it convolves.
    pub(super) fn feeds_convolution(&self) -> Result<bool, Fault> {
        let index = self.output(0)?;
        let Some(reader) = self.importer.reader[index] else { return Ok(false) };
        let reader = &self.importer.file.operators[reader];
        let convolves = !reader.is_custom && ["CONV_2D", "DEPTHWISE_CONV_2D"].contains(&&reader.op[..]);
        Ok(convolves && self.importer.readers[index] == 1 && reader.inputs.first() == Some(&Some(index)))
    }

    /// Leaves the padding of output 0 to the convolution that reads it.
    pub(super) fn leave_padding(&mut self, pads: [usize; 4]) -> Result<(), Fault> {
        let index = self.output(0)?;
        self.importer.pads.insert(index, pads);
        Ok(())
    }

    /// The padding that was left to this operator.
    pub(super) fn take_padding(&mut self) -> Result<[usize; 4], Fault> {
        let index = self.index(0)?;
        Ok(self.importer.pads.remove(&index).unwrap_or_default())
    }

    /// How an input is stored.
    pub(super) fn layout(&mut self, input: usize) -> Result<Layout, Fault> {
        let index = self.index(input)?;
        match &self.tensor(input)?.data {
            Data::Run(places) => Ok(places[0].layout.clone()),
            Data::Words(_, layout, _) => Ok(layout.clone()),
            _ => Ok(Layout::plain(&self.importer.known[index].shape)),
        }
    }

    /// An input in that order, of that shape in the graph.
    pub(super) fn place(&mut self, input: usize, want: &Layout, shape: &[usize]) -> Result<ValueId, Fault> {
        let index = self.index(input)?;
        self.tensor(input)?;
        self.importer.place(index, want, shape)
    }

    /// An input with its dimensions in the order of `perm`.
    pub(super) fn permuted(&mut self, input: usize, perm: &[usize]) -> Result<ValueId, Fault> {
        let shape = self.shape(input)?;
        let dims: Vec<usize> = perm.iter().map(|axis| shape[*axis]).collect();
        self.place(input, &Layout::permuted(&shape, perm), &dims)
    }

    /// An input as TFLite stores it, under another shape of as many elements.
    pub(super) fn plain(&mut self, input: usize, shape: &[usize]) -> Result<ValueId, Fault> {
        self.place(input, &Layout::plain(shape), shape)
    }

    /// An input as it is stored: the value that holds it, and what it holds.
    pub(super) fn stored(&mut self, input: usize) -> Result<(ValueId, Out), Fault> {
        let shape = self.shape(input)?;
        if let Data::Run(places) = &self.tensor(input)?.data {
            let Placed { value, layout } = places[0].clone();
            let dims = self.importer.graph.get(value).shape.clone();
            return Ok((value, Out { shape, layout, dims, dtype: None }));
        }
        let value = self.plain(input, &shape)?;
        Ok((value, Out::plain(shape)))
    }

    /// An input as it is stored, where each dimension lies in one piece; else as TFLite stores it.
    pub(super) fn view(&mut self, input: usize) -> Result<View, Fault> {
        let shape = self.shape(input)?;
        self.view_as(input, &shape)
    }

    /// As [`Site::view`], under another shape that differs in dimensions of 1 alone.
    pub(super) fn view_as(&mut self, input: usize, shape: &[usize]) -> Result<View, Fault> {
        let perm = self.perm(input, shape)?;
        let dims: Vec<usize> = perm.iter().map(|axis| shape[*axis]).collect();
        let value = self.place(input, &Layout::permuted(shape, &perm), &dims)?;
        Ok(View { value, perm })
    }

    /// The order in which the dimensions of an input are stored, or that of TFLite where one lies in pieces.
    fn perm(&mut self, input: usize, shape: &[usize]) -> Result<Vec<usize>, Fault> {
        let rank = shape.len();
        let Some(axes) = self.layout(input)?.axes(shape) else { return Ok((0..rank).collect()) };
        let held = match &self.tensor(input)?.data {
            Data::Run(places) => self.importer.graph.get(places[0].value).shape.clone(),
            _ => Vec::new(),
        };
        // Where dimensions of 1 stand is free: best where the value has them.
        let units = (0..rank).filter(|d| shape[*d] == 1);
        let mut perms = vec![(0..rank).collect::<Vec<_>>(), units.chain(axes.clone()).collect()];
        if rank == NCHW.len() {
            perms.insert(0, NCHW.to_vec());
        }
        perms.retain(|perm| perm.iter().filter(|axis| shape[**axis] != 1).eq(axes.iter()));
        let as_held = perms.iter().position(|perm| perm.iter().map(|axis| &shape[*axis]).eq(held.iter()));
        Ok(perms.swap_remove(as_held.unwrap_or(0)))
    }

    /// Index of an output among the file's tensors.
    fn output(&self, output: usize) -> Result<usize, Fault> {
        let index = self.operator.outputs.get(output).copied();
        let index = index.ok_or_else(|| format!("it has no output {output}"))?;
        match self.importer.known[index].data {
            Data::Missing => Ok(index),
            _ => Err(format!("writes '{}' again", self.importer.names[index]).into()),
        }
    }

    /// States what an output is.
    pub(super) fn set(
        &mut self,
        output: usize,
        dtype: DType,
        shape: Vec<usize>,
        data: Data,
    ) -> Result<(), Fault> {
        let index = self.output(output)?;
        if self.importer.readers[index] > 0 {
            self.importer.known[index] = Tensor { dtype, shape, data };
        }
        Ok(())
    }

    /// States that the output is constant integers, of the type that the file declares.
    pub(super) fn set_ints(&mut self, shape: Vec<usize>, data: Vec<i64>) -> Result<(), Fault> {
        let declared = tensor::dtype(self.output_type(0)?).ok().filter(|d| !d.is_float());
        self.set(0, declared.unwrap_or(DType::I32), shape, Data::Ints(Arc::new(data)))
    }

    /// States that the output is constant floats.
    pub(super) fn set_floats(&mut self, shape: Vec<usize>, data: Vec<f32>) -> Result<(), Fault> {
        let layout = Layout::plain(&shape);
        self.set(0, DType::F32, shape, Data::Words(Arc::new(data), layout, Vec::new()))
    }

    /// Whether an input is constant integers that stand for themselves.
    pub(super) fn is_ints(&self, input: usize) -> bool {
        let Some(index) = self.optional(input) else { return false };
        let Tensor { dtype, data, .. } = &self.importer.known[index];
        match data {
            Data::Ints(_) => true,
            Data::Stored => tensor::is_integer(&self.importer.file.tensors[index]),
            Data::Words(_, layout, _) => !dtype.is_float() && layout.is_plain(),
            _ => false,
        }
    }

    /// Whether all inputs are constant integers.
    pub(super) fn all_ints(&self) -> bool {
        (0..self.input_count()).all(|i| self.is_ints(i))
    }

    /// The output is an input, its elements where they are, under the layout that `change` gives.
    pub(super) fn relabel(
        &mut self,
        input: usize,
        shape: Vec<usize>,
        change: impl Fn(&Layout) -> Option<Layout>,
    ) -> Result<(), Fault> {
        let index = self.index(input)?;
        self.importer.words(index)?;
        let plain = Layout::plain(&self.shape(input)?);
        if change(&self.layout(input)?).is_none() {
            let dims = self.shape(input)?;
            let value = self.plain(input, &dims)?;
            let layout = change(&plain).ok_or("its elements cannot be put in order")?;
            let dtype = self.importer.graph.get(value).dtype;
            return self.set(0, dtype, shape, Data::Run(vec![Placed { value, layout }]));
        }
        let dtype = self.tensor(input)?.dtype;
        let data = match self.tensor(input)?.data.clone() {
            Data::Words(data, layout, _) => match change(&layout) {
                Some(layout) => Data::Words(data, layout, Vec::new()),
                None => return Err("its elements cannot be put in order".into()),
            },
            Data::Run(places) => {
                let again = |p: &Placed| Some(Placed { value: p.value, layout: change(&p.layout)? });
                Data::Run(places.iter().filter_map(again).collect())
            }
            other => other,
        };
        self.set(0, dtype, shape, data)
    }

    /// Number of the element type that the file declares for an output.
    pub(super) fn output_type(&self, output: usize) -> Result<i8, Fault> {
        Ok(self.importer.file.tensors[self.output(output)?].dtype)
    }

    /// Appends the node that writes output 0.
    pub(super) fn emit(&mut self, op: Op, inputs: Vec<ValueId>, out: Out) -> Result<(), Fault> {
        self.emit_output(0, op, inputs, out)
    }

    /// As [`Site::emit`], for any output.
    pub(super) fn emit_output(
        &mut self,
        output: usize,
        op: Op,
        inputs: Vec<ValueId>,
        out: Out,
    ) -> Result<(), Fault> {
        let Out { shape, layout, dims, dtype } = out;
        if checked_len(&shape, MAX_LEN)? == 0 {
            return Err(format!("its output {shape:?} has no element; such tensors are not supported").into());
        }
        let index = self.output(output)?;
        let name = self.importer.names[index].clone();
        let node = match output {
            0 => self.name.clone(),
            _ => unique(&mut self.importer.node_names, name.clone()),
        };
        let graph = &self.importer.graph;
        let dtype = dtype.or_else(|| inputs.first().map(|id| graph.get(*id).dtype)).unwrap_or(DType::F32);
        let value = self.importer.append(node, op, inputs, Value::new(name, dtype, dims))?;
        let place = Placed { value, layout: layout.clone() };
        let data = match &self.importer.graph.get(value).constant {
            Some(constant) => Data::Words(constant.shared(), layout, vec![place]),
            None => Data::Run(vec![place]),
        };
        self.set(output, dtype, shape, data)
    }

    /// As [`Site::emit`], with an activation behind it.
    pub(super) fn emit_activated(
        &mut self,
        op: Op,
        inputs: Vec<ValueId>,
        out: Out,
        activation: Option<UnaryOp>,
    ) -> Result<(), Fault> {
        let Some(activation) = activation else { return self.emit(op, inputs, out) };
        let linear = self.before("linear", op, inputs, &out.dims)?;
        self.emit(Op::Unary(activation), vec![linear], out)
    }

    /// Appends a node in front of the one that writes the output, and returns what it writes.
    pub(super) fn before(
        &mut self,
        what: &str,
        op: Op,
        inputs: Vec<ValueId>,
        dims: &[usize],
    ) -> Result<ValueId, Fault> {
        let name = format!("{}/{what}", self.name);
        self.importer.helper(name, op, inputs, dims)
    }

    /// As [`Site::before`], of another element type than the first input.
    pub(super) fn before_as(
        &mut self,
        what: &str,
        op: Op,
        inputs: Vec<ValueId>,
        dims: &[usize],
        dtype: DType,
    ) -> Result<ValueId, Fault> {
        let name = format!("{}/{what}", self.name);
        self.importer.helper_as(name, op, inputs, dims, dtype)
    }

    /// Puts a constant made by the importer into the graph.
    pub(super) fn constant(&mut self, what: &str, shape: Vec<usize>, data: Vec<f32>) -> ValueId {
        let name = unique(&mut self.importer.value_names, format!("{}/{what}", self.name));
        self.importer.graph.value(Value::f32_constant(name, shape, data))
    }

    /// The activation that is fused into the operator.
    pub(super) fn activation(&self, field: usize) -> Result<Option<UnaryOp>, Fault> {
        match self.option::<i8>(field, 0)? {
            0 => Ok(None),
            1 => Ok(Some(UnaryOp::Relu)),
            2 => Ok(Some(UnaryOp::Clip { min: -1.0, max: 1.0 })),
            3 => Ok(Some(UnaryOp::Clip { min: 0.0, max: 6.0 })),
            4 => Ok(Some(UnaryOp::Tanh)),
            other => Err(format!("its fused activation {other} is not supported").into()),
        }
    }
}
