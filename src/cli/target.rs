//! Where a model runs: the best adapter, a named one, or the CPU executor; one interface for `run` and
//! `audit`.

use super::adapter::{self, Gpu};
use super::error::CliError;
use super::passes::PassArgs;
use crate::device::{DeviceLimits, MemoryReport, MemoryWitness, block_on};
use crate::exec::{
    Audit, BindingCost, CpuHost, CpuNetwork, Host, Layout, MutationCounts, Network, Program, Resident, audit,
    binding_cost, mutate,
};
use crate::graph::Graph;
use crate::kernel::LowerLimits;
use crate::legal::BindingLimits;
use crate::plan::{Alignment, Plan, Planner, Report};
use serde_json::{Value, json};
use std::sync::Arc;

/// A place to run on.
pub enum Target {
    /// A wgpu device.
    Gpu(Box<Gpu>),
    /// The CPU executor, and whether it was asked for.
    Cpu {
        /// Given with `--cpu`; otherwise there is no adapter.
        asked: bool,
    },
}

impl Target {
    /// Picks the target.
    ///
    /// # Errors
    /// The named adapter does not exist or cannot be opened.
    pub fn pick(cpu: bool, adapter: Option<&str>) -> Result<Self, CliError> {
        if cpu {
            return Ok(Target::Cpu { asked: true });
        }
        Ok(match adapter::open(adapter)? {
            Some(gpu) => Target::Gpu(Box::new(gpu)),
            None => Target::Cpu { asked: false },
        })
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        match self {
            Target::Gpu(gpu) => {
                let info = &gpu.info;
                let driver = format!("{} {}", info.driver, info.driver_info);
                format!(
                    "{} ({}, {:?}, {})",
                    info.name,
                    info.backend.to_str(),
                    info.device_type,
                    driver.trim()
                )
            }
            Target::Cpu { asked: true } => "CPU executor (asked for with --cpu)".to_owned(),
            Target::Cpu { asked: false } => {
                "CPU executor: no Vulkan, Metal or DX12 adapter was found on this machine".to_owned()
            }
        }
    }

    /// The `adapter` object of the JSON reports.
    pub fn json(&self) -> Value {
        match self {
            Target::Gpu(gpu) => json!({
                "name": gpu.info.name,
                "backend": gpu.info.backend.to_str(),
                "driver": format!("{} {}", gpu.info.driver, gpu.info.driver_info).trim(),
                "type": format!("{:?}", gpu.info.device_type),
            }),
            Target::Cpu { .. } => {
                json!({ "name": "cpu", "backend": "cpu", "driver": "sublet", "type": "Cpu" })
            }
        }
    }

    /// Alignment of storage bindings, bytes.
    fn alignment_bytes(&self) -> u64 {
        match self {
            Target::Gpu(gpu) => gpu.limits().storage_alignment_bytes,
            Target::Cpu { .. } => 256,
        }
    }

    /// Lowers a graph for this target.
    ///
    /// # Errors
    /// The graph breaks a rule, has no kernel, or a tensor is over the device's limit.
    pub fn program(
        &self,
        graph: Graph,
        passes: &PassArgs,
        layout: Layout,
        align: Option<Alignment>,
    ) -> Result<Program, CliError> {
        let alignment = align.map_or_else(|| layout.alignment(self.alignment_bytes()), Ok)?;
        let limits = match self {
            Target::Gpu(gpu) => {
                let limits = gpu.limits();
                LowerLimits {
                    max_binding_bytes: limits.max_binding_bytes,
                    max_workgroups: limits.max_workgroups,
                }
            }
            Target::Cpu { .. } => LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 },
        };
        let (graph, sharing) = passes.apply(graph, layout)?;
        Ok(Program::sharing(graph, sharing, alignment, limits)?.with_layout(layout)?)
    }

    /// A planner with this target's limits.
    pub fn limit(&self, planner: Planner, layout: Layout) -> Planner {
        match self {
            Target::Gpu(gpu) => {
                let DeviceLimits { max_buffer_bytes, max_binding_bytes, .. } = gpu.limits();
                layout.limit(planner, max_buffer_bytes, max_binding_bytes)
            }
            Target::Cpu { .. } => planner,
        }
    }

    /// Allocates and builds everything a run needs.
    ///
    /// # Errors
    /// The device refuses.
    pub fn compile(&self, program: Program, plan: &Plan) -> Result<Compiled<'_>, CliError> {
        let program = Arc::new(program);
        Ok(match self {
            Target::Gpu(gpu) => {
                let baseline = MemoryWitness::sample(&gpu.device);
                let resident = Resident::new(&gpu.device, &gpu.queue, program);
                let resident = Arc::new(block_on(&gpu.device, resident)?);
                let network = block_on(&gpu.device, Network::new(resident, plan))?;
                Compiled::Gpu { gpu, network: Box::new(network), baseline }
            }
            Target::Cpu { .. } => Compiled::Cpu {
                network: Box::new(CpuNetwork::new(program.clone(), plan)?),
                host: CpuHost(program),
            },
        })
    }
}

