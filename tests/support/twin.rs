//! One node with made-up inputs, run through the lowering on the twins.

use sublet::graph::{DType, Graph, Op, Value, ValueId, int_word};
use sublet::kernel::{Dispatch, KernelId, LowerLimits, Operand, lower};

/// A graph of one node, and data for every value that it reads.
pub struct Case {
    pub graph: Graph,
    inputs: Vec<ValueId>,
    data: Vec<Vec<f32>>,
    seed: u64,
}

impl Case {
    /// A case without operands; add them in the order of the operator's inputs, then the output.
    pub fn new(op: Op) -> Self {
        let mut graph = Graph::new("case");
        graph.node("node", op, vec![], vec![]);
        Case { graph, inputs: vec![], data: vec![], seed: 1 }
    }

    /// Values in -1..1 with 10 significant bits, so that short sums are exact in f32.
    fn numbers(&mut self, len: usize) -> Vec<f32> {
        (0..len)
            .map(|_| {
                self.seed =
                    self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((self.seed >> 54) as f32 - 512.0) / 512.0
            })
            .collect()
    }

    fn add(&mut self, value: Value, constant: bool) {
        let data = self.numbers(value.len());
        self.add_data(value, data, constant);
    }

    fn add_data(&mut self, mut value: Value, data: Vec<f32>, constant: bool) {
        if constant {
            value = Value::f32_constant(value.name, value.shape, data.clone());
        }
        self.data.push(data);
        let id = self.graph.value(value);
        self.inputs.push(id);
        self.graph.nodes[0].inputs.push(id);
    }

    /// Adds an operand computed at run time.
    pub fn input(&mut self, shape: &[usize]) -> &mut Self {
        self.add(Value::f32(format!("input{}", self.data.len()), shape), false);
        self
    }

    /// Adds a constant operand.
    pub fn constant(&mut self, shape: &[usize]) -> &mut Self {
        self.add(Value::f32(format!("constant{}", self.data.len()), shape), true);
        self
    }

    /// Adds a constant operand of that data.
    pub fn constant_of(&mut self, shape: &[usize], data: Vec<f32>) -> &mut Self {
        self.add_data(Value::f32(format!("constant{}", self.data.len()), shape), data, true);
        self
    }

    /// Adds a constant operand of integers.
    pub fn ints(&mut self, shape: &[usize], data: &[i32]) -> &mut Self {
        let name = format!("constant{}", self.data.len());
        self.data.push(data.iter().map(|int| int_word(*int)).collect());
        let id = self.graph.value(Value::i32_constant(name, shape, data));
        self.inputs.push(id);
        self.graph.nodes[0].inputs.push(id);
        self
    }

    /// Adds the output and closes the case.
    pub fn output(self, shape: &[usize]) -> Self {
        self.output_as(shape, DType::F32)
    }

    /// The same, of another element type.
    pub fn output_as(mut self, shape: &[usize], dtype: DType) -> Self {
        let id = self.graph.value(Value::new("output", dtype, shape));
        self.graph.nodes[0].outputs.push(id);
        self
    }

    /// The node's operator.
    pub fn op(&self) -> &Op {
        &self.graph.nodes[0].op
    }

    /// Shape and data of operand `index`.
    pub fn operand(&self, index: usize) -> Option<(&[usize], &[f32])> {
        Some((&self.graph.get(*self.inputs.get(index)?).shape, &self.data[index]))
    }

    /// Data of a value; the output's is what the dispatches found there (never zeros).
    pub fn initial(&self, id: ValueId) -> Vec<f32> {
        match self.inputs.iter().position(|i| *i == id) {
            Some(index) => self.data[index].clone(),
            None => vec![77.0; self.graph.get(id).len()],
        }
    }

    /// Shape of the output.
    pub fn output_shape(&self) -> &[usize] {
        &self.graph.get(self.graph.nodes[0].outputs[0]).shape
    }

    /// The case's dispatches, checked for what every device demands.
    pub fn dispatches(&self, limits: LowerLimits) -> Vec<Dispatch> {
        let dispatches = lower(&self.graph, &self.graph.nodes[0], limits).expect("the case is lowered");
        for dispatch in &dispatches {
            assert_eq!(dispatch.inputs.len(), dispatch.kernel.kernel().inputs.len());
            assert_eq!(dispatch.params.len() % 4, 0);
            assert!(dispatch.workgroups.iter().all(|w| (1..=limits.max_workgroups).contains(w)));
            for operand in dispatch.inputs.iter().chain([&dispatch.output]) {
                let Operand::Value { value, start_len, len } = operand else { continue };
                assert_eq!(start_len % 64, 0, "{dispatch:?}");
                assert!(*len > 0 && start_len + len <= self.graph.get(*value).len(), "{dispatch:?}");
                assert!(*len as u64 * 4 <= limits.max_binding_bytes, "{dispatch:?}");
            }
        }
        dispatches
    }
}

/// The output after every dispatch on the twins, and the kernels in order. Checks on the way that base
/// offsets mean the same as bound ranges.
pub fn run_twins(case: &Case, limits: LowerLimits) -> (Vec<f32>, Vec<KernelId>) {
    let dispatches = case.dispatches(limits);
    let mut output = case.initial(case.graph.nodes[0].outputs[0]);
    for dispatch in &dispatches {
        let mut shifted = [vec![f32::NAN; 5], output.clone()].concat();
        run_twin(case, dispatch, &mut output);
        run_twin_shifted(case, dispatch, &mut shifted);
        let bits = |data: &[f32]| data.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        let (front, shifted) = shifted.split_at(5);
        assert!(front.iter().all(|v| v.is_nan()) && bits(shifted) == bits(&output), "{dispatch:?}");
    }
    (output, dispatches.iter().map(|d| d.kernel).collect())
}

/// One dispatch on its twin; `output` is the whole output value.
pub fn run_twin(case: &Case, dispatch: &Dispatch, output: &mut [f32]) {
    let data: Vec<Vec<f32>> = dispatch.inputs.iter().map(|operand| operand_data(case, *operand)).collect();
    let slices: Vec<&[f32]> = data.iter().map(Vec::as_slice).collect();
    let Operand::Value { start_len, len, .. } = dispatch.output else {
        panic!("a dispatch writes something")
    };
    (dispatch.kernel.kernel().twin)(&dispatch.params, &slices, &mut output[start_len..start_len + len]);
}

/// The same with base offsets in place of bound ranges: values stand behind a prefix, the output behind 5
/// elements.
fn run_twin_shifted(case: &Case, dispatch: &Dispatch, output: &mut [f32]) {
    let mut params = dispatch.params.clone();
    let mut data = Vec::new();
    for (i, operand) in dispatch.inputs.iter().enumerate() {
        let prefix = vec![f32::NAN; 3 + i];
        params[i] = prefix.len() as u32;
        data.push([prefix, operand_data(case, *operand)].concat());
    }
    let Operand::Value { start_len, .. } = dispatch.output else { panic!("a dispatch writes something") };
    params[data.len()] = 5 + start_len as u32;
    let slices: Vec<&[f32]> = data.iter().map(Vec::as_slice).collect();
    (dispatch.kernel.kernel().twin)(&params, &slices, output);
}

/// The elements that a binding shows.
pub fn operand_data(case: &Case, operand: Operand) -> Vec<f32> {
    match operand {
        Operand::Value { value, start_len, len } => case.initial(value)[start_len..start_len + len].to_vec(),
        Operand::Absent => vec![0.0; 4],
    }
}
