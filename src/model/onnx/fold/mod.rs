//! What is computed at import apart from the twins: the arithmetic of shapes, on integers of 64 bits as files
//! have them, and movement of constants of either kind.
//!
//! Operands are changed in place where nobody else holds them.

mod arithmetic;
mod layout;

pub(super) use arithmetic::{binary, cast, compare, is_binary, modulo, range, select, unary};
pub(super) use layout::{concat, expand, gather, slice, transpose};