/// A network ready to run.
pub enum Compiled<'a> {
    /// On a device.
    Gpu {
        /// The device.
        gpu: &'a Gpu,
        /// The network.
        network: Box<Network>,
        /// The device's memory before anything was allocated.
        baseline: MemoryWitness,
    },
    /// On the CPU.
    Cpu {
        /// The network.
        network: Box<CpuNetwork>,
        /// Makes further networks for an audit.
        host: CpuHost,
    },
}

impl Compiled<'_> {
    /// The program.
    pub fn program(&self) -> &Program {
        match self {
            Compiled::Gpu { network, .. } => network.resident().program(),
            Compiled::Cpu { host, .. } => host.program(),
        }
    }

    /// Runs once.
    ///
    /// # Errors
    /// Wrong inputs, or the device refuses.
    pub fn run(&mut self, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, CliError> {
        Ok(match self {
            Compiled::Gpu { gpu, network, .. } => block_on(&gpu.device, network.run(inputs))?,
            Compiled::Cpu { network, .. } => network.run(inputs)?,
        })
    }

    /// Records one run and drops it: the CPU cost of encoding. `None` on the CPU executor.
    pub fn encode(&self) -> Option<()> {
        match self {
            Compiled::Gpu { network, .. } => {
                drop(network.encode().finish());
                Some(())
            }
            Compiled::Cpu { .. } => None,
        }
    }

    /// What the dispatches of `plan` bind, and where they wait.
    ///
    /// # Errors
    /// The plan is not one of this network.
    pub fn binding_cost(&self, plan: &Plan) -> Result<BindingCost, CliError> {
        let bound = match self {
            Compiled::Gpu { network, .. } => network.resident().bound(plan),
            Compiled::Cpu { host, .. } => host.bound(plan),
        };
        Ok(binding_cost(&bound?))
    }

    /// What is held now, beside the plan's numbers.
    pub fn memory(&self, plan: &Report) -> MemoryReport {
        match self {
            Compiled::Gpu { gpu, network, baseline } => {
                let arenas = network.arena();
                let mut report = MemoryReport::new(plan, arenas.bytes());
                report.weights_bytes = network.resident().weights_bytes();
                report.io_bytes = network.io_bytes();
                report.other_bytes = network.other_bytes();
                report.witness = MemoryWitness::sample(&gpu.device).since(*baseline);
                for (i, (used, buffer)) in arenas.plan().arenas().iter().zip(arenas.buffers()).enumerate() {
                    report.ledger.set(&format!("arena {i}"), *used, buffer.size());
                }
                report
            }
            Compiled::Cpu { network, host } => {
                let mut report = MemoryReport::new(plan, network.arena_bytes());
                report.weights_bytes = host.program().graph.constant_bytes();
                report.io_bytes = host.program().io_bytes();
                report
            }
        }
    }

    /// The limits that dispatches are checked against.
    fn binding_limits(&self) -> BindingLimits {
        match self {
            Compiled::Gpu { gpu, .. } => gpu.limits().binding_limits(),
            Compiled::Cpu { .. } => CpuHost::LIMITS,
        }
    }

    /// Proves the plan, and plants `mutations` faults.
    ///
    /// # Errors
    /// The device refuses.
    pub fn audit(
        &self,
        plan: &Plan,
        inputs: &[Vec<f32>],
        mutations: usize,
    ) -> Result<(Audit, MutationCounts), CliError> {
        let limits = self.binding_limits();
        async fn both<H: Host>(
            host: &H,
            plan: &Plan,
            inputs: &[Vec<f32>],
            limits: &BindingLimits,
            mutations: usize,
        ) -> Result<(Audit, MutationCounts), CliError> {
            let audit = audit(host, plan, inputs, limits).await?;
            let counts = match mutations {
                0 => MutationCounts::default(),
                count => mutate(host, plan, inputs, count).await?,
            };
            Ok((audit, counts))
        }
        match self {
            Compiled::Gpu { gpu, network, .. } => {
                block_on(&gpu.device, both(network.resident(), plan, inputs, &limits, mutations))
            }
            Compiled::Cpu { host, .. } => pollster::block_on(both(host, plan, inputs, &limits, mutations)),
        }
    }
}
