//! Pipelines of a device: one for each kernel, partition of its bindings and way to write (in one piece or in
//! rows), whatever the plans and networks.

use super::{Bound, ExecError};
use crate::kernel::KernelId;
use crate::legal::{Partition, merge, merge_rows};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use wgpu::{
    BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BufferBindingType, ComputePipeline,
    ComputePipelineDescriptor, Device, PipelineLayoutDescriptor, ShaderModuleDescriptor, ShaderSource,
    ShaderStages,
};

/// Pipelines made so far.
#[derive(Debug)]
pub(super) struct Pipelines {
    device: Device,
    made: Mutex<BTreeMap<(KernelId, Partition, bool), ComputePipeline>>,
}

impl Pipelines {
    pub(super) fn new(device: &Device) -> Self {
        Pipelines { device: device.clone(), made: Mutex::default() }
    }

    pub(super) fn count(&self) -> usize {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The pipeline of a dispatch's kernel with its bindings merged; made once.
    pub(super) fn get(&self, bound: &Bound) -> Result<ComputePipeline, ExecError> {
        let mut pipelines = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let Bound { kernel, partition, in_rows, .. } = bound;
        let key = (*kernel, partition.clone(), *in_rows);
        if let Some(found) = pipelines.get(&key) {
            return Ok(found.clone());
        }
        let (name, wgsl) = (kernel.kernel().name, kernel.kernel().wgsl);
        let merge = if *in_rows { merge_rows } else { merge };
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
        let pipeline = self.device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&layout),
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        pipelines.insert(key, pipeline.clone());
        Ok(pipeline)
    }
}
