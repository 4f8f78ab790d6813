//! The library has one clock, since the standard one panics in a browser.

use super::source::{SourceFile, words};

/// May name the standard clock: the module that chooses one, and what only a terminal runs.
const ALLOWED: &[&str] = &["src/plan/clock.rs", "src/cli/", "src/main.rs"];

/// Files of the library that measure time with the standard library's clocks.
pub fn standard_clocks(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    let library = |f: &&SourceFile| f.path.starts_with("src/") && f.path.ends_with(".rs");
    for file in files.iter().filter(library).filter(|f| !ALLOWED.iter().any(|a| f.path.starts_with(a))) {
        let code = file.code();
        for at in words(&code, "time") {
            let path = code[..at].ends_with("std::").then(|| &code[at..]);
            let used = path.and_then(|p| p.split(';').next()).unwrap_or("");
            if ["Instant", "SystemTime"].iter().any(|clock| !words(used, clock).is_empty()) {
                findings.push(file.finding(at, "a clock of std; plan/clock.rs has one for every target"));
            }
        }
    }
    findings
}

#[test]
fn catches_standard_clocks() {
    for text in
        ["use std::time::Instant;", "use std::time::{Duration, Instant};", "std::time::SystemTime::now();"]
    {
        assert_eq!(standard_clocks(&[SourceFile::new("src/plan/a.rs", text)]).len(), 1, "{text}");
        assert!(standard_clocks(&[SourceFile::new("src/cli/a.rs", text)]).is_empty());
    }
    let good = "use std::time::Duration;\nuse super::clock::Instant;\n";
    assert!(standard_clocks(&[SourceFile::new("src/plan/a.rs", good)]).is_empty());
}
