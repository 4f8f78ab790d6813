//! Error scopes around a group of wgpu calls, so that a refusal is an `Err` and not a panic.

use super::DeviceError;
use wgpu::{Device, Error, ErrorFilter, ErrorScopeGuard};

/// Open scopes for all three kinds of error. Must be closed on the thread that opened them.
#[must_use = "a scope that is not closed swallows its errors"]
pub struct ErrorScopes {
    guards: [ErrorScopeGuard; 3],
}

impl ErrorScopes {
    /// Opens the scopes; every wgpu call until [`ErrorScopes::close`] is covered.
    pub fn open(device: &Device) -> Self {
        let guards = [ErrorFilter::Internal, ErrorFilter::OutOfMemory, ErrorFilter::Validation]
            .map(|filter| device.push_error_scope(filter));
        ErrorScopes { guards }
    }

    /// Closes the scopes. The future resolves at once natively, later in a browser.
    ///
    /// # Errors
    /// The first error that was raised, naming `what` and, when out of memory, `bytes`.
    pub fn close(self, what: &str, bytes: u64) -> impl Future<Output = Result<(), DeviceError>> + use<> {
        let [internal, memory, validation] = self.guards;
        // Scopes pop in reverse order of opening; popping takes effect before the futures are awaited.
        let (validation, memory, internal) = (validation.pop(), memory.pop(), internal.pop());
        let what = what.to_owned();
        async move {
            let found = [memory.await, validation.await, internal.await];
            match found.into_iter().flatten().next() {
                None => Ok(()),
                Some(Error::OutOfMemory { .. }) => Err(DeviceError::OutOfMemory { what, bytes }),
                Some(error) => Err(DeviceError::Refused { what, reason: error.to_string() }),
            }
        }
    }
}
