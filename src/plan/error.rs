//! What the planner refuses, always with the tensor (or file) and both numbers.

use super::report::grouped;
use super::{Misfit, Violation};

/// A problem, a limit or a file that the planner refuses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Not an alignment.
    #[error("an alignment is a power of two from 1 to 65536 bytes, not {bytes}")]
    Alignment {
        /// What was asked for.
        bytes: u64,
    },
    /// A usage interval that ends before it starts, or whose last step is no step number.
    #[error("tensor '{tensor}': steps {first}..={last} are no usage interval (first <= last < {})", u32::MAX)]
    Interval {
        /// The tensor.
        tensor: String,
        /// First step asked for.
        first: u32,
        /// Last step asked for.
        last: u32,
    },
    /// Two tensors of one label.
    #[error("tensor '{tensor}' exists already: labels are unique")]
    DuplicateLabel {
        /// The label.
        tensor: String,
    },
    /// The sizes do not add up in 64 bits.
    #[error(
        "tensor '{tensor}' of {} bytes: the sizes of all tensors, aligned, sum to \
         more than 64 bits hold ({} bytes before it)",
        grouped(*.size_bytes), grouped(*.total_bytes)
    )]
    Overflow {
        /// The tensor that makes the sum overflow.
        tensor: String,
        /// Its size.
        size_bytes: u64,
        /// Sum before it.
        total_bytes: u64,
    },
    /// More tensors than ids.
    #[error("tensor '{tensor}' would be number 2^32")]
    TooManyTensors {
        /// The tensor that was one too many.
        tensor: String,
    },
    /// An id of some other problem.
    #[error("tensor id {id} is none of this problem, which has {tensors} tensors")]
    UnknownTensor {
        /// The id.
        id: u32,
        /// Number of tensors here.
        tensors: usize,
    },
    /// A pin that its tensor's alignment forbids.
    #[error("tensor '{tensor}' cannot be pinned at byte {offset_bytes}: its alignment is {align_bytes}")]
    PinMisaligned {
        /// The tensor.
        tensor: String,
        /// The pin.
        offset_bytes: u64,
        /// The alignment.
        align_bytes: u64,
    },
    /// Two pins that meet in steps and bytes.
    #[error(
        "tensors '{first}' and '{second}' are pinned over each other at byte {byte} and \
         live together at step {step}"
    )]
    PinsOverlap {
        /// One tensor.
        first: String,
        /// The other.
        second: String,
        /// A step at which both live.
        step: u32,
        /// A byte that both hold.
        byte: u64,
    },
    /// In-place was asked for an input that is still read later, or dies earlier.
    #[error(
        "'{output}' cannot take the bytes of '{input}': '{input}' is last used at step {input_last}, \
         '{output}' first at step {output_first}{}",
        if .input_last > .output_first { " (it is still needed)" } else { "" }
    )]
    InPlaceSteps {
        /// The tensor that wanted the bytes.
        output: String,
        /// The tensor that holds them.
        input: String,
        /// First step of the output.
        output_first: u32,
        /// Last step of the input.
        input_last: u32,
    },
    /// In-place was asked for an output larger than its input.
    #[error(
        "'{output}' ({output_bytes} bytes) does not fit into the bytes of '{input}' ({input_bytes} bytes)"
    )]
    InPlaceSize {
        /// The tensor that wanted the bytes.
        output: String,
        /// The tensor that holds them.
        input: String,
        /// Size of the output.
        output_bytes: u64,
        /// Size of the input.
        input_bytes: u64,
    },
    /// Permissions that run in a circle: of tensors that live in one step alone, none comes first.
    #[error("'{output}' cannot take the bytes of '{input}': '{input}' may already take those of '{output}'")]
    InPlaceCircle {
        /// The tensor that wanted the bytes.
        output: String,
        /// The tensor that holds them.
        input: String,
    },
    /// In-place and keep exclude each other.
    #[error(
        "'{output}' cannot take the bytes of '{input}' at step {step}: \
         '{input}' is kept until the run is over"
    )]
    InPlaceKept {
        /// The tensor that wanted the bytes.
        output: String,
        /// The kept tensor.
        input: String,
        /// First step of the output.
        step: u32,
    },
    /// A view that reaches past its base.
    #[error("view '{view}' needs bytes {byte_offset}..{end} of '{base}', which has {base_bytes}")]
    ViewOutside {
        /// The view.
        view: String,
        /// Its base.
        base: String,
        /// First byte inside the base.
        byte_offset: u64,
        /// One past the last byte inside the base, or `u64::MAX` where that overflows.
        end: u64,
        /// Size of the base.
        base_bytes: u64,
    },
    /// A view that would be a view of itself, or of two bases.
    #[error("'{view}' cannot be a view of '{base}': {why}")]
    View {
        /// The view.
        view: String,
        /// Its base.
        base: String,
        /// The rule that is broken.
        why: &'static str,
    },
    /// A pin or an alignment on a view.
    #[error("'{view}' is a view of '{base}' and lies where its base does: set the {what} of '{base}'")]
    ViewConstraint {
        /// The view.
        view: String,
        /// Its base.
        base: String,
        /// `pin` or `alignment`.
        what: &'static str,
    },
    /// Tensors that must not share an arena and must share bytes.
    #[error("'{first}' and '{second}' cannot lie in different arenas: {why}")]
    Separate {
        /// One tensor.
        first: String,
        /// The other.
        second: String,
        /// What binds them.
        why: &'static str,
    },
    /// A tensor in pieces that its constraints take for whole.
    #[error("tensor '{tensor}' cannot be in pieces: it is pinned, a view, a view's base, or used in place")]
    InPieces {
        /// The tensor.
        tensor: String,
    },
    /// More steps than a picture has columns for.
    #[error("a picture has at most {limit} steps, this one would have {steps}")]
    TooManySteps {
        /// Steps of the problem.
        steps: u32,
        /// Most that are drawn.
        limit: u32,
    },
    /// A file that is no memory snapshot.
    #[error("{file}: {what}")]
    Snapshot {
        /// File name.
        file: String,
        /// The part of the file and what is wrong with it.
        what: String,
    },
    /// No plan within a hard capacity was found.
    #[error("{0}")]
    OverCapacity(Box<Misfit>),
    /// A tensor larger than one binding of the device.
    #[error(
        "tensor '{tensor}' needs {} bytes, one binding holds at most {}",
        grouped(*.size_bytes), grouped(*.limit_bytes)
    )]
    OverBinding {
        /// The tensor.
        tensor: String,
        /// Its size.
        size_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// A tensor that no single buffer of the device holds.
    #[error(
        "tensor '{tensor}' needs a buffer of {} bytes, one buffer holds at most {}",
        grouped(*.needed_bytes), grouped(*.limit_bytes)
    )]
    OverBuffer {
        /// The tensor.
        tensor: String,
        /// Its size, plus its pinned offset where it has one.
        needed_bytes: u64,
        /// The limit, rounded down to a multiple of the alignment.
        limit_bytes: u64,
    },
    /// A strategy nobody knows.
    #[error("unknown strategy '{name}'; did you mean '{nearest}'?")]
    UnknownStrategy {
        /// What was asked for.
        name: String,
        /// The most similar known name.
        nearest: &'static str,
    },
    /// A line of a CSV file that is no usage record.
    #[error("{file}, line {line}, {field}: {what}")]
    Csv {
        /// File name.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column name.
        field: String,
        /// The value and what is wrong with it.
        what: String,
    },
    /// A plan file that is not one, or was edited.
    #[error("{file}: {what}")]
    PlanFile {
        /// File name.
        file: String,
        /// The part of the file and what is wrong with it.
        what: String,
    },
    /// A file that cannot be read or written.
    #[error("cannot {action} {file}: {why}")]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// File name.
        file: String,
        /// The operating system's words.
        why: String,
    },
    /// A dimension, or a tensor of dimensions, that is not as it must be.
    #[error("dimension or tensor '{name}' {what}")]
    Dimension {
        /// Its name.
        name: String,
        /// What is wrong, with both numbers.
        what: String,
    },
    /// Iterations of a recorder that do not follow one another.
    #[error("an iteration {what}")]
    Iteration {
        /// What it does.
        what: &'static str,
    },
    /// A block that another recorder handed out.
    #[error("a block of {size_bytes} bytes is released to a recorder that did not hand it out")]
    ForeignBlock {
        /// Its bytes.
        size_bytes: u64,
    },
    /// A plan that the judge refuses.
    #[error(transparent)]
    Invalid(#[from] Violation),
}

