//! One network under one plan: plan, run, audit, with the library's types alone.

use serde_json::{Value, json};
use std::sync::Arc;
use sublet::device::DeviceLimits;
use sublet::draw::Picture;
use sublet::exec::{ExecError, Layout, Network, Program, Resident, SharedResident, audit};
use sublet::graph::Graph;
use sublet::graph::passes::Passes;
use sublet::kernel::LowerLimits;
use sublet::plan::report::Report;
use sublet::plan::{Plan, PlanError, Planner};
use web_time::Instant;
use wgpu::{Device, Queue};

/// A lowered network, its weights on the device, its plan.
pub struct Session {
    resident: SharedResident,
    limits: DeviceLimits,
    plan: Plan,
    report: Report,
}

/// What one run gave.
pub struct Run {
    /// Elements of each graph output.
    pub outputs: Vec<Vec<f32>>,
    /// Names, shapes, bytes, seconds.
    pub summary: Value,
}

impl Session {
    /// Rewrites the graph as `sublet run` does, lowers, plans and uploads.
    pub async fn new(
        device: &Device,
        queue: &Queue,
        graph: Graph,
        layout: Layout,
    ) -> Result<Self, ExecError> {
        let limits = DeviceLimits::new(&device.limits());
        let lower = LowerLimits {
            max_binding_bytes: limits.max_binding_bytes,
            max_workgroups: limits.max_workgroups,
        };
        let alignment = layout.alignment(limits.storage_alignment_bytes)?;
        let (graph, sharing) = layout.allows(Passes::ALL).apply(graph)?;
        let program = Program::sharing(graph, sharing, alignment, lower)?.with_layout(layout)?;
        let started = Instant::now();
        let plan = layout
            .limit(Planner::auto(), limits.max_buffer_bytes, limits.max_binding_bytes)
            .plan(&program.usage.problem)?;
        let seconds = started.elapsed().as_secs_f64();
        plan.validate(&program.usage.problem)?;
        let report = plan.report(&program.usage.problem).with_seconds(seconds).with_layout(layout.key());
        #[expect(
            clippy::arc_with_non_send_sync,
            reason = "natively it is; the library has one type for both"
        )]
        let resident = Arc::new(Resident::new(device, queue, Arc::new(program)).await?);
        Ok(Session { resident, limits, plan, report })
    }

    /// The plan in numbers.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Where every tensor lies, with what the steps do.
    pub fn picture(&self) -> Result<Picture, PlanError> {
        let Program { graph, usage, .. } = self.program();
        let picture = Picture::new(&graph.name, &usage.problem, &self.plan)?;
        Ok(picture.with_graph(graph, usage).with_layout(&self.report.layout))
    }

    fn program(&self) -> &Program {
        use sublet::exec::Host;
        Host::program(&self.resident)
    }

    /// Builds the network and runs it once on the inputs of the library's fixed rule.
    pub async fn run(&self) -> Result<Run, ExecError> {
        let started = Instant::now();
        let network = Network::new(self.resident.clone(), &self.plan).await?;
        let compiled = started.elapsed().as_secs_f64();
        let inputs = self.program().default_inputs();
        let started = Instant::now();
        let outputs = network.run(&inputs).await?;
        let seconds = started.elapsed().as_secs_f64();
        let graph = &self.program().graph;
        let described = graph.outputs.iter().map(|id| {
            let value = graph.get(*id);
            json!({ "name": value.name, "shape": value.shape })
        });
        let summary = json!({
            "outputs": described.collect::<Vec<_>>(),
            "arena_bytes": network.arena().bytes(),
            "weights_bytes": self.resident.weights_bytes(),
            "dispatches": self.program().dispatch_count(),
            "compile_s": compiled,
            "run_s": seconds,
        });
        Ok(Run { outputs, summary })
    }

    /// Audits the plan on the same inputs.
    pub async fn audit(&self) -> Result<Value, ExecError> {
        let inputs = self.program().default_inputs();
        let found = audit(&self.resident, &self.plan, &inputs, &self.limits.binding_limits()).await?;
        let violations: Vec<String> = found.violations.iter().map(ToString::to_string).collect();
        let first_bad = found
            .first_bad
            .as_ref()
            .map(|bad| json!({ "step": bad.step, "tensor": bad.tensor, "neighbour": bad.neighbour }));
        Ok(json!({
            "reuse_equals_no_reuse": found.reuse_equals_no_reuse,
            "poison_equal": found.poison_equal,
            "canaries_intact": found.canaries_intact,
            "cpu_twin": { "max_abs_diff": found.cpu_twin.max_abs_diff, "ok": found.cpu_twin.ok },
            "legal": { "violations": violations },
            "first_bad": first_bad,
            "tensors_compared": found.tensors_compared,
            "steps_watched": found.steps_watched,
            "ok": found.ok(),
        }))
    }
}
