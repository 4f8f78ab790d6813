//! A network as a session of a pool: it shares arenas with whoever else is in its lane, and equal weights
//! with everybody, and pipelines as well.

use super::commands::{Buffers, Commands, ParamBlocks};
use super::network::planned;
use super::resident::refuse_io_over_limit;
use super::weights::Piece;
use super::{Bound, BufferKey, ExecError, Program, WeightMap, bind, lawful};
use crate::device::{
    ArenaPool, DeviceLimits, Gate, Generation, Lane, Lease, Readback, Session, SessionSpec, Uploader, Weight,
    WeightSource,
};
use crate::graph::{Graph, ValueId};
use crate::plan::Plan;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::{Buffer, BufferUsages, CommandEncoderDescriptor};

/// A network in an [`ArenaPool`]. Its inputs, outputs and parameters are state of its session, so that
/// nothing writes to a shared arena but its own command buffer. Runs may be asked for from any thread; they
/// take turns, within the network and within its lane.
#[derive(Debug)]
pub struct PooledNetwork {
    session: Session,
    program: Arc<Program>,
    plan: Plan,
    pieces: Vec<Piece>,
    running: Arc<Gate>,
    built: Mutex<Option<Built>>,
}

/// What has been built for the buffers as they are.
#[derive(Debug, Clone)]
struct Built {
    generation: Generation,
    on_device: Arc<OnDevice>,
    commands: Arc<Commands>,
}

/// What is good for as long as the device is.
#[derive(Debug)]
struct OnDevice {
    bound: Vec<Bound>,
    blocks: ParamBlocks,
    readback: Readback,
    /// Buffers that hold weights, as [`BufferKey::Weights`] counts them.
    weights: Vec<Buffer>,
}

/// Indices of a session's state buffers.
struct StateIndex {
    outputs: usize,
    params: usize,
    zeros: usize,
    staging: usize,
}

impl PooledNetwork {
    /// Plans a graph for the pool's device, with every pass, and joins: the short way.
    ///
    /// # Errors
    /// The graph, the planner or the pool refuses; see [`ExecError`].
    pub async fn compile(pool: &ArenaPool, graph: Graph, lane: Lane) -> Result<Self, ExecError> {
        let label = graph.name.clone();
        let (program, plan) = planned(&pool.limits(), graph)?;
        Self::join(pool, label, Arc::new(program), &plan, lane).await
    }

