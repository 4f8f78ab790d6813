//! A tiny writer of ONNX protobufs, so that a test states its model in a few lines.

/// Bytes of a message under construction.
#[derive(Clone, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    fn varint(&mut self, mut x: u64) {
        while x >= 0x80 {
            self.0.push(x as u8 | 0x80);
            x >>= 7;
        }
        self.0.push(x as u8);
    }

    /// A field of type int64 or enum.
    pub fn int(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    /// A field of type float.
    pub fn float(mut self, field: u64, value: f32) -> Self {
        self.varint(field << 3 | 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// A field of type string, bytes or message.
    pub fn bytes(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.as_ref().len() as u64);
        self.0.extend(bytes.as_ref());
        self
    }

    fn message(self, field: u64, message: Message) -> Self {
        self.bytes(field, message.0)
    }
}

/// A tensor of float32 as raw data.
pub fn floats(name: &str, dims: &[i64], data: &[f32]) -> Message {
    tensor(name, 1, dims, &data.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

/// A tensor of int64 as raw data.
pub fn ints(name: &str, dims: &[i64], data: &[i64]) -> Message {
    tensor(name, 7, dims, &data.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

/// A tensor of any element type as raw data.
pub fn tensor(name: &str, data_type: i64, dims: &[i64], raw: &[u8]) -> Message {
    let t = dims.iter().fold(Message::default(), |t, d| t.int(1, *d));
    t.int(2, data_type).bytes(8, name).bytes(9, raw)
}

/// A node.
pub struct Node(Message);

/// A node of the standard domain, named after its first output.
pub fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> Node {
    let m = inputs.iter().fold(Message::default(), |m, i| m.bytes(1, i));
    let m = outputs.iter().fold(m, |m, o| m.bytes(2, o));
    Node(m.bytes(3, format!("{}_node", outputs[0])).bytes(4, op))
}

impl Node {
    fn attribute(self, name: &str, fill: impl FnOnce(Message) -> Message) -> Self {
        Node(self.0.message(5, fill(Message::default().bytes(1, name))))
    }

    pub fn int(self, name: &str, value: i64) -> Self {
        self.attribute(name, |a| a.int(3, value).int(20, 2))
    }

    pub fn float(self, name: &str, value: f32) -> Self {
        self.attribute(name, |a| a.float(2, value).int(20, 1))
    }

    pub fn string(self, name: &str, value: &str) -> Self {
        self.attribute(name, |a| a.bytes(4, value).int(20, 3))
    }

    pub fn ints(self, name: &str, values: &[i64]) -> Self {
        self.attribute(name, |a| values.iter().fold(a, |a, v| a.int(8, *v)).int(20, 7))
    }

    pub fn strings(self, name: &str, values: &[&str]) -> Self {
        self.attribute(name, |a| values.iter().fold(a, |a, v| a.bytes(9, v)).int(20, 8))
    }

    pub fn floats(self, name: &str, values: &[f32]) -> Self {
        self.attribute(name, |a| values.iter().fold(a, |a, v| a.float(7, *v)).int(20, 6))
    }

    pub fn tensor(self, name: &str, value: Message) -> Self {
        self.attribute(name, |a| a.message(5, value).int(20, 4))
    }

    /// The graph of a model, without the rest of it.
    pub fn graph(self, name: &str, model: Model) -> Self {
        self.attribute(name, |a| a.message(6, model.graph).int(20, 5))
    }

    pub fn domain(self, domain: &str) -> Self {
        Node(self.0.bytes(7, domain))
    }
}

/// A dimension as written in the file.
pub enum Dim {
    Size(i64),
    Name(&'static str),
    Nothing,
}

/// A graph under construction.
pub struct Model {
    opset: i64,
    graph: Message,
    tail: Message,
}

/// A model of one standard operator set.
pub fn model(opset: i64) -> Model {
    Model { opset, graph: Message::default(), tail: Message::default() }
}

impl Model {
    pub fn node(mut self, node: Node) -> Self {
        self.graph = self.graph.message(1, node.0);
        self
    }

    pub fn initializer(mut self, tensor: Message) -> Self {
        self.graph = self.graph.message(5, tensor);
        self
    }

    /// A float32 input of fixed shape.
    pub fn input(self, name: &str, shape: &[i64]) -> Self {
        self.open_input(name, 1, &shape.iter().map(|d| Dim::Size(*d)).collect::<Vec<_>>())
    }

    pub fn open_input(mut self, name: &str, elem_type: i64, dims: &[Dim]) -> Self {
        let shape = dims.iter().fold(Message::default(), |shape, dim| {
            let dim = match dim {
                Dim::Size(size) => Message::default().int(1, *size),
                Dim::Name(name) => Message::default().bytes(2, name),
                Dim::Nothing => Message::default(),
            };
            shape.message(1, dim)
        });
        let tensor_type = Message::default().int(1, elem_type).message(2, shape);
        let info = Message::default().bytes(1, name).message(2, Message::default().message(1, tensor_type));
        self.graph = self.graph.message(11, info);
        self
    }

    pub fn output(mut self, name: &str) -> Self {
        self.graph = self.graph.message(12, Message::default().bytes(1, name));
        self
    }

    /// A further operator set.
    pub fn import(mut self, domain: &str, version: i64) -> Self {
        self.tail = self.tail.message(8, Message::default().bytes(1, domain).int(2, version));
        self
    }

    /// The file.
    pub fn bytes(self) -> Vec<u8> {
        let set = Message::default().bytes(1, "").int(2, self.opset);
        let model = Message::default().int(1, 8).message(7, self.graph).message(8, set);
        [model.0, self.tail.0].concat()
    }
}
