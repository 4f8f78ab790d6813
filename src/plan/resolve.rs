//! From tensors with constraints to plain blocks: alias groups become one block, in-place chains may.

use std::collections::HashSet;

use super::{Problem, TensorId};

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
pub(crate) enum Merging<'a> {
    /// None; of tensors that are pinned over each other, only those of one step.
    None,
    /// Those in which output and input have the same size: never costs a byte.
    EqualSize,
    /// All that the geometry allows; a small output may hold a large input's bytes for long.
    All,
    /// Those of these pairs (output, input), per output at most one, ascending; and what pins demand.
    Chosen(&'a [(u32, u32)]),
}

/// Blocks, and where each tensor lies in them.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub blocks: Vec<Block>,
    /// Per tensor its block and its first byte in it; `None` for tensors of 0 bytes.
    pub slots: Vec<Option<(usize, u64)>>,
    /// Blocks on two sides that must not share an arena.
    pub parted: Vec<Parted>,
    /// In-place pairs in use, output and input, by output ascending.
    pub taken: Vec<(u32, u32)>,
}

/// Two sides of blocks, no block of the one in the arena of a block of the other.
pub(crate) type Parted = (Vec<u32>, Vec<u32>);

/// A block under construction.
#[derive(Debug, Clone)]
struct Group {
    block: Block,
    /// Tensors in it, with their first byte in it.
    members: Vec<(usize, u64)>,
    /// Separation and side of every member that has one, ascending.
    sides: Vec<(u32, bool)>,
}

