//! What is computed at import: arithmetic and data movement on constants.
//!
//! Results equal those of ONNX Runtime bit for bit where both are exact (integers, float32 sums,
//! products, casts). Large weights are made this way, so operands are changed in place where nobody
//! else holds them.

mod arithmetic;
mod layout;
mod power;

pub(super) use arithmetic::{binary, cast, compare, modulo, range, select, unary};
pub(super) use layout::{concat, expand, gather, slice, transpose};
pub(super) use power::power;
