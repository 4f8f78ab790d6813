//! Drives the binary.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A file of tests/data.
pub fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string()
}

/// Runs `sublet` and returns exit code, stdout and stderr.
pub fn sublet(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sublet")).args(args).output().expect("the binary starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
}

/// Runs `sublet .. --json`; stdout must be one JSON object.
pub fn json(args: &[&str]) -> (i32, Value) {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let (code, out, err) = sublet(&args);
    let value: Value =
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}\nstdout: {out}\nstderr: {err}"));
    assert!(value.is_object(), "{out}");
    (code, value)
}
