//! Shapes that change: views under a plan at the bounds, against a plan for each shape.

use std::hint::black_box;
use std::num::NonZeroU64;
use std::time::Instant;

use super::measure::{How, middle};
use crate::plan::{Dim, Plan, PlanError, Planner, Problem, Shape, ShapedProblem, Size, TensorId};

/// The one dimension: hundredths of each size.
const WHOLE: NonZeroU64 = NonZeroU64::MIN.saturating_add(99);
/// Shapes that are planned anew.
const REPLANNED: [u64; 3] = [25, 50, 75];

/// What a new shape costs.
#[derive(Debug)]
pub struct Shapes {
    /// Nanoseconds a tensor for its place and size at a new shape, median.
    pub view_ns: f64,
    /// Seconds for those of all tensors, median.
    pub views_seconds: f64,
    /// Seconds to plan a shape anew, median.
    pub plan_seconds: f64,
    /// Peak of the plan at the bounds, which every shape has.
    pub bound_peak_bytes: u64,
    /// Peak of a plan for half of each size alone.
    pub half_peak_bytes: u64,
}

/// Makes every size of the records a share of itself, plans at the bounds, and changes the share.
///
/// # Errors
/// The planner refuses the records.
pub fn measure(problem: &Problem, how: &How) -> Result<Shapes, PlanError> {
    let (shaped, share) = shaped(problem)?;
    let plan = how.planner.plan(shaped.bound())?;
    let ids: Vec<TensorId> = shaped.bound().ids().collect();
    let mut times = Vec::with_capacity(how.runs);
    for run in 0..how.runs.max(1) as u64 {
        let start = Instant::now();
        let shape = shaped.shape(&[(share, 1 + run * 37 % WHOLE)])?;
        ids.iter().for_each(|id| look(&shaped, &plan, &shape, *id));
        times.push(start.elapsed().as_secs_f64());
    }
    let views_seconds = middle(&mut times);
    let (mut times, mut peaks) = (Vec::new(), Vec::new());
    for part in REPLANNED {
        let (seconds, peak_bytes) = anew(&shaped, &shaped.shape(&[(share, part)])?, &how.planner)?;
        times.push(seconds);
        peaks.push(peak_bytes);
    }
    Ok(Shapes {
        view_ns: views_seconds * 1e9 / ids.len().max(1) as f64,
        views_seconds,
        plan_seconds: middle(&mut times),
        bound_peak_bytes: plan.peak_bytes(),
        half_peak_bytes: peaks[1],
    })
}

fn shaped(problem: &Problem) -> Result<(ShapedProblem, Dim), PlanError> {
    let mut shaped = ShapedProblem::new(problem.alignment());
    let share = shaped.dim("share", WHOLE.get())?;
    for tensor in problem.tensors().iter().filter(|tensor| tensor.alias().is_none()) {
        let size = (Size::from(share) * tensor.size_bytes()).ceil_div(WHOLE);
        shaped.tensor(tensor.label(), size, tensor.first()..=problem.last(tensor))?;
    }
    Ok((shaped, share))
}

/// What an engine asks of each tensor at a shape.
fn look(shaped: &ShapedProblem, plan: &Plan, shape: &Shape, id: TensorId) {
    black_box((plan.arena(id), plan.offset_bytes(id), shaped.size_bytes(id, shape)));
}

/// Seconds to make the problem of one shape and plan it, and its peak.
fn anew(shaped: &ShapedProblem, shape: &Shape, planner: &Planner) -> Result<(f64, u64), PlanError> {
    let start = Instant::now();
    let plan = planner.plan(&shaped.at(shape)?)?;
    Ok((start.elapsed().as_secs_f64(), plan.peak_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Alignment, Synthetic};

    #[test]
    fn a_share_of_each_size_is_looked_up_and_planned() {
        let problem = Synthetic::Inference.problem(500, 3).unwrap();
        let planner = Planner::auto().effort(crate::plan::Effort::Fast);
        let how = How { alignment: Alignment::PORTABLE, runs: 3, planner };
        let (shaped, share) = shaped(&problem).unwrap();
        let sizes = |p: &Problem| p.tensors().iter().map(|t| t.size_bytes()).collect::<Vec<_>>();
        assert_eq!(sizes(shaped.bound()), sizes(&problem), "the bounds are the records");
        let half = shaped.at(&shaped.shape(&[(share, 50)]).unwrap()).unwrap();
        assert!(sizes(&half).iter().zip(sizes(&problem)).all(|(half, whole)| *half == whole.div_ceil(2)));
        let found = measure(&problem, &how).unwrap();
        assert!(found.half_peak_bytes < found.bound_peak_bytes, "{found:?}");
        assert!(found.view_ns > 0.0 && found.views_seconds < found.plan_seconds, "{found:?}");
    }
}
