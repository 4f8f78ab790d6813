//! The list of kernels: name, shader text, bindings, twin and tolerance of each.

/// Computes a dispatch on the CPU: parameter block, one slice an input (exactly the operand's range; four zeros where
/// absent), and the output's range. `output` holds the range's former contents on entry, as the device's binding does.
pub type Twin = fn(params: &[u32], inputs: &[&[f32]], output: &mut [f32]);

/// How far the device may differ from the twin: `|difference| <= absolute + relative * max |expected|`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Part that scales with the largest expected magnitude of the tensor.
    pub relative: f32,
    /// Constant part.
    pub absolute: f32,
}

/// One kernel.
#[derive(Debug)]
pub struct Kernel {
    /// Its id.
    pub id: KernelId,
    /// Name of its shader file without `.wgsl`.
    pub name: &'static str,
    /// Its WGSL, valid as it stands; inputs are declared `read`.
    pub wgsl: &'static str,
    /// Names of its inputs in binding order (bindings 1, 2, ..); the output's binding follows.
    pub inputs: &'static [&'static str],
    /// The same computation on the CPU.
    pub twin: Twin,
    /// Allowed difference between the two.
    pub tolerance: Tolerance,
}

/// Names a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KernelId {
    /// `shaders/copy.wgsl`: strided copy.
    Copy,
}

impl KernelId {
    /// Every kernel.
    pub const ALL: &'static [KernelId] = &[KernelId::Copy];

    /// The kernel behind the id.
    pub fn kernel(self) -> &'static Kernel {
        unimplemented!()
    }
}
