//! A dispatch in full, ready for a driver or for a browser.
#![allow(dead_code, reason = "each test binary uses its own part")]

use serde_json::{Value, json};
use sublet::legal::{Access, BoundRange};

/// One dispatch of a kernel with one uniform block at most.
pub struct Launch {
    pub wgsl: String,
    /// Storage bindings by their numbers in group 0.
    pub bindings: Vec<(u32, BoundRange)>,
    /// The uniform block at binding 0; empty where the kernel has none.
    pub params: Vec<u32>,
    pub workgroups: [u32; 3],
}

impl Launch {
    /// Its storage bindings, for the check.
    pub fn ranges(&self) -> Vec<BoundRange> {
        self.bindings.iter().map(|(_, range)| range.clone()).collect()
    }

    /// For a judge in another language.
    pub fn json(&self) -> Value {
        let binding = |(binding, range): &(u32, BoundRange)| {
            let access = if range.access == Access::Read { "read" } else { "read_write" };
            json!({
                "binding": binding,
                "buffer": range.buffer,
                "offset": range.bytes.start,
                "size": range.bytes.end - range.bytes.start,
                "access": access,
            })
        };
        json!({
            "code": self.wgsl,
            "bindings": self.bindings.iter().map(binding).collect::<Vec<_>>(),
            "params": self.params,
            "workgroups": self.workgroups,
        })
    }
}
