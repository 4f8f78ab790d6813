//! Pipelines of a device: one for each kernel, partition of its bindings and way to write (in one piece or in
//! rows), whatever the plans and networks.

use crate::legal::{MergeError, Partition, merge, merge_rows};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use wgpu::{
    BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BufferBindingType, ComputePipeline,
    ComputePipelineDescriptor, Device, PipelineLayoutDescriptor, ShaderModuleDescriptor, ShaderSource,
    ShaderStages,
};

/// Pipelines made so far, for any thread.
#[derive(Debug)]
pub(crate) struct Pipelines {
    device: Device,
    keep: bool,
    /// Locked for moments; compiling locks its own slot alone.
    slots: Mutex<BTreeMap<Key, Arc<Mutex<Slot>>>>,
}

/// A kernel as a dispatch binds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shader<'a> {
    /// No two kernels have one name.
    pub(crate) name: &'static str,
    pub(crate) wgsl: &'a str,
    /// Which of its bindings are merged.
    pub(crate) partition: &'a Partition,
    pub(crate) in_rows: bool,
}

/// Kernel, partition, whether it writes in rows.
type Key = (&'static str, Partition, bool);

#[derive(Debug, Default)]
struct Slot {
    pipeline: Weak<ComputePipeline>,
    _kept: Option<Arc<ComputePipeline>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pipelines {
    /// Pipelines that stay for as long as this does.
    pub(crate) fn kept(device: &Device) -> Self {
        Pipelines { device: device.clone(), keep: true, slots: Mutex::default() }
    }

    /// Pipelines that go with the last one who uses them.
    pub(crate) fn shared(device: &Device) -> Self {
        Pipelines { device: device.clone(), keep: false, slots: Mutex::default() }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        // A slot that is locked is compiling: it is no pipeline yet.
        let there = |slot: &&Arc<Mutex<Slot>>| slot.try_lock().is_ok_and(|s| s.pipeline.strong_count() > 0);
        lock(&self.slots).values().filter(there).count()
    }

    /// The pipeline of a kernel with its bindings merged; made once.
    ///
    /// # Errors
    /// The kernel's bindings cannot be merged so.
    pub(crate) fn get(&self, shader: Shader) -> Result<Arc<ComputePipeline>, MergeError> {
        let slot = self.slot(shader);
        let mut slot = lock(&slot);
        if let Some(found) = slot.pipeline.upgrade() {
            return Ok(found);
        }
        let made = Arc::new(self.compile(shader)?);
        *slot = Slot { pipeline: Arc::downgrade(&made), _kept: self.keep.then(|| made.clone()) };
        Ok(made)
    }

    fn slot(&self, shader: Shader) -> Arc<Mutex<Slot>> {
        let mut slots = lock(&self.slots);
        let key = (shader.name, shader.partition.clone(), shader.in_rows);
        if let Some(slot) = slots.get(&key) {
            return slot.clone();
        }
        // Whoever is about to compile holds the slot.
        slots.retain(|_, slot| Arc::strong_count(slot) > 1 || lock(slot).pipeline.strong_count() > 0);
        slots.entry(key).or_default().clone()
    }

    fn compile(&self, shader: Shader) -> Result<ComputePipeline, MergeError> {
        let Shader { name, wgsl, partition, in_rows } = shader;
        let merge = if in_rows { merge_rows } else { merge };
        let module = self.device.create_shader_module(ShaderModuleDescriptor {
            label: Some(name),
            source: ShaderSource::Naga(Cow::Owned(merge(name, wgsl, partition)?)),
        });
        let storage =
            |i: usize| (i as u32 + 1, BufferBindingType::Storage { read_only: !partition.writable[i] });
        let entries =
            std::iter::once((0, BufferBindingType::Uniform)).chain(partition.survivors().map(storage));
        let entry = |(binding, ty)| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let entries: Vec<_> = entries.map(entry).collect();
        let layout = BindGroupLayoutDescriptor { label: Some(name), entries: &entries };
        let layout = self.device.create_bind_group_layout(&layout);
        let layout = self.device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: Some(name),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        Ok(self.device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&layout),
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        }))
    }
}
