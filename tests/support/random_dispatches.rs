//! Random dispatches and copies, lawful and not, from a seed: what judges that share no code are asked.
#![allow(dead_code, reason = "each test binary uses its own part")]

use serde_json::{Value, json};
use sublet::legal::{Access, BindingLimits, BoundRange, CopyEnd, Violation, check, check_copy};

/// Limits that every WebGPU device has, and that a browser gives where none is asked for.
pub const WEBGPU: BindingLimits = BindingLimits {
    storage_alignment_bytes: 256,
    uniform_alignment_bytes: 256,
    max_storage_binding_bytes: 128 << 20,
    max_uniform_binding_bytes: 64 << 10,
    max_storage_bindings: 8,
    max_workgroups: 65_535,
};

/// Of one size, so that a judge that keeps buffers holds one of them.
const LARGE_BYTES: u64 = 192 << 20;

/// One binding of a described dispatch. Offset and size in bytes.
#[derive(Debug, Clone)]
pub struct Binding {
    pub buffer: usize,
    pub offset: u64,
    pub size: u64,
    pub access: Access,
}

/// What is recorded.
#[derive(Debug, Clone)]
pub enum Command {
    Dispatch { bindings: Vec<Binding>, workgroups: [u32; 3] },
    Copy { from: (usize, u64), to: (usize, u64), size: u64 },
}

/// One command with the buffers it speaks of.
#[derive(Debug, Clone)]
pub struct Case {
    /// The situation it is an instance of.
    pub situation: &'static str,
    /// Bytes of each buffer.
    pub sizes: Vec<u64>,
    pub command: Command,
}

impl Case {
    /// What the library's own rules say.
    pub fn violations(&self, limits: &BindingLimits) -> Vec<Violation> {
        match &self.command {
            Command::Dispatch { bindings, workgroups } => {
                let bound: Vec<_> = bindings.iter().enumerate().map(|(i, b)| self.bound(i, b)).collect();
                check(self.situation, &bound, *workgroups, limits)
            }
            Command::Copy { from, to, size } => {
                let end = |(buffer, offset_bytes): (usize, u64), tensor: &str| CopyEnd {
                    buffer,
                    offset_bytes,
                    buffer_bytes: Some(self.sizes[buffer]),
                    tensor: tensor.to_owned(),
                };
                check_copy(self.situation, &end(*from, "from"), &end(*to, "to"), *size)
            }
        }
    }

    fn bound(&self, index: usize, binding: &Binding) -> BoundRange {
        BoundRange {
            buffer: binding.buffer,
            bytes: binding.offset..binding.offset + binding.size,
            buffer_bytes: Some(self.sizes[binding.buffer]),
            access: binding.access,
            tensor: format!("t{index}"),
        }
    }

    /// For a judge in another language.
    pub fn json(&self) -> Value {
        match &self.command {
            Command::Dispatch { bindings, workgroups } => {
                let bindings: Vec<_> = bindings.iter().map(binding_json).collect();
                json!({ "sizes": self.sizes, "dispatch": { "bindings": bindings, "workgroups": workgroups } })
            }
            Command::Copy { from, to, size } => {
                let ((from, from_offset), (to, to_offset)) = (from, to);
                let copy = json!({
                    "from": from, "from_offset": from_offset, "to": to, "to_offset": to_offset, "size": size,
                });
                json!({ "sizes": self.sizes, "copy": copy })
            }
        }
    }
}

fn binding_json(binding: &Binding) -> Value {
    let access = match binding.access {
        Access::Uniform => "uniform",
        Access::Read => "read",
        Access::ReadWrite => "read_write",
    };
    json!({ "buffer": binding.buffer, "offset": binding.offset, "size": binding.size, "access": access })
}

/// Generator of Steele, Lea and Flood ("Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// A lawful size of 4 to 256 bytes: at most one unit of the offset alignment.
    fn small(&mut self) -> u64 {
        4 * (1 + self.below(64))
    }

    fn workgroups(&mut self) -> [u32; 3] {
        [1 + self.below(100) as u32, 1 + self.below(4) as u32, 1]
    }
}

type Make = fn(&mut Random) -> (Vec<u64>, Command);

