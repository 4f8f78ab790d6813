//! A tiny writer of TFLite files through the official FlatBuffers builder, so that a test states its model
//! in a few lines. The library's reader shares no code with it.

use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, UnionWIPOffset, Vector, WIPOffset};

/// What a field of a table holds.
#[derive(Debug, Clone)]
pub enum Field {
    Byte(i8),
    Int(i32),
    Float(f32),
    Ints(Vec<i32>),
}

/// A model under construction: tensors by index, then operators in order.
#[derive(Debug, Clone, Default)]
pub struct Model {
    tensors: Vec<Tensor>,
    operators: Vec<Operator>,
    /// Tensors that the caller supplies and reads.
    pub inputs: Vec<i32>,
    pub outputs: Vec<i32>,
}

#[derive(Debug, Clone)]
struct Tensor {
    name: String,
    shape: Vec<i32>,
    signature: Vec<i32>,
    dtype: i8,
    scale: Vec<f32>,
    data: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Operator {
    code: i32,
    custom: Option<String>,
    inputs: Vec<i32>,
    outputs: Vec<i32>,
    options: Vec<(u16, Field)>,
}

pub const FLOAT32: i8 = 0;
pub const INT32: i8 = 2;
pub const INT8: i8 = 9;

impl Model {
    fn tensor(&mut self, name: &str, shape: &[i32], dtype: i8, data: Vec<u8>) -> i32 {
        let (name, shape) = (name.to_string(), shape.to_vec());
        self.tensors.push(Tensor { name, shape, signature: Vec::new(), dtype, scale: Vec::new(), data });
        self.tensors.len() as i32 - 1
    }

    /// A tensor computed at run time.
    pub fn value(&mut self, name: &str, shape: &[i32]) -> i32 {
        self.tensor(name, shape, FLOAT32, Vec::new())
    }

    /// A graph input.
    pub fn input(&mut self, name: &str, shape: &[i32]) -> i32 {
        let index = self.value(name, shape);
        self.inputs.push(index);
        index
    }

