//! What a framework's pool would hold: blocks that are handed out as they are asked for and kept when they
//! come back, in a list for each rounded size. It knows no schedule; plans are measured against it.

use std::collections::HashMap;

use super::ids::align_up;
use super::{Alignment, Problem};

/// Bytes of all blocks after the steps have run once: a tensor takes a free block of its size, rounded up to
/// `unit`, or a new one, in the step that first uses it, and gives it back after the step that last does. A
/// block is never cut, joined or given back to the device, so later runs of the same steps find all they
/// ask for.
///
/// Aliases, permissions to write in place, pins and alignments mean nothing to it. This is the pool of
/// Chainer's first versions, the baseline of arXiv 1804.10001.
///
/// ```
/// use sublet::plan::{Alignment, Problem, keyed_pool_bytes};
///
/// let mut problem = Problem::new(Alignment::ONE);
/// problem.tensor("a", 100, 0..=1)?;
/// problem.tensor("b", 300, 1..=2)?;
/// problem.tensor("c", 200, 2..=3)?; // the block of `a`: both are 256 bytes when rounded
/// assert_eq!(keyed_pool_bytes(&problem, Alignment::PORTABLE), 256 + 512);
/// # Ok::<(), sublet::plan::PlanError>(())
/// ```
pub fn keyed_pool_bytes(problem: &Problem, unit: Alignment) -> u64 {
    let mut starts: Vec<_> = problem.ids().collect();
    let tensor = |id: &super::TensorId| &problem.tensors()[id.index()];
    starts.sort_by_key(|id| (tensor(id).first(), *id));
    let mut ends = starts.clone();
    ends.sort_by_key(|id| (problem.last(tensor(id)), *id));
    let mut ended = ends.into_iter().peekable();
    let (mut free, mut total) = (HashMap::<u64, u64>::new(), 0_u64);
    for id in starts {
        let rounded = |id: &super::TensorId| align_up(tensor(id).size_bytes(), unit.bytes());
        while let Some(old) = ended.next_if(|old| problem.last(tensor(old)) < tensor(&id).first()) {
            *free.entry(rounded(&old)).or_default() += 1;
        }
        match free.get_mut(&rounded(&id)).filter(|blocks| **blocks > 0) {
            Some(blocks) => *blocks -= 1,
            None => total = total.saturating_add(rounded(&id)),
        }
    }
    total
}
