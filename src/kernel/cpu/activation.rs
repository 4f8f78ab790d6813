//! The function that a convolution applies before it stores an element.

/// Code and constants as they stand in the parameter block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Activation {
    code: u32,
    a: f32,
    b: f32,
}

impl Activation {
    /// From the words `act`, `act_a`, `act_b`.
    pub(super) fn read(words: [u32; 3]) -> Self {
        Activation { code: words[0], a: f32::from_bits(words[1]), b: f32::from_bits(words[2]) }
    }

    /// `activate` of the shaders.
    pub(super) fn apply(self, x: f32) -> f32 {
        match self.code {
            1 => x.max(0.0),
            2 => x.max(self.a).min(self.b),
            3 if x < 0.0 => self.a * x,
            _ => x,
        }
    }
}