/// Every situation, and how an instance of it is drawn.
const SITUATIONS: &[(&str, Make)] = &[
    ("one buffer, written ranges apart", |r| same_buffer(r, &[Access::ReadWrite; 3], apart)),
    ("one buffer, read and written ranges apart", |r| {
        same_buffer(r, &[Access::Read, Access::ReadWrite], apart)
    }),
    ("one buffer, written ranges overlap", |r| same_buffer(r, &[Access::ReadWrite; 2], overlapping)),
    ("one buffer, the same range written twice", |r| same_buffer(r, &[Access::ReadWrite; 2], same)),
    ("one buffer, the same range read and written", |r| {
        same_buffer(r, &[Access::Read, Access::ReadWrite], same)
    }),
    ("one buffer, read ranges overlap", |r| same_buffer(r, &[Access::Read; 2], overlapping)),
    ("one buffer, uniform and read", |r| same_buffer(r, &[Access::Uniform, Access::Read], overlapping)),
    ("one buffer, uniform and written apart", |r| {
        same_buffer(r, &[Access::Uniform, Access::ReadWrite], apart)
    }),
    ("two buffers, weights read, arena written", weights_apart),
    ("an offset off the alignment", misaligned),
    ("an empty range", |r| odd_size(r, |_| 0)),
    ("a size that is no multiple of 4", |r| odd_size(r, |r| 4 * r.below(60) + 1 + r.below(3))),
    ("around the number of storage bindings", many),
    ("around the largest storage binding", large),
    ("around the largest uniform binding", large_uniform),
    ("around the end of the buffer", past_the_end),
    ("around the largest workgroup count", wide),
    ("a copy between two buffers", |r| copy(r, false)),
    ("a copy within one buffer", |r| copy(r, true)),
    ("anything, a few bindings", |r| anything(r, 4)),
    ("anything, many bindings", |r| anything(r, 10)),
];

/// `count` cases, all situations in turn; equal seeds give equal cases.
pub fn cases(seed: u64, count: usize) -> Vec<Case> {
    let mut random = Random(seed);
    let mut case = |(situation, make): &(&'static str, Make)| {
        let (sizes, command) = make(&mut random);
        Case { situation, sizes, command }
    };
    SITUATIONS.iter().cycle().take(count).map(&mut case).collect()
}

fn dispatch(random: &mut Random, bindings: Vec<Binding>) -> Command {
    Command::Dispatch { bindings, workgroups: random.workgroups() }
}

/// Draws the (offset, size) of each of `count` bindings.
type Place = fn(random: &mut Random, count: u64) -> Vec<(u64, u64)>;

/// Bindings of one buffer in either order.
fn same_buffer(random: &mut Random, access: &[Access], place: Place) -> (Vec<u64>, Command) {
    let places = place(random, access.len() as u64);
    let binding = |((offset, size), access): ((u64, u64), &Access)| {
        let access = *access;
        Binding { buffer: 0, offset, size, access }
    };
    let mut bindings: Vec<_> = places.into_iter().zip(access).map(binding).collect();
    if random.one_in(2) {
        bindings.reverse();
    }
    (vec![16 << 10], dispatch(random, bindings))
}

fn apart(random: &mut Random, count: u64) -> Vec<(u64, u64)> {
    (0..count).map(|index| (256 * (8 * index + random.below(7)), random.small())).collect()
}

/// The first reaches past byte 1024, where the others start at the latest.
fn overlapping(random: &mut Random, count: u64) -> Vec<(u64, u64)> {
    let first = (256 * random.below(3), 1024 + random.small());
    let rest = (1..count).map(|_| (256 * (2 + random.below(2)), random.small()));
    std::iter::once(first).chain(rest).collect()
}

fn same(random: &mut Random, count: u64) -> Vec<(u64, u64)> {
    vec![(256 * random.below(32), random.small()); count as usize]
}

fn weights_apart(random: &mut Random) -> (Vec<u64>, Command) {
    let weights = |random: &mut Random| Binding {
        buffer: 0,
        offset: 256 * random.below(4),
        size: random.small(),
        access: Access::Read,
    };
    let mut bindings = vec![weights(random), weights(random)];
    for (offset, size) in apart(random, 2) {
        bindings.push(Binding { buffer: 1, offset, size, access: Access::ReadWrite });
    }
    (vec![4096, 16 << 10], dispatch(random, bindings))
}

fn any_access(random: &mut Random) -> Access {
    random.pick(&[Access::Uniform, Access::Read, Access::ReadWrite, Access::ReadWrite])
}

