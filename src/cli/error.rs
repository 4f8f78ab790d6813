//! What the command line answers when it cannot do what was asked.

use serde_json::{Value, json};

use crate::device::DeviceError;
use crate::exec::ExecError;
use crate::graph::GraphError;
use crate::model::ModelError;
use crate::plan::{MisfitTensor, PlanError, Violation};

/// An error with the facts that a machine wants apart from the sentence.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct CliError {
    /// `usage`, `input`, `io`, `limit`, `capacity` or `violation`.
    pub kind: &'static str,
    /// One sentence.
    pub message: String,
    /// The tensor to blame.
    pub tensor: Option<Box<str>>,
    /// The step at which it goes wrong.
    pub step: Option<u32>,
    /// Name of the limit that is exceeded.
    pub limit: Option<&'static str>,
    /// Bytes needed.
    pub needed: Option<u64>,
    /// Bytes available.
    pub available: Option<u64>,
    /// Tensors that do not fit together; empty unless a capacity is too small.
    pub tensors: Box<[MisfitTensor]>,
    /// Whether that they do not fit is proven; `None` unless a capacity is too small.
    pub proven: Option<bool>,
    /// Whether a check failed (exit code 1) or the usage or an input is bad (2).
    pub check_failed: bool,
}

impl CliError {
    /// Something is wrong with an argument or an input file: exit code 2.
    pub fn input(message: impl Into<String>) -> Self {
        CliError {
            kind: "input",
            message: message.into(),
            tensor: None,
            step: None,
            limit: None,
            needed: None,
            available: None,
            tensors: Box::default(),
            proven: None,
            check_failed: false,
        }
    }

    /// The arguments are not understood: exit code 2. `rendered` is the parser's text; what it says
    /// about usage in general is left out.
    pub fn usage(rendered: &str) -> Self {
        let sentence = rendered.trim_start_matches("error: ").split("\nUsage:").next().unwrap_or_default();
        let sentence = sentence.split("\nFor more information").next().unwrap_or_default();
        let message = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
        CliError { kind: "usage", ..CliError::input(message) }
    }

    /// A check failed: exit code 1.
    pub fn check(kind: &'static str, message: impl Into<String>) -> Self {
        CliError { kind, check_failed: true, ..CliError::input(message) }
    }

    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        if self.check_failed { 1 } else { 2 }
    }

    /// The error object of `--json`.
    pub fn to_json(&self) -> Value {
        let mut object = json!({
            "kind": self.kind,
            "message": self.message,
            "tensor": self.tensor,
            "step": self.step,
            "limit": self.limit,
            "needed": self.needed,
            "available": self.available,
        });
        if let Some(proven) = self.proven {
            object["tensors"] = json!(self.tensors);
            object["proven"] = json!(proven);
        }
        object
    }
}

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> Self {
        let mut cli = match &error {
            PlanError::Invalid(_) => CliError::check("violation", error.to_string()),
            PlanError::OverBinding { .. } | PlanError::OverBuffer { .. } => {
                CliError::check("limit", error.to_string())
            }
            PlanError::OverCapacity(misfit) => CliError {
                tensors: misfit.tensors.clone().into(),
                proven: Some(misfit.proven),
                ..CliError::check("capacity", error.to_string())
            },
            PlanError::Io { .. } => CliError { kind: "io", ..CliError::input(error.to_string()) },
            _ => CliError::input(error.to_string()),
        };
        cli.tensor = error.tensor().map(Into::into);
        cli.step = error.step();
        if let Some((limit, needed, available)) = error.limit() {
            cli.limit = Some(limit);
            (cli.needed, cli.available) = (Some(needed), Some(available));
        }
        cli
    }
}

impl From<Violation> for CliError {
    fn from(violation: Violation) -> Self {
        PlanError::from(violation).into()
    }
}

impl From<GraphError> for CliError {
    fn from(error: GraphError) -> Self {
        match error {
            GraphError::Plan(error) => error.into(),
            error => CliError::input(error.to_string()),
        }
    }
}

impl From<ModelError> for CliError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Graph(error) => error.into(),
            ModelError::Io { .. } => CliError { kind: "io", ..CliError::input(error.to_string()) },
            error => CliError::input(error.to_string()),
        }
    }
}

impl From<DeviceError> for CliError {
    fn from(error: DeviceError) -> Self {
        let message = error.to_string();
        match error {
            DeviceError::OverLimit { what, needed_bytes, limit, available_bytes } => CliError {
                tensor: Some(what.into()),
                limit: Some(limit),
                needed: Some(needed_bytes),
                available: Some(available_bytes),
                ..CliError::check("limit", message)
            },
            DeviceError::OutOfMemory { bytes, .. } => {
                CliError { needed: Some(bytes), ..CliError::check("memory", message) }
            }
            DeviceError::Lost { .. } => CliError::check("lost", message),
            _ => CliError::check("device", message),
        }
    }
}

impl From<ExecError> for CliError {
    fn from(error: ExecError) -> Self {
        let message = error.to_string();
        match error {
            ExecError::Graph(error) => error.into(),
            ExecError::Plan(error) => error.into(),
            ExecError::Violation(violation) => violation.into(),
            ExecError::Device(error) => error.into(),
            ExecError::TensorOverLimit { tensor, needed_bytes, available_bytes, .. } => CliError {
                tensor: Some(tensor.into()),
                limit: Some("max_storage_buffer_binding_size"),
                needed: Some(needed_bytes),
                available: Some(available_bytes),
                ..CliError::check("limit", message)
            },
            ExecError::Unlawful(_) => CliError::check("unlawful", message),
            _ => CliError::input(message),
        }
    }
}
