//! Everything encodes: bindings, limits and usage conflicts are validated by wgpu's noop backend, with
//! WebGPU's default limits. No driver, nothing runs.
#![cfg(feature = "cli")]

mod support;

use sublet::device::{DeviceArena, DeviceError, ErrorScopes, Profile, block_on};
use sublet::exec::{ExecError, Host, Layout, Network, lawful};
use sublet::graph::Graph;
use sublet::model::zoo;
use sublet::plan::{Alignment, Planner, Problem, Strategy};
use support::gpu::Gpu;
use support::graphs::{chain, odd_shapes, same_tensor_twice};

/// Builds, encodes and submits under every strategy; wgpu must find nothing.
fn encodes(gpu: &Gpu, graph: Graph) {
    let resident = gpu.resident(gpu.program(graph));
    for strategy in Strategy::ALL {
        let problem = &resident.program().usage.problem;
        let plan = gpu.planner(Planner::new(*strategy)).plan(problem).unwrap();
        let network = gpu.network(&resident, &plan);
        let scopes = ErrorScopes::open(&gpu.device);
        gpu.queue.submit([network.encode().finish()]);
        block_on(&gpu.device, scopes.close("a run", 0)).unwrap_or_else(|e| panic!("{strategy}: {e}"));
        lawful(&resident.bound(&plan).unwrap(), &gpu.limits.binding_limits()).unwrap();
    }
}

#[test]
fn built_in_networks_encode_under_every_strategy() {
    let gpu = Gpu::noop(|_| ());
    for name in zoo::names() {
        encodes(&gpu, zoo::build(name).unwrap());
    }
}

#[test]
fn small_graphs_encode_under_every_strategy() {
    let gpu = Gpu::noop(|_| ());
    for graph in [same_tensor_twice(5), same_tensor_twice(1000), odd_shapes(), chain(7, 12)] {
        encodes(&gpu, graph);
    }
}

/// Every layout on every kind of device that is listed: what the planner says fits encodes there.
#[test]
fn every_profile_and_layout_encodes() {
    for profile in Profile::all() {
        let wanted = profile.wgpu_limits();
        let gpu = Gpu::noop(|limits| *limits = wanted);
        assert_eq!(gpu.limits, profile.limits, "{}", profile.name);
        for layout in Layout::ALL {
            for graph in [zoo::build("mobilenet_v2").unwrap(), same_tensor_twice(700), odd_shapes()] {
                let program = gpu.program_in(graph, *layout);
                let plan = gpu.planner_for(Planner::auto(), *layout).plan(&program.usage.problem).unwrap();
                let resident = gpu.resident(program);
                let network = gpu.network(&resident, &plan);
                let scopes = ErrorScopes::open(&gpu.device);
                gpu.queue.submit([network.encode().finish()]);
                let verdict = block_on(&gpu.device, scopes.close("a run", 0));
                verdict.unwrap_or_else(|e| panic!("{} {layout}: {e}", profile.name));
            }
        }
    }
}

/// A plan made for a stricter device runs on a looser one; the other way round is refused.
#[test]
fn plans_travel_from_strict_to_loose_only() {
    let of = |alignment: u64, bytes: u64| {
        let mut problem = Problem::new(Alignment::new(alignment).unwrap());
        problem.tensor("a", 40_000_100, 0..=1).unwrap();
        problem.tensor("b", 40_000_100, 0..=1).unwrap();
        let plan = Planner::auto().max_buffer_bytes(bytes).plan(&problem).unwrap();
        (problem, plan)
    };
    let strict = Gpu::noop(|limits| limits.max_buffer_size = 64 << 20);
    let loose = Gpu::noop(|limits| {
        limits.max_buffer_size = 1 << 30;
        limits.min_storage_buffer_offset_alignment = 32;
    });
    let arena = |gpu: &Gpu, (problem, plan): &(Problem, sublet::plan::Plan)| {
        block_on(&gpu.device, DeviceArena::new(&gpu.device, problem, plan)).map(|arena| arena.buffers().len())
    };
    let (for_strict, for_loose, fine) = (of(256, 64 << 20), of(256, 1 << 30), of(32, 64 << 20));
    assert_eq!(arena(&strict, &for_strict), Ok(2));
    assert_eq!(arena(&loose, &for_strict), Ok(2));
    assert_eq!(arena(&loose, &for_loose), Ok(1));
    assert!(matches!(
        arena(&strict, &for_loose),
        Err(DeviceError::OverLimit { limit: "max_buffer_size", .. })
    ));
    assert_eq!(arena(&loose, &fine), Ok(2));
    let finer = of(32, 1 << 30);
    assert!(matches!(
        arena(&strict, &finer),
        Err(DeviceError::Alignment { .. } | DeviceError::OverLimit { .. })
    ));
}

