//! Ways in which the tensors of one dispatch collide, each with a kernel, places and the right result.

use super::launches::Launch;
use std::ops::Range;
use sublet::legal::{Access, BindingLimits, Operand, Partition, PlainKernel, Rule, WindowLimits, merge};

/// One dispatch that a plain kernel may not do, or, with no rules broken, one that it may.
pub struct Collision {
    pub name: &'static str,
    pub wgsl: String,
    /// The kernel adds a base offset to each index, from a uniform block at binding 0 that ends with a count.
    pub bases: bool,
    /// Tensors in the order of binding numbers, from 1; the last is written.
    pub operands: Vec<Operand>,
    /// The same, dispatch by dispatch, where the tensors have to be cut; else one part, the operands.
    pub parts: Vec<Vec<Operand>>,
    /// What the buffers hold before, in elements.
    pub buffers: Vec<Vec<f32>>,
    /// Elements of the output that are right after.
    pub expected: Vec<f32>,
    pub limits: WindowLimits,
    /// Rules that the plain kernel breaks.
    pub rules: &'static [Rule],
}

/// WebGPU's default limits.
pub const LIMITS: WindowLimits =
    WindowLimits { alignment_bytes: 256, max_window_bytes: 128 << 20, max_windows: 8 };

const USAGE: &[Rule] = &[Rule::WholeBufferUsage];
const ALIASING: &[Rule] = &[Rule::WholeBufferUsage, Rule::WritableAliasing];
const UNALIGNED: &[Rule] = &[Rule::WholeBufferUsage, Rule::OffsetAlignment];

/// Elements of most tensors: 256 bytes.
const N: usize = 64;

impl Collision {
    pub fn kernel(&self) -> PlainKernel {
        let kernel = PlainKernel::new(self.name, &self.wgsl).unwrap();
        if self.bases { kernel.with_bases() } else { kernel }
    }

    /// What the device allows, for the check.
    pub fn binding_limits(&self) -> BindingLimits {
        BindingLimits {
            storage_alignment_bytes: self.limits.alignment_bytes,
            uniform_alignment_bytes: 256,
            max_storage_binding_bytes: self.limits.max_window_bytes,
            max_uniform_binding_bytes: 65_536,
            max_storage_bindings: self.limits.max_windows,
            max_workgroups: 65_535,
        }
    }

    /// The dispatch as it was written, each tensor bound by itself.
    pub fn plain(&self) -> Launch {
        let ranges = self.kernel().plain_ranges(&self.operands);
        let bases = vec![0; self.operands.len()];
        self.launch(self.wgsl.clone(), (1..).zip(ranges).collect(), bases, &self.operands)
    }

    /// The same with every binding of the written buffer declared writable, and none merged.
    pub fn writable(&self) -> Launch {
        let plain = self.plain();
        let writable = self.operands.iter().map(|o| o.buffer == self.target()).collect::<Vec<_>>();
        let partition = Partition { survivor: (0..writable.len()).collect(), writable };
        let mut bindings = plain.bindings;
        for ((_, range), writable) in bindings.iter_mut().zip(&partition.writable) {
            range.access = if *writable { Access::ReadWrite } else { range.access };
        }
        let wgsl = printed(self.name, &self.wgsl, &partition);
        Launch { wgsl, bindings, ..plain }
    }

    /// The lawful dispatches instead.
    pub fn lawful(&self) -> Vec<Launch> {
        let kernel = self.kernel();
        let one = |operands: &Vec<Operand>| {
            let lawful = kernel.lawful(operands, &self.limits).unwrap();
            let bases = lawful.windows.iter().map(|w| w.base_len).collect();
            self.launch(lawful.wgsl().unwrap(), lawful.ranges(), bases, operands)
        };
        self.parts.iter().map(one).collect()
    }

    fn launch(
        &self,
        wgsl: String,
        bindings: Vec<(u32, sublet::legal::BoundRange)>,
        bases: Vec<u32>,
        operands: &[Operand],
    ) -> Launch {
        let count = elements(&operands[operands.len() - 1]).len() as u32;
        let mut params = bases;
        params.push(count);
        params.resize(params.len().next_multiple_of(4), 0);
        let params = if self.bases { params } else { Vec::new() };
        Launch { wgsl, bindings, params, workgroups: [count.div_ceil(64).min(4096), 1, 1] }
    }

