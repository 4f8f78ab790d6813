//! Search: what goes beyond the published strategies.

pub(crate) mod exact;
pub(crate) mod lower;
