//! Splitting a twin's output over threads; which thread computes a row never changes what it computes.

use std::num::NonZero;

/// Work below which starting a thread costs more than it saves, in multiply-adds.
const WORTH_A_THREAD: usize = 1 << 20;

/// Calls `job(first_row, rows)` on contiguous runs of whole rows of `output`; the last row may be shorter.
/// Runs start at multiples of `grain` rows. `work` is the number of multiply-adds of the whole output.
pub(super) fn over_rows<F>(output: &mut [f32], row_len: usize, grain: usize, work: usize, job: F)
where
    F: Fn(usize, &mut [f32]) + Sync,
{
    if output.is_empty() {
        return;
    }
    let threads =
        std::thread::available_parallelism().map_or(1, NonZero::get).min(work / WORTH_A_THREAD).max(1);
    let rows = output.len().div_ceil(row_len);
    let run = rows.div_ceil(threads).next_multiple_of(grain);
    if run >= rows {
        job(0, output);
        return;
    }
    std::thread::scope(|scope| {
        for (index, part) in output.chunks_mut(run * row_len).enumerate() {
            let job = &job;
            scope.spawn(move || job(index * run, part));
        }
    });
}
