//! The activations of recurrent cells, as in their shaders.

use super::unary::{hyperbolic_tangent, limit, sigmoid};

/// An activation, read from a parameter block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gate {
    kind: u32,
    a: f32,
    b: f32,
    clip: f32,
}

impl Gate {
    /// Kind and constants from word `at` on.
    pub(super) fn read(params: &[u32], at: usize, clip: f32) -> Gate {
        let float = |i: usize| f32::from_bits(params[i]);
        Gate { kind: params[at], a: float(at + 1), b: float(at + 2), clip }
    }

    /// Clips, then activates.
    pub(super) fn open(self, v: f32) -> f32 {
        self.activate(if self.clip > 0.0 { limit(v, -self.clip, self.clip) } else { v })
    }

    /// Activates alone.
    pub(super) fn activate(self, w: f32) -> f32 {
        let Gate { kind, a, b, .. } = self;
        match kind {
            0 => sigmoid(w),
            1 => hyperbolic_tangent(w),
            2 if w < 0.0 => 0.0,
            2 => w,
            3 => a * w + b,
            4 if w < 0.0 => a * w,
            4 => w,
            5 if w > a => w,
            5 => 0.0,
            6 => a * hyperbolic_tangent(b * w),
            7 => limit(a * w + b, 0.0, 1.0),
            8 if w < 0.0 => a * (w.exp() - 1.0),
            8 => w,
            9 => w / (1.0 + w.abs()),
            _ => w.max(0.0) + (1.0 + (-w.abs()).exp()).ln(),
        }
    }
}
