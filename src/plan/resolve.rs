//! From tensors with constraints to plain blocks: alias groups become one block, in-place chains may.

use super::Problem;

/// A rectangle in steps and bytes: all that a strategy sees. Its size is never 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub size_bytes: u64,
    /// A power of two.
    pub align_bytes: u64,
    pub first: u32,
    /// Inclusive.
    pub last: u32,
    pub pin: Option<u64>,
}

impl Block {
    /// Whether the two live at a common step.
    pub fn meets(&self, other: &Block) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Which in-place permissions are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merging {
    /// None, except where pins demand it.
    None,
    /// Those in which output and input have the same size: never costs a byte.
    EqualSize,
    /// All that the geometry allows; a small output may hold a large input's bytes for long.
    All,
}

/// Blocks, and where each tensor lies in them.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub blocks: Vec<Block>,
    /// Per tensor its block and its first byte in it; `None` for tensors of 0 bytes.
    pub slots: Vec<Option<(usize, u64)>>,
}

/// A block under construction.
#[derive(Debug, Clone)]
struct Group {
    block: Block,
    /// Tensors in it, with their first byte in it.
    members: Vec<(usize, u64)>,
}

/// Builds the blocks of a problem.
pub(crate) fn resolve(problem: &Problem, merging: Merging) -> Resolved {
    let (mut groups, mut slots) = alias_groups(problem);
    let mut outputs: Vec<usize> =
        (0..problem.len()).filter(|i| !problem.tensors()[*i].in_place.is_empty()).collect();
    outputs.sort_by_key(|i| (problem.tensors()[*i].first, *i));
    for output in outputs {
        for input in &problem.tensors()[output].in_place {
            if try_merge(problem, merging, &mut groups, &mut slots, output, input.index()) {
                break;
            }
        }
    }
    // Merged groups left a hole behind; blocks are numbered without holes.
    let mut number = vec![usize::MAX; groups.len()];
    let mut blocks = Vec::new();
    for (old, group) in groups.into_iter().enumerate() {
        if let Some(group) = group {
            number[old] = blocks.len();
            blocks.push(group.block);
        }
    }
    let slots = slots.into_iter().map(|s| s.map(|(group, byte)| (number[group], byte))).collect();
    Resolved { blocks, slots }
}

type Groups = Vec<Option<Group>>;
type Slots = Vec<Option<(usize, u64)>>;

/// One group a tensor that is no view, with all its views; tensors of 0 bytes are in none.
fn alias_groups(problem: &Problem) -> (Groups, Slots) {
    let tensors = problem.tensors();
    let mut groups: Groups = Vec::new();
    let mut group_of_root = vec![usize::MAX; tensors.len()];
    let mut slots: Slots = vec![None; tensors.len()];
    for (i, tensor) in tensors.iter().enumerate() {
        let (mut root, mut byte) = (i, 0);
        while let Some(alias) = tensors[root].alias {
            root = alias.base.index();
            byte += alias.byte_offset;
        }
        if tensors[root].size_bytes == 0 {
            continue;
        }
        let last = problem.last(tensor);
        if group_of_root[root] == usize::MAX {
            group_of_root[root] = groups.len();
            let block = Block {
                size_bytes: tensors[root].size_bytes,
                align_bytes: tensors[root].alignment.unwrap_or(problem.alignment()).bytes(),
                first: tensor.first,
                last,
                pin: tensors[root].pin,
            };
            groups.push(Some(Group { block, members: Vec::new() }));
        }
        let group = groups[group_of_root[root]].as_mut().expect("alias groups are never removed here");
        group.block.first = group.block.first.min(tensor.first);
        group.block.last = group.block.last.max(last);
        group.members.push((i, byte));
        slots[i] = Some((group_of_root[root], byte));
    }
    (groups, slots)
}

/// Puts the output's group into the bytes of the input's group, if that is lawful.
fn try_merge(
    problem: &Problem,
    merging: Merging,
    groups: &mut Groups,
    slots: &mut Slots,
    output: usize,
    input: usize,
) -> bool {
    let (Some((from, out_byte)), Some((into, in_byte))) = (slots[output], slots[input]) else { return false };
    let (Some(source), Some(target)) = (&groups[from], &groups[into]) else { return false };
    let same_size = problem.tensors()[output].size_bytes == problem.tensors()[input].size_bytes;
    let wanted = match merging {
        Merging::None => source.block.pin.is_some() && target.block.pin.is_some(),
        Merging::EqualSize => same_size,
        Merging::All => true,
    };
    if from == into || !wanted || in_byte < out_byte {
        return false;
    }
    let delta = in_byte - out_byte;
    if !fits(&source.block, &target.block, delta) || !permitted(problem, source, target, delta) {
        return false;
    }
    let (align_bytes, last) = (source.block.align_bytes, source.block.last);
    let members = source.members.clone();
    groups[from] = None;
    if let Some(target) = groups[into].as_mut() {
        target.block.align_bytes = target.block.align_bytes.max(align_bytes);
        target.block.last = last;
        for (tensor, byte) in members {
            slots[tensor] = Some((into, byte + delta));
            target.members.push((tensor, byte + delta));
        }
    }
    true
}

/// The source lies inside the target, is born in the step in which the target dies, and no pin or alignment
/// breaks.
fn fits(source: &Block, target: &Block, delta: u64) -> bool {
    let pins = match (source.pin, target.pin) {
        (Some(source), Some(target)) => source == target + delta,
        (Some(_), None) => false,
        (None, Some(target)) => target % source.align_bytes == 0,
        (None, None) => true,
    };
    pins && delta.is_multiple_of(source.align_bytes)
        && delta + source.size_bytes <= target.size_bytes
        && target.last == source.first
}

/// In the common step every two tensors that would share bytes need a permission and the same first byte.
fn permitted(problem: &Problem, source: &Group, target: &Group, delta: u64) -> bool {
    let step = source.block.first;
    let tensors = problem.tensors();
    source.members.iter().filter(|(o, _)| tensors[*o].first == step).all(|(o, out_byte)| {
        let out_byte = out_byte + delta;
        target.members.iter().filter(|(i, _)| problem.last(&tensors[*i]) == step).all(|(i, in_byte)| {
            let apart =
                out_byte + tensors[*o].size_bytes <= *in_byte || in_byte + tensors[*i].size_bytes <= out_byte;
            let allowed = tensors[*o].in_place.iter().any(|id| id.index() == *i);
            apart || (out_byte == *in_byte && allowed)
        })
    })
}
