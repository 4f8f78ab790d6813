//! The planner alone: no GPU, no feature.
//!
//! `cargo run --release --no-default-features --example plan_only`

use sublet::plan::{Alignment, PlanError, Planner, Problem, Strategy, TensorId};

/// A residual block: size in bytes, first and last step of each tensor.
fn block(problem: &mut Problem) -> Result<Vec<TensorId>, PlanError> {
    let records = [
        ("input", 401_408, 0..=4),
        ("reduce", 100_352, 0..=1),
        ("conv3x3", 100_352, 1..=2),
        ("expand", 401_408, 2..=3),
        ("norm", 401_408, 3..=4),
        ("sum", 401_408, 4..=5),
        ("relu", 401_408, 5..=5),
    ];
    records.into_iter().map(|(label, bytes, steps)| problem.tensor(label, bytes, steps)).collect()
}

/// Public, so that a test can run it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut problem = Problem::new(Alignment::new(256)?);
    let tensors = block(&mut problem)?;
    for strategy in Strategy::ALL {
        let plan = Planner::new(*strategy).plan(&problem)?;
        println!("{strategy:<20} {:>9} bytes", plan.peak_bytes());
    }

    // The sum may be written over an input that dies there; the planner decides whether that pays.
    problem.allow_in_place(tensors[5], tensors[4])?;
    let plan = Planner::auto().plan(&problem)?;
    plan.validate(&problem)?;
    println!("\n{}", plan.report(&problem));
    for tensor in problem.ids() {
        let record = &problem.tensors()[tensor.index()];
        println!(
            "{:<8} {:>7} bytes at {:>7}",
            record.label(),
            record.size_bytes(),
            plan.offset_bytes(tensor)
        );
    }
    Ok(())
}
