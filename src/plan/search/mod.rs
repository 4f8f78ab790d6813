//! Search for the lowest peak.

pub(crate) mod index;
pub(crate) mod sections;
