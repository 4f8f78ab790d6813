//! What several test files share.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod oracle;
pub mod records;
pub mod twin;
