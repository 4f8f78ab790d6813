//! Cutting one high arena into several low ones where no block is cut: costs no byte.

use super::super::resolve::Block;
use super::Packed;

/// Cuts as high as the limit allows, again and again; `None` where some cut would go through a block, break
/// an alignment or move a pin.
pub(super) fn horizontally(blocks: &[Block], offsets: &[u64], limit_bytes: u64) -> Option<Packed> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|i| (offsets[*i], *i));
    let align_bytes = blocks.iter().map(|b| b.align_bytes).max()?;
    // Heights that no block reaches across: all before them in the order end at or below.
    let mut cuts: Vec<(u64, usize)> = Vec::new();
    let mut top = 0;
    for (at, i) in order.iter().enumerate() {
        if offsets[*i] >= top && offsets[*i].is_multiple_of(align_bytes) {
            cuts.push((offsets[*i], at));
        }
        top = top.max(offsets[*i] + blocks[*i].size_bytes);
    }
    cuts.push((top, order.len()));
    let mut places = vec![(0, 0); blocks.len()];
    let (mut base, mut from, mut arena) = (cuts[0].0, 0, 0);
    while from < order.len() {
        // An arena ends with its last block, which may be below the cut.
        let height = |at: usize| order[from..at].iter().map(|i| offsets[*i] + blocks[*i].size_bytes).max();
        let fits = |at: usize| height(at).is_some_and(|top| top - base <= limit_bytes);
        let (_, until) = *cuts.iter().rfind(|(_, at)| *at > from && fits(*at))?;
        for i in &order[from..until] {
            places[*i] = (arena, offsets[*i] - base);
            if blocks[*i].pin.is_some_and(|pin| places[*i] != (0, pin)) {
                return None;
            }
        }
        (base, from, arena) = (order.get(until).map_or(0, |i| offsets[*i]), until, arena + 1);
    }
    Some(Packed::new(blocks, places))
}
