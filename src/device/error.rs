//! What a device refuses. Over a limit, out of memory and lost are three different things.

/// An arena, buffer or transfer that did not come about.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A buffer or tensor is larger than the device allows.
    #[error("'{what}' needs {needed_bytes} bytes, the device's {limit} is {available_bytes} bytes")]
    OverLimit {
        /// The tensor or buffer.
        what: String,
        /// Its bytes.
        needed_bytes: u64,
        /// Name of the limit.
        limit: &'static str,
        /// The limit.
        available_bytes: u64,
    },
    /// The judge refuses the plan.
    #[error("the plan is not valid: {0}")]
    Plan(#[from] crate::plan::Violation),
    /// A plan whose offsets the device cannot bind.
    #[error("'{tensor}' lies at byte {offset_bytes}, the device binds at multiples of {device_bytes} bytes")]
    Alignment {
        /// The tensor.
        tensor: String,
        /// Its offset.
        offset_bytes: u64,
        /// Alignment of the device.
        device_bytes: u64,
    },
    /// The device has no memory left.
    #[error("the device is out of memory while creating '{what}' ({bytes} bytes)")]
    OutOfMemory {
        /// The buffer.
        what: String,
        /// Its bytes.
        bytes: u64,
    },
    /// The device is gone (removed, reset or destroyed).
    #[error("the device is lost: {reason}")]
    Lost {
        /// What wgpu says.
        reason: String,
    },
    /// wgpu refused a call.
    #[error("wgpu refused {what}: {reason}")]
    Refused {
        /// What was asked.
        what: String,
        /// wgpu's words.
        reason: String,
    },
    /// Another number of buffers than the plan has arenas.
    #[error("the plan has {needed} arenas, {given} buffers were given")]
    ArenaCount {
        /// Arenas of the plan.
        needed: usize,
        /// Buffers given.
        given: usize,
    },
    /// A buffer that was given is shorter than what is to lie in it.
    #[error("'{what}' needs {needed_bytes} bytes, the buffer given has {given_bytes}")]
    TooSmall {
        /// The arena or weight.
        what: String,
        /// Its bytes.
        needed_bytes: u64,
        /// Bytes given.
        given_bytes: u64,
    },
    /// A session that would pass the budget of its pool; nothing was allocated for it.
    #[error(
        "session '{session}' needs {needed_bytes} bytes more, {held_bytes} are held: {over_bytes} bytes over \
         the budget of {budget_bytes}; largest at its peak: {largest}"
    )]
    OverBudget {
        /// The session.
        session: String,
        /// Bytes that it adds.
        needed_bytes: u64,
        /// Bytes held for the sessions that are there.
        held_bytes: u64,
        /// The budget.
        budget_bytes: u64,
        /// By how much it would be passed.
        over_bytes: u64,
        /// Its largest tensors where most of its bytes live, with their sizes.
        largest: String,
    },
    /// The key of a session that left, or a view of buffers that were replaced since.
    #[error("{what} is gone: {reason}")]
    Gone {
        /// What the key stood for.
        what: String,
        /// What became of it.
        reason: &'static str,
    },
}