    pub fn floats(&mut self, name: &str, shape: &[i32], data: &[f32]) -> i32 {
        self.tensor(name, shape, FLOAT32, data.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    pub fn ints(&mut self, name: &str, shape: &[i32], data: &[i32]) -> i32 {
        self.tensor(name, shape, INT32, data.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    /// Bytes with one scale for each index of the first dimension.
    pub fn quantised(&mut self, name: &str, shape: &[i32], data: &[i8], scale: &[f32]) -> i32 {
        let index = self.tensor(name, shape, INT8, data.iter().map(|x| *x as u8).collect());
        self.tensors[index as usize].scale = scale.to_vec();
        index
    }

    /// Another element type, or an open shape.
    pub fn change(&mut self, index: i32, dtype: i8, signature: &[i32], scale: &[f32]) {
        let tensor = &mut self.tensors[index as usize];
        (tensor.dtype, tensor.signature, tensor.scale) = (dtype, signature.to_vec(), scale.to_vec());
    }

    /// An operator by the number of its kind; fields of its options by number.
    pub fn op(&mut self, code: i32, inputs: &[i32], outputs: &[i32], options: &[(u16, Field)]) {
        let (inputs, outputs, options) = (inputs.to_vec(), outputs.to_vec(), options.to_vec());
        self.operators.push(Operator { code, custom: None, inputs, outputs, options });
    }

    /// An operator that is not built in.
    pub fn custom(&mut self, name: &str, inputs: &[i32], outputs: &[i32]) {
        self.op(32, inputs, outputs, &[]);
        if let Some(last) = self.operators.last_mut() {
            last.custom = Some(name.to_string());
        }
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut b = FlatBufferBuilder::new();
        let empty = table(&mut b, &[]);
        let mut buffers = vec![empty];
        let mut tensors = Vec::new();
        for tensor in &self.tensors {
            let buffer = match tensor.data.is_empty() {
                true => 0,
                false => {
                    let data = b.create_vector(&tensor.data);
                    buffers.push(table(&mut b, &[(0, Slot::Reference(data.as_union_value()))]));
                    buffers.len() as i32 - 1
                }
            };
            let shape = b.create_vector(&tensor.shape).as_union_value();
            let name = b.create_string(&tensor.name).as_union_value();
            let mut slots = vec![
                (0, Slot::Reference(shape)),
                (1, Slot::Byte(tensor.dtype)),
                (2, Slot::Int(buffer)),
                (3, Slot::Reference(name)),
            ];
            if !tensor.signature.is_empty() {
                let signature = b.create_vector(&tensor.signature).as_union_value();
                slots.push((7, Slot::Reference(signature)));
            }
            if !tensor.scale.is_empty() {
                let scale = b.create_vector(&tensor.scale).as_union_value();
                let zero = b.create_vector(&vec![0i64; tensor.scale.len()]).as_union_value();
                let quantization = table(&mut b, &[(2, Slot::Reference(scale)), (3, Slot::Reference(zero))]);
                slots.push((4, Slot::Reference(quantization.as_union_value())));
            }
            tensors.push(table(&mut b, &slots));
        }
        let (mut codes, mut operators) = (Vec::new(), Vec::new());
        for (at, operator) in self.operators.iter().enumerate() {
            let mut slots =
                vec![(0, Slot::Byte(operator.code.min(127) as i8)), (3, Slot::Int(operator.code))];
            if let Some(custom) = &operator.custom {
                slots.push((1, Slot::Reference(b.create_string(custom).as_union_value())));
            }
            codes.push(table(&mut b, &slots));
            operators.push(write_operator(&mut b, operator, at as i32));
        }
        let tensors = list(&mut b, &tensors);
        let operators = list(&mut b, &operators);
        let inputs = b.create_vector(&self.inputs).as_union_value();
        let outputs = b.create_vector(&self.outputs).as_union_value();
        let graph = [tensors, inputs, outputs, operators];
        let graph: Vec<_> = (0..4).zip(graph.map(Slot::Reference)).collect();
        let graph = table(&mut b, &graph);
        let (codes, graphs, buffers) = (list(&mut b, &codes), list(&mut b, &[graph]), list(&mut b, &buffers));
        let model = [
            (0, Slot::Int(3)),
            (1, Slot::Reference(codes)),
            (2, Slot::Reference(graphs)),
            (4, Slot::Reference(buffers)),
        ];
        let model = table(&mut b, &model);
        b.finish(model, Some("TFL3"));
        b.finished_data().to_vec()
    }
}

/// What is written into a field: numbers, or where something written before lies.
#[derive(Clone, Copy)]
enum Slot {
    Byte(i8),
    Int(i32),
    Float(f32),
    Reference(WIPOffset<UnionWIPOffset>),
}

type Written = WIPOffset<UnionWIPOffset>;

fn table<'a>(b: &mut FlatBufferBuilder<'a>, slots: &[(u16, Slot)]) -> Written {
    let start = b.start_table();
    for (field, slot) in slots {
        let at = 4 + 2 * field;
        match slot {
            Slot::Byte(value) => b.push_slot_always(at, *value),
            Slot::Int(value) => b.push_slot_always(at, *value),
            Slot::Float(value) => b.push_slot_always(at, *value),
            Slot::Reference(value) => b.push_slot_always(at, *value),
        }
    }
    WIPOffset::new(b.end_table(start).value())
}

fn list(b: &mut FlatBufferBuilder<'_>, tables: &[Written]) -> Written {
    let tables: Vec<WIPOffset<ForwardsUOffset<Vector<'_, u8>>>> =
        tables.iter().map(|t| WIPOffset::new(t.value())).collect();
    b.create_vector(&tables).as_union_value()
}

fn write_operator(b: &mut FlatBufferBuilder<'_>, operator: &Operator, code: i32) -> Written {
    let inputs = b.create_vector(&operator.inputs).as_union_value();
    let outputs = b.create_vector(&operator.outputs).as_union_value();
    let mut fields = Vec::new();
    for (field, value) in &operator.options {
        fields.push((
            *field,
            match value {
                Field::Byte(value) => Slot::Byte(*value),
                Field::Int(value) => Slot::Int(*value),
                Field::Float(value) => Slot::Float(*value),
                Field::Ints(list) => Slot::Reference(b.create_vector(list).as_union_value()),
            },
        ));
    }
    let options = table(b, &fields).as_union_value();
    let slots = [
        (0, Slot::Int(code)),
        (1, Slot::Reference(inputs)),
        (2, Slot::Reference(outputs)),
        (3, Slot::Byte(1)),
        (4, Slot::Reference(options)),
    ];
    table(b, &slots)
}