/// A plan made under one profile's limits is held by every profile that allows as much; where the other
/// allows less than the plan takes, it is refused with both numbers.
#[test]
fn plans_travel_between_profiles_from_strict_to_loose_only() {
    let planned = |profile: &Profile| {
        let mut problem = Problem::new(Alignment::new(profile.limits.storage_alignment_bytes).unwrap());
        for name in ["a", "b", "c"] {
            problem.tensor(name, 100 << 20, 0..=1).unwrap();
        }
        let plan = Planner::auto().max_buffer_bytes(profile.limits.max_buffer_bytes);
        let plan = plan.max_binding_bytes(profile.limits.max_binding_bytes).plan(&problem).unwrap();
        (problem, plan)
    };
    let (mut held, mut refused) = (0, 0);
    for to in ["default", "chrome"].map(|name| Profile::find(name).unwrap()) {
        let gpu = Gpu::noop(|limits| *limits = to.wgpu_limits());
        for from in Profile::all() {
            let (problem, plan) = planned(&from);
            let arena = block_on(&gpu.device, DeviceArena::new(&gpu.device, &problem, &plan));
            let what = format!("from {} to {}", from.name, to.name);
            assert!(
                to.limits.max_buffer_bytes >= from.limits.max_buffer_bytes || !to.limits.cover(&from.limits)
            );
            if from.limits.max_buffer_bytes <= to.limits.max_buffer_bytes {
                assert_eq!(arena.map(|a| a.buffers().len()), Ok(plan.arenas().len()), "{what}");
                held += 1;
            } else {
                let error = arena.map(|_| ()).unwrap_err();
                let available = to.limits.max_buffer_bytes;
                let over = matches!(&error, DeviceError::OverLimit {
                    needed_bytes, limit: "max_buffer_size", available_bytes, .. }
                    if *needed_bytes == 300 << 20 && *available_bytes == available);
                assert!(over, "{what}: {error}");
                refused += 1;
            }
        }
    }
    assert_eq!((held, refused), (3 + 11, 8));
}

/// Pipelines depend on kernels and on how their bindings are merged, not on plans: another network of the
/// same kind makes none, another plan only those for partitions that are new.
#[test]
fn pipelines_are_made_once_for_each_kernel_and_partition() {
    let gpu = Gpu::noop(|_| ());
    let resident = gpu.resident(gpu.program(zoo::build("mobilenet_v2").unwrap()));
    let problem = &resident.program().usage.problem;
    let mut known = std::collections::BTreeSet::new();
    assert_eq!(resident.pipeline_count(), 0);
    for strategy in [Strategy::GreedyBySize, Strategy::GreedyBySize, Strategy::Naive] {
        let plan = gpu.planner(Planner::new(strategy)).plan(problem).unwrap();
        let network = gpu.network(&resident, &plan);
        known.extend(resident.bound(&plan).unwrap().into_iter().map(|b| (b.kernel, b.partition)));
        assert_eq!(resident.pipeline_count(), known.len(), "{strategy}");
        assert!(known.len() < resident.program().dispatch_count(), "{strategy}");
        drop(network);
    }
}