    /// The buffer that is written.
    pub fn target(&self) -> usize {
        self.operands[self.operands.len() - 1].buffer
    }

    /// What that buffer holds after: outside the output, what it held before.
    pub fn target_after(&self) -> Vec<f32> {
        let mut after = self.buffers[self.target()].clone();
        after[elements(&self.operands[self.operands.len() - 1])].copy_from_slice(&self.expected);
        after
    }
}

/// The text of a kernel after its bindings were merged as the partition says.
pub fn printed(name: &str, wgsl: &str, partition: &Partition) -> String {
    let module = merge(name, wgsl, partition).unwrap();
    let flags = naga::valid::ValidationFlags::all();
    let info = naga::valid::Validator::new(flags, naga::valid::Capabilities::empty()).validate(&module);
    naga::back::wgsl::write_string(&module, &info.unwrap(), naga::back::wgsl::WriterFlags::empty()).unwrap()
}

fn at(buffer: usize, start_len: usize, len: usize) -> Operand {
    Operand { buffer, bytes: start_len as u64 * 4..(start_len + len) as u64 * 4 }
}

/// Whole numbers, so that sums of a few thousand of them are exact.
fn data(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 37) % 101) as f32 - 50.0).collect()
}

fn elements(operand: &Operand) -> Range<usize> {
    (operand.bytes.start / 4) as usize..(operand.bytes.end / 4) as usize
}

/// A kernel of `inputs` tensors (x0, x1, .., then y) without base offsets that does `body` for each i below
/// `count`.
fn kernel(inputs: usize, count: &str, body: &str) -> String {
    let mut text = String::new();
    for i in 0..inputs {
        text += &format!("@group(0) @binding({}) var<storage, read> x{i}: array<f32>;\n", i + 1);
    }
    text += &format!("@group(0) @binding({}) var<storage, read_write> y: array<f32>;\n", inputs + 1);
    text += "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>,\n";
    text += "  @builtin(num_workgroups) groups: vec3<u32>) {\n";
    text += &format!("  for (var i = id.x; i < {count}; i += 64u * groups.x) {{ {body} }}\n}}\n");
    text
}

/// The same with base offsets: `{x0}[` in `body` stands for an index into x0 from its base.
fn based(inputs: usize, body: &str) -> String {
    let names: Vec<String> = (0..inputs).map(|i| format!("x{i}")).chain(["y".to_owned()]).collect();
    let members: Vec<String> = names.iter().map(|n| format!("{n}_base: u32")).collect();
    let body = names
        .iter()
        .fold(body.to_owned(), |body, n| body.replace(&format!("{{{n}}}["), &format!("{n}[p.{n}_base + ")));
    format!(
        "struct Params {{ {}, count: u32 }}\n@group(0) @binding(0) var<uniform> p: Params;\n{}",
        members.join(", "),
        kernel(inputs, "p.count", &body)
    )
}

/// An element-wise collision of small tensors; the expected result is computed from the buffers by `f`.
fn pointwise(
    name: &'static str,
    expression: &str,
    rules: &'static [Rule],
    operands: Vec<Operand>,
    f: impl Fn(&[f32]) -> f32,
) -> Collision {
    let last = operands.iter().map(|o| o.buffer).max().unwrap_or(0);
    let buffers: Vec<Vec<f32>> = (0..=last).map(|_| data(2048)).collect();
    let inputs = &operands[..operands.len() - 1];
    let expected = (0..elements(&operands[operands.len() - 1]).len())
        .map(|i| f(&inputs.iter().map(|o| buffers[o.buffer][elements(o).start + i]).collect::<Vec<_>>()))
        .collect();
    let wgsl = kernel(inputs.len(), "arrayLength(&y)", &format!("y[i] = {expression};"));
    let parts = vec![operands.clone()];
    Collision { name, wgsl, bases: false, operands, parts, buffers, expected, limits: LIMITS, rules }
}

/// The same with base offsets: what starts between two multiples of the alignment.
fn pointwise_based(
    name: &'static str,
    expression: &str,
    rules: &'static [Rule],
    operands: Vec<Operand>,
    f: impl Fn(&[f32]) -> f32,
) -> Collision {
    let plain = pointwise(name, "0.0", rules, operands, f);
    let wgsl = based(plain.operands.len() - 1, &format!("{{y}}[i] = {expression};"));
    Collision { wgsl, bases: true, ..plain }
}