impl From<Box<PlanError>> for PlanError {
    fn from(boxed: Box<PlanError>) -> Self {
        *boxed
    }
}

impl PlanError {
    /// The one tensor to blame, where there is one; of two, the one that asked.
    pub fn tensor(&self) -> Option<&str> {
        match self {
            PlanError::Interval { tensor, .. }
            | PlanError::DuplicateLabel { tensor }
            | PlanError::Overflow { tensor, .. }
            | PlanError::TooManyTensors { tensor }
            | PlanError::PinMisaligned { tensor, .. }
            | PlanError::OverBinding { tensor, .. }
            | PlanError::InPieces { tensor }
            | PlanError::OverBuffer { tensor, .. } => Some(tensor),
            PlanError::PinsOverlap { first, .. } | PlanError::Separate { first, .. } => Some(first),
            PlanError::OverCapacity(misfit) => misfit.tensors.first().map(|t| t.label.as_str()),
            PlanError::InPlaceSteps { output, .. }
            | PlanError::InPlaceCircle { output, .. }
            | PlanError::InPlaceSize { output, .. }
            | PlanError::InPlaceKept { output, .. } => Some(output),
            PlanError::ViewOutside { view, .. }
            | PlanError::View { view, .. }
            | PlanError::ViewConstraint { view, .. } => Some(view),
            PlanError::Invalid(violation) => violation.tensor(),
            _ => None,
        }
    }

    /// The step at which it goes wrong, where there is one.
    pub fn step(&self) -> Option<u32> {
        match self {
            PlanError::PinsOverlap { step, .. } | PlanError::InPlaceKept { step, .. } => Some(*step),
            PlanError::InPlaceSteps { output_first, .. } => Some(*output_first),
            PlanError::OverCapacity(misfit) => misfit.step.map(|s| s.index() as u32),
            PlanError::Invalid(violation) => violation.step().map(|s| s.index() as u32),
            _ => None,
        }
    }

    /// Name of the device limit, bytes needed, bytes available: where a limit is what refuses.
    pub fn limit(&self) -> Option<(&'static str, u64, u64)> {
        match self {
            PlanError::OverBinding { size_bytes, limit_bytes, .. } => {
                Some(("max_binding_bytes", *size_bytes, *limit_bytes))
            }
            PlanError::OverBuffer { needed_bytes, limit_bytes, .. } => {
                Some(("max_buffer_bytes", *needed_bytes, *limit_bytes))
            }
            PlanError::OverCapacity(misfit) => Some(("capacity", misfit.needed_bytes, misfit.capacity_bytes)),
            _ => None,
        }
    }
}