/// The negative control: an unmerged kernel that reads and writes one buffer is what wgpu refuses (case 6).
#[test]
fn wgpu_refuses_what_the_partition_would_have_mended() {
    use sublet::kernel::KernelId;
    use sublet::legal::{Partition, merge};
    let gpu = Gpu::noop(|_| ());
    let kernel = KernelId::Binary.kernel();
    let apart = Partition { survivor: vec![0, 1, 2], writable: vec![false, false, true] };
    let mended = Partition { survivor: vec![2, 2, 2], writable: vec![true; 3] };
    let refused = |partition: &Partition| {
        let module = merge(kernel.name, kernel.wgsl, partition).unwrap();
        let scopes = ErrorScopes::open(&gpu.device);
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(module)),
        });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let buffer = |usage| {
            let size = 4096;
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let (arena, params) = (buffer(wgpu::BufferUsages::STORAGE), buffer(wgpu::BufferUsages::UNIFORM));
        let part = |buffer, offset, size| wgpu::BufferBinding {
            buffer,
            offset,
            size: std::num::NonZeroU64::new(size),
        };
        let mut entries =
            vec![wgpu::BindGroupEntry { binding: 0, resource: part(&params, 0, 1024).into_binding() }];
        for i in partition.survivors() {
            let binding = i as u32 + 1;
            entries.push(wgpu::BindGroupEntry {
                binding,
                resource: part(&arena, i as u64 * 256, 256).into_binding(),
            });
        }
        let layout = &pipeline.get_bind_group_layout(0);
        let group = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        let group = gpu.device.create_bind_group(&group);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(1, 1, 1);
        drop(pass);
        drop(encoder.finish());
        block_on(&gpu.device, scopes.close("a dispatch", 0))
    };
    let text = refused(&apart).unwrap_err().to_string();
    assert!(text.contains("conflicting usages"), "{text}");
    refused(&mended).unwrap();
}

trait IntoBinding<'a> {
    fn into_binding(self) -> wgpu::BindingResource<'a>;
}

impl<'a> IntoBinding<'a> for wgpu::BufferBinding<'a> {
    fn into_binding(self) -> wgpu::BindingResource<'a> {
        wgpu::BindingResource::Buffer(self)
    }
}

/// Case 12 of the collected reports: 640,000,000 bytes with limits left at their defaults.
#[test]
fn an_arena_over_the_limits_is_refused_by_tensor_bytes_and_limit() {
    let gpu = Gpu::noop(|_| ());
    let mut problem = Problem::new(Alignment::new(256).unwrap());
    problem.tensor("activations", 640_000_000, 0..=1).unwrap();
    let plan = Planner::auto().plan(&problem).unwrap();
    let error = block_on(&gpu.device, DeviceArena::new(&gpu.device, &problem, &plan)).unwrap_err();
    assert!(matches!(error, DeviceError::OverLimit { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("activations") && text.contains("640000000") && text.contains("268435456"),
        "{text}"
    );
    assert!(text.contains("max_buffer_size"), "{text}");
    // The planner that knows the limits names the tensor.
    let planner = gpu.planner(Planner::auto()).max_binding_bytes(gpu.limits.max_binding_bytes);
    let error = planner.plan(&problem).unwrap_err().to_string();
    assert!(
        error.contains("activations") && error.contains("640,000,000") && error.contains("134,217,728"),
        "{error}"
    );
}

#[test]
fn a_plan_finer_than_the_device_is_refused_by_the_arena_and_carried_by_the_network() {
    let gpu = Gpu::noop(|_| ());
    let mut problem = Problem::new(Alignment::new(4).unwrap());
    problem.tensor("a", 100, 0..=1).unwrap();
    problem.tensor("b", 100, 0..=1).unwrap();
    let plan = Planner::auto().plan(&problem).unwrap();
    let error = block_on(&gpu.device, DeviceArena::new(&gpu.device, &problem, &plan)).unwrap_err();
    assert!(matches!(error, DeviceError::Alignment { device_bytes: 256, .. }), "{error:?}");
}

#[test]
fn a_plan_for_another_problem_is_refused() {
    let gpu = Gpu::noop(|_| ());
    let resident = gpu.resident(gpu.program(chain(64, 4)));
    let other = gpu.program(chain(65, 4));
    let plan = Planner::auto().plan(&other.usage.problem).unwrap();
    let refused = block_on(&gpu.device, Network::new(resident, &plan));
    assert!(matches!(refused, Err(ExecError::Violation(_))));
}

/// Case 14 in small: a plan over the largest buffer becomes several arenas that all encode.
#[test]
fn a_plan_over_the_largest_buffer_becomes_several_arenas() {
    let gpu = Gpu::noop(|limits| limits.max_buffer_size = 16 << 20);
    let resident = gpu.resident(gpu.program(chain(3_000_000, 6)));
    let plan = gpu.planner(Planner::auto()).plan(&resident.program().usage.problem).unwrap();
    assert_eq!(plan.arenas().len(), 2, "{:?}", plan.arenas());
    assert!(plan.arenas().iter().all(|bytes| *bytes <= 16 << 20));
    let network = gpu.network(&resident, &plan);
    assert_eq!(network.arena().buffers().len(), 2);
    assert_eq!(network.arena().bytes(), plan.peak_bytes());
}