/// Every kind.
pub fn all() -> Vec<Collision> {
    let mut all = small();
    all.extend([
        eleven("eleven inputs and the output in one arena, ten slots", 0),
        eleven("eleven weights of one buffer, ten slots", 1),
        concat_with_itself(),
        concat_last_axis(),
        concat_first_axis(),
        over_the_binding_limit(),
    ]);
    all
}

fn small() -> Vec<Collision> {
    let add = |x: &[f32]| x[0] + x[1];
    let mul = |x: &[f32]| x[0] * x[1];
    let relu = |x: &[f32]| x[0].max(0.0);
    let (sum, product) = ("x0[i] + x1[i]", "x0[i] * x1[i]");
    let (based_sum, based_product) = ("{x0}[i] + {x1}[i]", "{x0}[i] * {x1}[i]");
    let three = |a, b, y| vec![a, b, y];
    let overlapping = three(at(0, 0, 2 * N), at(0, N, 2 * N), at(0, 4 * N, 2 * N));
    let in_two = three(at(0, 0, N), at(1, 0, N), at(1, 128, N));
    vec![
        pointwise(
            "one buffer, part read, part written (wgpu#8470)",
            "x0[i] + 1.0",
            USAGE,
            vec![at(0, 0, N), at(0, N, N)],
            |x| x[0] + 1.0,
        ),
        pointwise("x times x", product, USAGE, three(at(0, 0, N), at(0, 0, N), at(0, 128, N)), mul),
        pointwise(
            "add(x, x) (llama.cpp#19310)",
            sum,
            USAGE,
            three(at(0, N, N), at(0, N, N), at(0, 0, N)),
            add,
        ),
        pointwise_based(
            "mul of two overlapping views (llama.cpp#19850)",
            based_product,
            USAGE,
            overlapping,
            mul,
        ),
        pointwise("relu in place", "max(x0[i], 0.0)", ALIASING, vec![at(0, N, N), at(0, N, N)], relu),
        pointwise("add in place", sum, ALIASING, three(at(0, 0, N), at(0, 128, N), at(0, 0, N)), add),
        pointwise("x plus x in place", sum, ALIASING, three(at(0, 0, N), at(0, 0, N), at(0, 0, N)), add),
        pointwise("inputs in two arenas, output in one of them", sum, USAGE, in_two, add),
        pointwise_based(
            "two overlapping slices of one tensor, one off the alignment",
            based_product,
            UNALIGNED,
            three(at(0, 0, N), at(0, 17, N), at(0, 256, N)),
            mul,
        ),
        pointwise_based(
            "three operands packed in one arena",
            based_sum,
            UNALIGNED,
            three(at(0, 3, N), at(0, 70, N), at(0, 140, N)),
            add,
        ),
        pointwise_based(
            "slices of two arenas that start where no binding may",
            based_sum,
            UNALIGNED,
            three(at(0, 1, N), at(1, 5, N), at(1, 300, N)),
            add,
        ),
    ]
}

/// More inputs than a device of ten bindings has slots; the output in buffer `output`.
fn eleven(name: &'static str, output: usize) -> Collision {
    let operands: Vec<Operand> = (0..11).map(|i| at(0, i * N, N)).chain([at(output, 1024, N)]).collect();
    let sum = (0..11).map(|i| format!("{{x{i}}}[i]")).collect::<Vec<_>>().join(" + ");
    let rules: &[Rule] = match output {
        0 => &[Rule::BindingCount, Rule::WholeBufferUsage],
        _ => &[Rule::BindingCount],
    };
    let add = |x: &[f32]| x.iter().skip(1).fold(x[0], |sum, x| sum + x);
    let mut many = pointwise_based(name, &sum, rules, operands, add);
    many.limits.max_windows = 10;
    many
}

/// A collision of one buffer, without base offsets, all of its tensors where the alignment lets them be.
fn arena(
    name: &'static str,
    wgsl: String,
    operands: Vec<Operand>,
    buffer: Vec<f32>,
    expected: Vec<f32>,
) -> Collision {
    let (parts, buffers) = (vec![operands.clone()], vec![buffer]);
    Collision { name, wgsl, bases: false, operands, parts, buffers, expected, limits: LIMITS, rules: USAGE }
}