    /// Joins a pool with a program under a plan. The program's constants are where its weights come from; a
    /// pool that moves to another device reads them again.
    ///
    /// # Errors
    /// The plan is not valid for the program, a dispatch is unlawful, or the pool refuses. Nothing of the
    /// session stays allocated then.
    pub async fn join(
        pool: &ArenaPool,
        label: impl Into<String>,
        program: Arc<Program>,
        plan: &Plan,
        lane: Lane,
    ) -> Result<Self, ExecError> {
        let limits = pool.limits();
        refuse_io_over_limit(&program, limits.max_buffer_bytes)?;
        let map = WeightMap::new(&program, limits.storage_alignment_bytes, limits.max_buffer_bytes);
        lawful(&bind(&program, plan, &map, &limits.binding_limits())?, &limits.binding_limits())?;
        let mut spec = SessionSpec::new(label, &program.usage.problem, plan).lane(lane).in_segments();
        for id in program.graph.inputs.iter().chain(&program.graph.outputs) {
            let value = program.graph.get(*id);
            spec = spec.state(value.name.clone(), value.size_bytes().next_multiple_of(16).max(16));
        }
        spec = spec
            .state_for("parameters", params_bytes(&program), BufferUsages::UNIFORM | BufferUsages::COPY_DST)
            .state("zeros", 16)
            .state_for("staging", staging_bytes(&program), BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        for piece in &map.pieces {
            let label = program.graph.get(piece.value).name.clone();
            spec = spec.weight(Weight::new(label, Constant { program: program.clone(), piece: *piece }));
        }
        let session = pool.join(spec).await?;
        let (plan, pieces) = (plan.clone(), map.pieces);
        let network = PooledNetwork {
            session,
            program,
            plan,
            pieces,
            running: Arc::default(),
            built: Mutex::default(),
        };
        let lease = network.session.lease().await?;
        network.built(&lease).await.map_err(|error| network.explain(error))?;
        drop(lease);
        Ok(network)
    }

    /// Runs the network once: inputs in, one submission, outputs back in the graph's order.
    ///
    /// # Errors
    /// Inputs of the wrong number or size, the session left, there is no memory for a lane that was trimmed,
    /// or the device is lost.
    pub async fn run(&self, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, ExecError> {
        self.program.check_inputs(inputs)?;
        let _turn = self.running.enter().await;
        self.run_alone(inputs).await.map_err(|error| self.explain(error))
    }

    async fn run_alone(&self, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, ExecError> {
        let lease = self.session.lease().await?;
        let built = self.built(&lease).await?;
        let mut uploader = Uploader::new(lease.device(), lease.queue());
        for (i, data) in inputs.iter().enumerate() {
            uploader.write(state(&lease, i), 0, bytemuck::cast_slice(data)).await?;
        }
        let descriptor = CommandEncoderDescriptor { label: Some("sublet pooled run") };
        let mut encoder = lease.device().create_command_encoder(&descriptor);
        built.commands.record(&mut encoder);
        let graph = &self.program.graph;
        let first = self.index().outputs;
        let output =
            |(i, id): (usize, &ValueId)| (state(&lease, first + i).clone(), 0..graph.get(*id).size_bytes());
        let outputs: Vec<(Buffer, Range<u64>)> = graph.outputs.iter().enumerate().map(output).collect();
        let ranges: Vec<_> = outputs.iter().map(|(buffer, bytes)| (buffer, bytes.clone())).collect();
        let mut _state = None;
        let submitted = || _state = Some(lease.end_turn());
        let words = built.on_device.readback.read_then(Some(encoder), &ranges, submitted).await?;
        let mut rest = words.iter().map(|w| f32::from_bits(*w));
        Ok(graph.outputs.iter().map(|id| rest.by_ref().take(graph.get(*id).len()).collect()).collect())
    }

    /// Pipelines and bind groups for the buffers that the lease shows.
    async fn built(&self, lease: &Lease) -> Result<Built, ExecError> {
        let slot = || self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let before = slot().clone();
        let generation = lease.generation();
        if let Some(built) = before.as_ref().filter(|built| built.generation == generation) {
            return Ok(built.clone());
        }
        let on_device = match before.filter(|built| built.generation.same_device(generation)) {
            Some(built) => built.on_device,
            None => Arc::new(self.on_device(lease).await?),
        };
        let index = self.index();
        let arenas: Vec<&Buffer> = lease.arenas().collect();
        let of = |key| match key {
            BufferKey::Arena(i) => arenas[i],
            BufferKey::Input(i) => state(lease, i),
            BufferKey::Output(i) => state(lease, index.outputs + i),
            BufferKey::Weights(i) => &on_device.weights[i],
            BufferKey::Zeros => state(lease, index.zeros),
        };
        let buffers = Buffers { params: state(lease, index.params), of };
        let OnDevice { bound, blocks, .. } = &*on_device;
        let (device, pipelines) = (lease.device(), lease.pipelines());
        let commands = Commands::new(device, pipelines, &self.program, bound, blocks, buffers).await?;
        let built = Built { generation, on_device: on_device.clone(), commands: Arc::new(commands) };
        *slot() = Some(built.clone());
        Ok(built)
    }

    async fn on_device(&self, lease: &Lease) -> Result<OnDevice, ExecError> {
        let limits = DeviceLimits::new(&lease.device().limits());
        let mut weights: Vec<Buffer> = Vec::new();
        let mut pieces = Vec::with_capacity(self.pieces.len());
        for (i, piece) in self.pieces.iter().enumerate() {
            let view = lease.weight(i).expect("every piece is a weight of the session");
            let known = weights.iter().position(|buffer| buffer == view.buffer);
            let buffer = known.unwrap_or_else(|| {
                weights.push(view.buffer.clone());
                weights.len() - 1
            });
            pieces.push(Piece { buffer, offset_bytes: view.bytes.start, ..*piece });
        }
        let map = WeightMap::placed(weights.iter().map(Buffer::size).collect(), pieces);
        let bound = bind(&self.program, &self.plan, &map, &limits.binding_limits())?;
        lawful(&bound, &limits.binding_limits())?;
        let blocks = ParamBlocks::pack(&bound, limits.uniform_alignment_bytes);
        let index = self.index();
        let mut uploader = Uploader::new(lease.device(), lease.queue());
        uploader.write(state(lease, index.params), 0, &blocks.bytes).await?;
        uploader.flush().await;
        let readback = Readback::over(lease.device(), lease.queue(), state(lease, index.staging));
        Ok(OnDevice { bound, blocks, readback, weights })
    }

    /// The session in its pool.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    fn index(&self) -> StateIndex {
        let outputs = self.program.graph.inputs.len();
        let params = outputs + self.program.graph.outputs.len();
        StateIndex { outputs, params, zeros: params + 1, staging: params + 2 }
    }

    fn explain(&self, error: ExecError) -> ExecError {
        match error {
            ExecError::Device(error) => ExecError::Device(self.session.pool().explain(error)),
            error => error,
        }
    }
}

fn state(lease: &Lease, index: usize) -> &Buffer {
    lease.state(index).expect("the session was joined with this state")
}

/// Room for the parameter blocks of all dispatches on any device: 256 is the coarsest alignment there is.
fn params_bytes(program: &Program) -> u64 {
    let blocks = program.steps.iter().flatten().map(|d| (d.params.len() as u64 * 4).next_multiple_of(256));
    blocks.sum::<u64>().max(256)
}

fn staging_bytes(program: &Program) -> u64 {
    let outputs: u64 = program.graph.outputs.iter().map(|id| program.graph.get(*id).size_bytes()).sum();
    outputs.clamp(4, Uploader::CHUNK_BYTES)
}

/// A range of a constant of a program.
struct Constant {
    program: Arc<Program>,
    piece: Piece,
}

impl WeightSource for Constant {
    fn bytes(&self) -> Cow<'_, [u8]> {
        let words = self.program.graph.get(self.piece.value).words().unwrap_or_default();
        let Piece { start_len, len, .. } = self.piece;
        Cow::Borrowed(bytemuck::cast_slice(&words[start_len..start_len + len]))
    }
}
