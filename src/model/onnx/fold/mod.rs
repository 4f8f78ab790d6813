//! What is computed at import apart from the twins: the arithmetic of shapes, on integers of 64 bits as
//! files have them, and what large weights are made by: movement of constants of either kind, and
//! arithmetic of floats that equals the twins' bit for bit.
//!
//! Operands are changed in place where nobody else holds them.

mod arithmetic;
mod layout;

pub(super) use arithmetic::{binary, cast, compare, is_binary, modulo, range, select, unary};
pub(super) use layout::{concat, expand, gather, slice, transpose};