/// Builds the blocks of a problem.
pub(crate) fn resolve(problem: &Problem, merging: Merging<'_>) -> Resolved {
    let (mut groups, mut slots) = alias_groups(problem);
    let mut outputs: Vec<usize> =
        (0..problem.len()).filter(|i| !problem.tensors()[*i].in_place.is_empty()).collect();
    outputs.sort_by_key(|i| (problem.tensors()[*i].first, *i));
    let mut taken = Vec::new();
    let mut pins = Pins::new(&groups);
    for output in outputs {
        for input in &problem.tensors()[output].in_place {
            if try_merge(problem, merging, &mut groups, &mut slots, &mut pins, [output, input.index()]) {
                // Of two pins, the output may hold a block of its own.
                if slots[output].map(|(group, _)| group) == slots[input.index()].map(|(group, _)| group) {
                    taken.push((output as u32, input.index() as u32));
                }
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
    let slots: Slots = slots.into_iter().map(|s| s.map(|(group, byte)| (number[group], byte))).collect();
    taken.sort_unstable();
    Resolved { parted: parted(problem, &slots), blocks, slots, taken }
}

fn parted(problem: &Problem, slots: &Slots) -> Vec<Parted> {
    let side = |ids: &[TensorId]| {
        let mut blocks: Vec<u32> =
            ids.iter().filter_map(|id| slots[id.index()].map(|(block, _)| block as u32)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    };
    let sides = problem.separations().iter().map(|s| (side(s.left()), side(s.right())));
    sides.filter(|(left, right)| !left.is_empty() && !right.is_empty()).collect()
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
            groups.push(Some(Group { block, members: Vec::new(), sides: Vec::new() }));
        }
        let group = groups[group_of_root[root]].as_mut().expect("alias groups are never removed here");
        group.block.first = group.block.first.min(tensor.first);
        group.block.last = group.block.last.max(last);
        group.members.push((i, byte));
        slots[i] = Some((group_of_root[root], byte));
    }
    for (number, separation) in problem.separations().iter().enumerate() {
        for (is_right, side) in [(false, separation.left()), (true, separation.right())] {
            for id in side {
                if let Some(group) = slots[id.index()].and_then(|(group, _)| groups[group].as_mut()) {
                    group.sides.push((number as u32, is_right));
                }
            }
        }
    }
    (groups, slots)
}

/// Puts the output's group into the bytes of the input's group, if that is lawful.
fn try_merge(
    problem: &Problem,
    merging: Merging<'_>,
    groups: &mut Groups,
    slots: &mut Slots,
    pins: &mut Pins,
    [output, input]: [usize; 2],
) -> bool {
    let (Some((from, out_byte)), Some((into, in_byte))) = (slots[output], slots[input]) else { return false };
    let (Some(source), Some(target)) = (&groups[from], &groups[into]) else { return false };
    let same_size = problem.tensors()[output].size_bytes == problem.tensors()[input].size_bytes;
    let wanted = match merging {
        Merging::None => source.block.pin.is_some() && target.block.pin.is_some(),
        Merging::EqualSize => same_size,
        Merging::All => true,
        Merging::Chosen(pairs) => {
            pairs.binary_search(&(output as u32, input as u32)).is_ok()
                || (source.block.pin.is_some() && target.block.pin.is_some())
        }
    };
    if from == into || !wanted || in_byte < out_byte {
        return false;
    }
    let delta = in_byte - out_byte;
    let apart = source.sides.iter().any(|(s, right)| target.sides.binary_search(&(*s, !right)).is_ok());
    if apart || !fits(&source.block, &target.block, delta) || !permitted(problem, source, target, delta) {
        return false;
    }
    // Two pins are no choice; what the output holds later is its own bytes, not all of the input's.
    if source.block.pin.is_some() && target.block.pin.is_some() && source.block.first < source.block.last {
        if let Some(source) = groups[from].as_mut() {
            source.block.first += 1;
        }
        return true;
    }
    let merged = Block {
        align_bytes: target.block.align_bytes.max(source.block.align_bytes),
        last: source.block.last,
        pin: target.block.pin.or(source.block.pin.map(|pin| pin - delta)),
        ..target.block
    };
    if !pins.allow(groups, from, into, &merged) {
        return false;
    }
    let Some(Group { members, sides, .. }) = groups[from].take() else { return false };
    if let Some(target) = groups[into].as_mut() {
        if !sides.is_empty() {
            target.sides.extend(sides);
            target.sides.sort_unstable();
        }
        target.block = merged;
        for (tensor, byte) in members {
            slots[tensor] = Some((into, byte + delta));
            target.members.push((tensor, byte + delta));
        }
    }
    pins.note(groups, into);
    true
}

/// The groups that are pinned, which other groups may join: then they must not come over each other.
struct Pins {
    groups: Vec<usize>,
    /// Separation and side of every tensor in them.
    sides: HashSet<(u32, bool)>,
}

impl Pins {
    fn new(groups: &Groups) -> Self {
        let mut pins = Pins { groups: Vec::new(), sides: HashSet::new() };
        for i in 0..groups.len() {
            pins.note(groups, i);
        }
        pins
    }

    fn note(&mut self, groups: &Groups, i: usize) {
        if let Some(group) = groups[i].as_ref().filter(|g| g.block.pin.is_some()) {
            if !self.groups.contains(&i) {
                self.groups.push(i);
            }
            self.sides.extend(&group.sides);
        }
    }

    /// Whether two groups may become that block: pins lie in the first arena, all of them, so nothing comes
    /// there that must not meet one, and nothing where another pin lies.
    fn allow(&self, groups: &Groups, from: usize, into: usize, merged: &Block) -> bool {
        let Some(pin) = merged.pin else { return true };
        let joins = |i: usize| {
            let group = groups[i].as_ref();
            group.is_none_or(|g| g.sides.iter().all(|(s, right)| !self.sides.contains(&(*s, !right))))
        };
        let others = self.groups.iter().filter(|i| **i != from && **i != into);
        joins(from)
            && joins(into)
            && others.filter_map(|i| groups[*i].as_ref()).all(|other| {
                let other = &other.block;
                let begin = other.pin.unwrap_or(0);
                !merged.meets(other) || begin + other.size_bytes <= pin || pin + merged.size_bytes <= begin
            })
    }
}

/// The source lies inside the target, is born in the step in which the target dies, and no pin or alignment
/// breaks.
fn fits(source: &Block, target: &Block, delta: u64) -> bool {
    let pins = match (source.pin, target.pin) {
        (Some(source), Some(target)) => source == target + delta,
        (Some(source), None) => source >= delta && (source - delta).is_multiple_of(target.align_bytes),
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