fn single(random: &mut Random, buffer_bytes: u64, offset: u64, size: u64) -> (Vec<u64>, Command) {
    let access = any_access(random);
    (vec![buffer_bytes], dispatch(random, vec![Binding { buffer: 0, offset, size, access }]))
}

fn misaligned(random: &mut Random) -> (Vec<u64>, Command) {
    let offset = 256 * random.below(8) + random.pick(&[4, 16, 32, 64, 128, 252]);
    let size = random.small();
    single(random, 4096, offset, size)
}

fn odd_size(random: &mut Random, size: fn(&mut Random) -> u64) -> (Vec<u64>, Command) {
    let (offset, size) = (256 * random.below(8), size(random));
    single(random, 4096, offset, size)
}

fn many(random: &mut Random) -> (Vec<u64>, Command) {
    let count = 7 + random.below(4);
    let access = random.pick(&[Access::Read, Access::ReadWrite]);
    let binding = |i| Binding { buffer: 0, offset: 256 * i, size: 256, access };
    let mut bindings: Vec<_> = (0..count).map(binding).collect();
    if access == Access::Read && random.one_in(2) {
        bindings[0].access = Access::Uniform;
    }
    (vec![4096], dispatch(random, bindings))
}

/// A few bytes around a limit.
fn around(random: &mut Random, limit: u64) -> u64 {
    limit + 4 * random.below(5) - 8
}

fn large(random: &mut Random) -> (Vec<u64>, Command) {
    let size = around(random, WEBGPU.max_storage_binding_bytes);
    let access = random.pick(&[Access::Read, Access::ReadWrite]);
    let bindings = vec![Binding { buffer: 0, offset: 256 * random.below(1000), size, access }];
    (vec![LARGE_BYTES], dispatch(random, bindings))
}

fn large_uniform(random: &mut Random) -> (Vec<u64>, Command) {
    let size = around(random, WEBGPU.max_uniform_binding_bytes);
    let bindings = vec![Binding { buffer: 0, offset: 0, size, access: Access::Uniform }];
    (vec![1 << 20], dispatch(random, bindings))
}

fn past_the_end(random: &mut Random) -> (Vec<u64>, Command) {
    let offset = 256 * (12 + random.below(4));
    let size = around(random, 4096 - offset);
    single(random, 4096, offset, size)
}

fn wide(random: &mut Random) -> (Vec<u64>, Command) {
    let mut workgroups = [1, 1, 1];
    workgroups[random.below(3) as usize] = random.pick(&[0, 65_534, 65_535, 65_536, 65_537, 1 << 20]);
    let bindings = vec![Binding { buffer: 0, offset: 0, size: 256, access: Access::ReadWrite }];
    (vec![4096], Command::Dispatch { bindings, workgroups })
}

fn copy(random: &mut Random, within: bool) -> (Vec<u64>, Command) {
    let offset = |random: &mut Random| {
        let odd = if random.one_in(4) { 1 + random.below(3) } else { 0 };
        4 * random.below(600) + odd
    };
    let size = match random.below(8) {
        0 => 0,
        1 => 4 * random.below(400) + 2,
        _ => 4 * random.below(600),
    };
    let (from, to) = (offset(random), offset(random));
    (vec![4096; 2], Command::Copy { from: (0, from), to: (usize::from(!within), to), size })
}

fn anything(random: &mut Random, most: u64) -> (Vec<u64>, Command) {
    let sizes: Vec<u64> =
        (0..1 + random.below(3)).map(|_| random.pick(&[4096, 16 << 10, 64 << 10])).collect();
    let bindings = (0..1 + random.below(most)).map(|_| {
        let buffer = random.below(sizes.len() as u64) as usize;
        let units = sizes[buffer] / 256;
        let odd_offset = if random.one_in(20) { 4 * random.below(64) } else { 0 };
        let odd_size = if random.one_in(30) { 1 + random.below(3) } else { 0 };
        let offset = 256 * random.below(units) + odd_offset;
        let size = (4 * (1 + random.below(64 * 4)) + odd_size).min(match random.one_in(20) {
            true => u64::MAX,
            false => sizes[buffer] - offset.min(sizes[buffer] - 4),
        });
        Binding { buffer, offset, size, access: any_access(random) }
    });
    let bindings = bindings.collect();
    (sizes, dispatch(random, bindings))
}