/// Case 7: both sources are the 1,310,720 bytes at byte 2,924,288.
fn concat_with_itself() -> Collision {
    let (start, len) = (2_924_288 / 4, 1_310_720 / 4);
    let body = "y[i] = x0[i]; y[arrayLength(&y) / 2u + i] = x1[i];";
    let wgsl = kernel(2, "arrayLength(&y) / 2u", body);
    let buffer = data(start + len);
    let expected = [&buffer[start..], &buffer[start..]].concat();
    let operands = vec![at(0, start, len), at(0, start, len), at(0, 0, 2 * len)];
    arena("a tensor concatenated with itself (llama.cpp#24000)", wgsl, operands, buffer, expected)
}

/// Case 24: three of [16, 128, 768] side by side along the last axis, into [16, 128, 2304].
fn concat_last_axis() -> Collision {
    const ROW: usize = 768;
    let len = 16 * 128 * ROW;
    let body = "let to = i / 768u * 2304u + i % 768u;
        y[to] = x0[i]; y[to + 768u] = x1[i]; y[to + 1536u] = x2[i];";
    let wgsl = kernel(3, "arrayLength(&y) / 3u", body);
    let buffer = data(6 * len);
    let rows = |k: usize| buffer[k * len..(k + 1) * len].chunks(ROW);
    let joined = rows(0).zip(rows(1)).zip(rows(2));
    let expected = joined.flat_map(|((a, b), c)| [a, b, c].concat()).collect();
    let operands = vec![at(0, 0, len), at(0, len, len), at(0, 2 * len, len), at(0, 3 * len, 3 * len)];
    arena(
        "three tensors of an arena joined along the last axis (Fuser#1502)",
        wgsl,
        operands,
        buffer,
        expected,
    )
}

/// Case 24 along the first axis: nothing is copied, since each source is computed where it lies in the
/// result; here the third from the first.
fn concat_first_axis() -> Collision {
    let len = 16 * 128 * 768;
    let wgsl = kernel(1, "arrayLength(&y)", "y[i] = max(x0[i], 0.0);");
    let buffer = data(3 * len);
    let expected = buffer[..len].iter().map(|x| x.max(0.0)).collect();
    let operands = vec![at(0, 0, len), at(0, 2 * len, len)];
    arena(
        "a third of a concatenation computed from another third (Fuser#1502)",
        wgsl,
        operands,
        buffer,
        expected,
    )
}

/// Case 13: a table of 151,781,376 bytes where 134,217,728 can be bound; its rows are summed, half of them a
/// dispatch.
fn over_the_binding_limit() -> Collision {
    const ROW: usize = 768;
    let rows = 151_781_376 / 4 / ROW;
    let body = "var sum = 0.0;
        for (var k = 0u; k < 768u; k += 1u) { sum += {x0}[i * 768u + k]; }
        {y}[i] = sum;";
    let buffers = vec![data(rows * ROW), data(rows)];
    let half = |start: usize| vec![at(0, start * ROW, rows / 2 * ROW), at(1, start, rows / 2)];
    Collision {
        name: "a table over the binding limit (stable-diffusion-webgpu#1)",
        wgsl: based(1, body),
        bases: true,
        operands: vec![at(0, 0, rows * ROW), at(1, 0, rows)],
        parts: vec![half(0), half(rows / 2)],
        expected: buffers[0].chunks(ROW).map(|row| row.iter().sum()).collect(),
        buffers,
        limits: LIMITS,
        rules: &[Rule::BindingSize],
    }
}

/// Controls: dispatches that break no rule as they are.
pub fn controls() -> Vec<Collision> {
    let add = |x: &[f32]| x[0] + x[1];
    let sum = "x0[i] + x1[i]";
    let apart = vec![at(0, 0, N), at(1, 0, N), at(2, 0, N)];
    let overlapping = vec![at(0, 0, 2 * N), at(0, N, 2 * N), at(1, 0, 2 * N)];
    let twice = vec![at(0, N, N), at(0, N, N), at(1, N, N)];
    vec![
        pointwise("control: three buffers", sum, &[], apart, add),
        pointwise("control: overlapping views that are only read", sum, &[], overlapping, add),
        pointwise("control: the same weights twice, output elsewhere", sum, &[], twice, add),
    ]
}
