//! The proof of reuse: a planned run against one in which no two tensors share a byte.
//!
//! 1. every tensor at the step that writes it, and every graph output, bit for bit against the run without
//!    reuse;
//! 2. two finite poisons (kernels and drivers swallow NaN): the arenas are filled before the run and each
//!    tensor's bytes again after its last use, and no output may change;
//! 3. every word of the arenas outside the step's outputs is a guard word, compared after each step;
//! 4. the device against the CPU twins, within each kernel's tolerance;
//! 5. no dispatch may break a binding rule, those included that native wgpu does not check.

mod mutate;
mod reference;
mod watch;

pub use mutate::{MutationCounts, mutate};
pub use watch::FirstBad;

use super::machine::{Host, Machine};
use super::twin::compare_twins;
use super::{ExecError, TwinReport};
use crate::legal::{BindingLimits, Violation};
use crate::plan::Plan;
use reference::Reference;
use watch::{Lives, run_poisoned, run_watched};

/// Two finite patterns that are no plausible activation: 1e30 and -1e30.
const POISONS: [u32; 2] = [1e30f32.to_bits(), (-1e30f32).to_bits()];

/// What an audit found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Audit {
    /// Every tensor and every output equals the run without reuse, bit for bit.
    pub reuse_equals_no_reuse: bool,
    /// Outputs under both poisons equal the run without reuse.
    pub poison_equal: bool,
    /// No word outside a step's outputs changed in that step.
    pub canaries_intact: bool,
    /// The run without reuse against the CPU twins.
    pub cpu_twin: TwinReport,
    /// Dispatches that break a rule of WebGPU.
    pub violations: Vec<Violation>,
    /// Where it went wrong first.
    pub first_bad: Option<FirstBad>,
    /// Tensors compared at the step that writes them.
    pub tensors_compared: usize,
    /// Steps after which every arena word was compared.
    pub steps_watched: usize,
    /// Words compared as guards, summed over steps.
    pub guard_words: u64,
}

impl Audit {
    /// Whether everything holds.
    pub fn ok(&self) -> bool {
        self.reuse_equals_no_reuse
            && self.poison_equal
            && self.canaries_intact
            && self.cpu_twin.ok
            && self.violations.is_empty()
    }
}

/// Runs a plan, whether or not the judge likes it, and says where the first byte went wrong; `None` where
/// none did.
///
/// # Errors
/// The device refuses a run.
pub async fn watch<H: Host>(
    host: &H,
    plan: &Plan,
    inputs: &[Vec<f32>],
) -> Result<Option<FirstBad>, ExecError> {
    let reference = Reference::collect(host, inputs).await?;
    let mut machine = host.machine(plan).await?;
    let lives = Lives::new(host.program(), plan);
    let watched = run_watched(&mut machine, host.program(), &lives, &reference, inputs, POISONS[0]).await?;
    Ok(watched.first_bad)
}

/// Audits a plan of `host`'s program on these inputs. Holds every tensor of the network on the host
/// meanwhile (the naive total).
///
/// # Errors
/// The judge refuses the plan, or the device refuses a run. A failed check is not an error but in the result.
pub async fn audit<H: Host>(
    host: &H,
    plan: &Plan,
    inputs: &[Vec<f32>],
    limits: &BindingLimits,
) -> Result<Audit, ExecError> {
    let program = host.program();
    plan.validate(&program.usage.problem)?;
    let violations = host.bound(plan)?.iter().flat_map(|bound| bound.violations(limits)).collect();
    let reference = Reference::collect(host, inputs).await?;
    let cpu_twin = compare_twins(program, &reference.values)?;
    let lives = Lives::new(program, plan);

    let mut machine = host.machine(plan).await?;
    machine.write_inputs(inputs).await?;
    machine.run().await?;
    let plain = reference.first_bad_output(program, &mut machine).await?;
    let watched = run_watched(&mut machine, program, &lives, &reference, inputs, POISONS[0]).await?;
    // The watched run ends with the first poison's outputs compared; the second needs only the outputs.
    let poisoned = match watched.first_bad {
        Some(_) => None,
        None => {
            run_poisoned(&mut machine, program, &lives, inputs, POISONS[1]).await?;
            reference.first_bad_output(program, &mut machine).await?
        }
    };
    Ok(Audit {
        reuse_equals_no_reuse: plain.is_none() && !watched.differs,
        poison_equal: poisoned.is_none() && watched.first_bad.is_none(),
        canaries_intact: !watched.guard_broken,
        cpu_twin,
        violations,
        first_bad: watched.first_bad.or(poisoned).or(plain),
        tensors_compared: watched.tensors_compared,
        steps_watched: watched.steps_watched,
        guard_words: watched.guard_words,
    })
}
