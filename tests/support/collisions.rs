//! Ways in which the tensors of one dispatch collide, each with a kernel, places and the right result.

use std::ops::Range;
use sublet::legal::{Operand, WindowLimits};

/// One dispatch that a plain kernel may not do.
pub struct Collision {
    pub name: &'static str,
    pub wgsl: String,
    /// The kernel adds a base offset to each index, from a uniform block at binding 0 that ends with a count.
    pub bases: bool,
    /// Tensors in the order of binding numbers; the last is written.
    pub operands: Vec<Operand>,
    /// What the buffers hold before, in elements.
    pub buffers: Vec<Vec<f32>>,
    /// Elements of the output that are right after.
    pub expected: Vec<f32>,
    pub limits: WindowLimits,
}

pub const LIMITS: WindowLimits =
    WindowLimits { alignment_bytes: 256, max_window_bytes: 1 << 20, max_windows: 8 };

/// Elements of most tensors: 256 bytes.
const N: usize = 64;

/// Element-wise kernel of `inputs` (a, b, ..) with that expression, `bases` or not.
fn elementwise(inputs: usize, expression: &str, bases: bool) -> String {
    let names: Vec<String> = (0..inputs).map(|i| format!("x{i}")).chain(["y".to_owned()]).collect();
    let mut text = String::new();
    if bases {
        let members: Vec<String> = names.iter().map(|n| format!("{n}_base: u32")).collect();
        text += &format!("struct Params {{ {}, count: u32 }}\n", members.join(", "));
        text += "@group(0) @binding(0) var<uniform> p: Params;\n";
    }
    for (i, name) in names.iter().enumerate() {
        let access = if name == "y" { "read_write" } else { "read" };
        text += &format!("@group(0) @binding({}) var<storage, {access}> {name}: array<f32>;\n", i + 1);
    }
    let mut body = expression.to_owned();
    for name in names.iter().rev() {
        let index = if bases { format!("{name}[p.{name}_base + i]") } else { format!("{name}[i]") };
        body = body.replace(&format!("{{{name}}}"), &index);
    }
    let count = if bases { "p.count" } else { "arrayLength(&y)" };
    let target = if bases { "y[p.y_base + i]" } else { "y[i]" };
    text += "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n";
    text += &format!("  let i = id.x;\n  if i < {count} {{ {target} = {body}; }}\n}}\n");
    text
}

/// `y` is `a` then `b`, both of the length of `x0`.
fn concat() -> String {
    "@group(0) @binding(1) var<storage, read> a: array<f32>;
     @group(0) @binding(2) var<storage, read> b: array<f32>;
     @group(0) @binding(3) var<storage, read_write> y: array<f32>;
     @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
       let n = arrayLength(&y) / 2u;
       if id.x < n { y[id.x] = a[id.x]; y[n + id.x] = b[id.x]; }
     }"
    .to_owned()
}

fn at(buffer: usize, start_len: usize, len: usize) -> Operand {
    Operand { buffer, bytes: start_len as u64 * 4..(start_len + len) as u64 * 4 }
}

fn data(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 37) % 101) as f32 - 50.0).collect()
}

fn elements(operand: &Operand) -> Range<usize> {
    (operand.bytes.start / 4) as usize..(operand.bytes.end / 4) as usize
}

/// An element-wise collision; the expected result is computed from the buffers by `f`.
fn pointwise(
    name: &'static str,
    expression: &str,
    bases: bool,
    operands: Vec<Operand>,
    f: impl Fn(&[f32]) -> f32,
) -> Collision {
    let buffers: Vec<Vec<f32>> =
        (0..=operands.iter().map(|o| o.buffer).max().unwrap_or(0)).map(|_| data(2048)).collect();
    let inputs = &operands[..operands.len() - 1];
    let expected = (0..elements(&operands[operands.len() - 1]).len())
        .map(|i| f(&inputs.iter().map(|o| buffers[o.buffer][elements(o).start + i]).collect::<Vec<_>>()))
        .collect();
    let wgsl = elementwise(inputs.len(), expression, bases);
    Collision { name, wgsl, bases, operands, buffers, expected, limits: LIMITS }
}

/// Every kind.
pub fn all() -> Vec<Collision> {
    let add = |x: &[f32]| x[0] + x[1];
    let relu = |x: &[f32]| x[0].max(0.0);
    let mut all = vec![
        pointwise(
            "one buffer read and written",
            "{x0} + {x1}",
            false,
            vec![at(0, 0, N), at(0, N, N), at(0, 128, N)],
            add,
        ),
        pointwise("x times x", "{x0} * {x1}", false, vec![at(0, 0, N), at(0, 0, N), at(0, 128, N)], |x| {
            x[0] * x[1]
        }),
        pointwise("relu in place", "max({x0}, 0.0)", false, vec![at(0, N, N), at(0, N, N)], relu),
        pointwise("add in place", "{x0} + {x1}", false, vec![at(0, 0, N), at(0, 128, N), at(0, 0, N)], add),
        pointwise(
            "x plus x in place",
            "{x0} + {x1}",
            false,
            vec![at(0, 0, N), at(0, 0, N), at(0, 0, N)],
            add,
        ),
        pointwise(
            "inputs in two arenas, output in one of them",
            "{x0} + {x1}",
            false,
            vec![at(0, 0, N), at(1, 0, N), at(1, 128, N)],
            add,
        ),
        pointwise(
            "two overlapping slices of one tensor",
            "{x0} * {x1}",
            true,
            vec![at(0, 0, N), at(0, 17, N), at(0, 256, N)],
            |x| x[0] * x[1],
        ),
        pointwise(
            "three operands packed in one arena",
            "{x0} + {x1}",
            true,
            vec![at(0, 3, N), at(0, 70, N), at(0, 140, N)],
            add,
        ),
        pointwise(
            "a slice over another that starts where no binding may",
            "{x0} + {x1}",
            true,
            vec![at(0, 1, N), at(1, 5, N), at(1, 300, N)],
            add,
        ),
    ];
    let eleven: Vec<Operand> = (0..11).map(|i| at(0, i * N, N)).chain([at(0, 1024, N)]).collect();
    let sum = (0..11).map(|i| format!("{{x{i}}}")).collect::<Vec<_>>().join(" + ");
    let mut many = pointwise("eleven inputs on a device of ten bindings", &sum, true, eleven, |x| {
        x.iter().skip(1).fold(x[0], |sum, x| sum + x)
    });
    many.limits.max_windows = 10;
    all.push(many);
    let (a, y) = (at(0, 0, N), at(0, 128, 2 * N));
    let buffers = vec![data(2048)];
    let expected = [&buffers[0][..N], &buffers[0][..N]].concat();
    let operands = vec![a.clone(), a, y];
    let name = "a tensor concatenated with itself";
    all.push(Collision { name, wgsl: concat(), bases: false, operands, buffers, expected, limits: LIMITS });
    all
}
