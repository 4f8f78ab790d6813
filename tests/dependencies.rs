//! Rules on the dependencies: their licences, and the oldest compiler that they build with.
//!
//! On one's own machine those of this platform are looked at, which needs no network; with `CI=true` those of
//! every platform.

use std::process::Command;

use serde_json::Value;

/// Licences that a program may take over into any other, with a notice at most.
const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether an SPDX expression can be met with allowed licences alone: one of an OR, all of an AND, which
/// binds closer. `/` is how OR was written once.
fn allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (met, read) = any(&words);
    met && read == words.len()
}

/// Alternatives; whether one is met, and how many words they take.
fn any(words: &[&str]) -> (bool, usize) {
    let (mut met, mut read) = all(words);
    while words.get(read) == Some(&"OR") {
        let (next, len) = all(&words[read + 1..]);
        (met, read) = (met | next, read + 1 + len);
    }
    (met, read)
}

fn all(words: &[&str]) -> (bool, usize) {
    let (mut met, mut read) = one(words);
    while words.get(read) == Some(&"AND") {
        let (next, len) = one(&words[read + 1..]);
        (met, read) = (met & next, read + 1 + len);
    }
    (met, read)
}

fn one(words: &[&str]) -> (bool, usize) {
    match words {
        ["(", rest @ ..] => {
            let (met, read) = any(rest);
            (met && rest.get(read) == Some(&")"), read + 2)
        }
        [id, "WITH", exception, ..] => (ALLOWED.contains(&format!("{id} WITH {exception}").as_str()), 3),
        [id, ..] => (ALLOWED.contains(id), 1),
        [] => (false, 0),
    }
}

/// A version as numbers; what is left out is 0.
fn version(text: &str) -> [u64; 3] {
    let mut numbers = text.split('.').map(|part| part.parse().unwrap_or(0));
    [0; 3].map(|_: u64| numbers.next().unwrap_or(0))
}

/// Every package that any feature brings, this one included.
fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(&cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["metadata", "--format-version", "1", "--locked", "--all-features"]);
    if std::env::var("CI").as_deref() != Ok("true") {
        let version = Command::new(&cargo).args(["-vV"]).output().unwrap();
        let text = String::from_utf8(version.stdout).unwrap();
        let host = text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        command.args(["--filter-platform", host]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn every_dependency_has_a_licence_that_may_be_taken_over() {
    let packages = packages();
    assert!(packages.len() > 50, "{}", packages.len());
    let bad: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(allowed))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(bad.is_empty(), "not among the licences allowed:\n{}", bad.join("\n"));
}

/// What the manifest promises (`rust-version`) is not less than what a dependency asks for.
#[test]
fn no_dependency_asks_for_a_newer_compiler_than_promised() {
    let packages = packages();
    let of = |package: &Value| package["rust_version"].as_str().map(version);
    let ours = packages.iter().find(|p| p["name"] == "sublet").and_then(of).unwrap();
    let bad: Vec<String> = packages
        .iter()
        .filter(|package| of(package).is_some_and(|theirs| theirs > ours))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["rust_version"]))
        .collect();
    assert!(bad.is_empty(), "newer than {ours:?}:\n{}", bad.join("\n"));
}

#[test]
fn expressions_are_read_as_they_are_meant() {
    for good in [
        "MIT",
        "MIT/Apache-2.0",
        "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
        "GPL-3.0 OR (MIT AND Zlib)",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(allowed(good), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "GPL-3.0 AND (MIT OR Zlib)",
        "(MIT OR Zlib",
        "MIT Zlib",
        "MIT WITH some-exception",
    ] {
        assert!(!allowed(bad), "{bad}");
    }
    assert!(version("1.87") < version("1.87.1") && version("1.9") < version("1.87"));
}
