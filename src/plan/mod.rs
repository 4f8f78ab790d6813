//! Floor 0, pure: the planner.

/// What the planner refuses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Stub.
    #[error("stub")]
    Stub,
}
