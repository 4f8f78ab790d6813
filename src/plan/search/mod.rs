//! Search for the lowest peak.

pub(crate) mod board;
pub(crate) mod core;
pub(crate) mod exact;
pub(crate) mod index;
pub(crate) mod limits;
pub(crate) mod lower;
pub(crate) mod part;
pub(crate) mod portfolio;
pub(crate) mod repair;
pub(crate) mod sections;
