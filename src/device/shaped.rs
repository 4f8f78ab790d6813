//! Arenas for every shape within bounds.

use super::{DeviceArena, DeviceError, View};
use crate::plan::{Plan, Shape, ShapedProblem, TensorId};
use wgpu::Device;

/// The arenas of a plan at the bounds of a [`ShapedProblem`]. A tensor has its offset at every shape, and a
/// view as long as it is there: what grows from run to run stays where it is, and nothing is copied.
#[derive(Debug)]
pub struct ShapedArena {
    arena: DeviceArena,
    shaped: ShapedProblem,
}

impl ShapedArena {
    /// Creates the arenas of a plan for [`ShapedProblem::bound`].
    ///
    /// # Errors
    /// As [`DeviceArena::new`].
    pub async fn new(device: &Device, shaped: &ShapedProblem, plan: &Plan) -> Result<Self, DeviceError> {
        let arena = DeviceArena::new(device, shaped.bound(), plan).await?;
        Ok(ShapedArena { arena, shaped: shaped.clone() })
    }

    /// The view of a tensor at a shape, or `None` where it has no bytes there.
    pub fn view(&self, tensor: TensorId, shape: &Shape) -> Option<View<'_>> {
        let size = self.shaped.size_bytes(tensor, shape);
        let View { buffer, bytes } = self.arena.view(tensor)?;
        let end = (bytes.start + size).next_multiple_of(4);
        (size > 0).then_some(View { buffer, bytes: bytes.start..end })
    }

    /// The arenas.
    pub fn arena(&self) -> &DeviceArena {
        &self.arena
    }
}
