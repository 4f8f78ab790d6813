//! What several test files share.
#![allow(dead_code)] // each test file uses its own part

pub mod oracle;
pub mod twin;
