//! The documents whose examples are compiled and run with the doc tests; in no build but that.

#[doc = include_str!("../docs/ALGORITHMS.md")]
pub struct Algorithms;

#[cfg(feature = "gpu")]
#[doc = include_str!("../docs/EMBEDDING.md")]
pub struct Embedding;
