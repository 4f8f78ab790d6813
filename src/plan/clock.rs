//! The clock that deadlines are measured with. The standard library's panics on wasm32-unknown-unknown;
//! feature `web` puts the browser's in its place.

#[cfg(all(target_arch = "wasm32", feature = "web"))]
pub(crate) use web_time::Instant;

#[cfg(not(all(target_arch = "wasm32", feature = "web")))]
pub(crate) use std::time::Instant;
