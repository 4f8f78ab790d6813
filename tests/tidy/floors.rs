//! Which floor may import which: downwards only, and the pure floors know no wgpu.

use super::source::{SourceFile, words};

/// Folders (or files) of `src/` and their floor.
const FLOORS: &[(&str, u8)] = &[
    ("plan", 0),
    ("legal", 0),
    ("graph", 1),
    ("kernel", 1),
    ("model", 2),
    ("device", 2),
    ("exec", 3),
    ("draw", 3),
    ("cli", 4),
    ("main", 4),
];

/// Imports that the numbers allow and the design does not: an engine with its own graph takes `plan` and
/// `device` alone; pictures need no GPU; a kernel's text is merged by others.
const FORBIDDEN: &[(&str, &[&str])] =
    &[("plan", &["legal"]), ("device", &["graph", "kernel", "model"]), ("draw", &["device", "exec"])];

const PURE: &[&str] = &["plan", "legal", "graph", "kernel", "model", "draw"];

/// Name of the floor that a path of `src/` belongs to; `lib.rs` belongs to none, nor do the documents
/// that the doc tests read.
fn floor_name(path: &str) -> Option<&'static str> {
    let rest = path.strip_prefix("src/")?;
    let top = rest.split('/').next()?.trim_end_matches(".rs");
    FLOORS.iter().map(|(name, _)| *name).find(|name| *name == top)
}

fn level(name: &str) -> Option<u8> {
    FLOORS.iter().find(|(n, _)| *n == name).map(|(_, l)| *l)
}

/// Imports that go to a higher floor, or that the design forbids.
pub fn upward_imports(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|f| f.path.starts_with("src/") && f.path.ends_with(".rs")) {
        let Some(own) = floor_name(&file.path) else {
            if !["src/lib.rs", "src/documents.rs"].contains(&file.path.as_str()) {
                findings.push(format!("{}:1: belongs to no floor", file.path));
            }
            continue;
        };
        for (at, name) in root_imports(&file.path, &file.code()) {
            let upward = level(&name) > level(own);
            let forbidden =
                FORBIDDEN.iter().any(|(floor, bad)| *floor == own && bad.contains(&name.as_str()));
            if upward || forbidden {
                findings.push(file.finding(at, &format!("'{own}' imports '{name}'")));
            }
        }
    }
    findings
}

/// Names that the code takes from the crate's root, with their positions: after `crate::`, `sublet::`, and
/// after as many `super::` as the file lies deep.
fn root_imports(path: &str, code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for root in ["crate", "sublet"] {
        for at in words(code, root) {
            if let Some(rest) = after_colons(&code[at + root.len()..]) {
                found.extend(heads(rest).into_iter().map(|name| (at, name)));
            }
        }
    }
    let depth = module_depth(path);
    for at in words(code, "super") {
        let before = code[..at].trim_end();
        if before.ends_with("super::") {
            continue;
        }
        let (mut rest, mut ups) = (&code[at..], 0);
        while let Some(next) = rest.strip_prefix("super").and_then(after_colons) {
            (rest, ups) = (next, ups + 1);
        }
        if ups >= depth {
            found.extend(heads(rest).into_iter().map(|name| (at, name)));
        }
    }
    found.retain(|(_, name)| level(name).is_some());
    found
}

/// Modules between the crate's root and the code of a file: 1 for `src/plan/mod.rs`, 2 for `src/plan/csv.rs`.
fn module_depth(path: &str) -> usize {
    let parts = path.split('/').count() - 1;
    if path.ends_with("/mod.rs") { parts - 1 } else { parts }
}

fn after_colons(rest: &str) -> Option<&str> {
    rest.trim_start().strip_prefix("::").map(str::trim_start)
}

/// First names of a path or of each member of a `{..}` group.
fn heads(rest: &str) -> Vec<String> {
    let ident = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = rest.strip_prefix('{') else {
        return vec![ident(rest)];
    };
    let (mut depth, mut names, mut member) = (0, Vec::new(), String::new());
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => names.push(std::mem::take(&mut member)),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                member.push(c);
            }
        }
    }
    names.push(member);
    names.iter().map(|m| ident(m.trim_start())).filter(|m| !m.is_empty()).collect()
}

/// Places where a pure floor names wgpu in code, or a path of it anywhere.
pub fn wgpu_in_pure_floors(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|f| floor_name(&f.path).is_some_and(|floor| PURE.contains(&floor))) {
        let mut at = words(&file.code(), "wgpu");
        // A link of a doc comment would need the crate as well.
        at.extend(words(&file.text, "wgpu").into_iter().filter(|at| file.text[at + 4..].starts_with("::")));
        at.sort_unstable();
        at.dedup();
        findings.extend(at.iter().map(|at| file.finding(*at, "a pure floor names wgpu")));
    }
    findings
}

#[test]
fn catches_upward_imports() {
    let bad = [
        ("src/plan/bound.rs", "use crate::graph::Graph;"),
        ("src/plan/bound.rs", "use super::super::graph::Graph;"),
        ("src/plan/mod.rs", "use super::device::Arena;"),
        ("src/plan/mod.rs", "use crate::legal::merge;"),
        ("src/graph/mod.rs", "use crate::{\n    plan::{Problem, Plan},\n    exec::Network,\n};"),
        ("src/graph/passes/fold.rs", "fn f() -> crate :: model::Zoo { todo() }"),
        ("src/device/arena.rs", "use crate::kernel::KernelId;"),
        ("src/device/arena.rs", "use crate::model::zoo;"),
        ("src/draw/svg.rs", "use crate::exec::Network;"),
        ("src/exec/run.rs", "use sublet::cli::Args;"),
        ("src/extra.rs", ""),
    ];
    for (path, text) in bad {
        let found = upward_imports(&[SourceFile::new(path, text)]);
        assert_eq!(found.len(), 1, "{path}: {text}: {found:?}");
        assert!(found[0].starts_with(&format!("{path}:1: ")), "{found:?}");
    }
}

#[test]
fn lets_downward_imports_pass() {
    let good = [
        ("src/lib.rs", "pub mod exec;"),
        ("src/plan/bound.rs", "use super::problem::Problem; // crate::exec is above\n"),
        ("src/plan/strategy/naive.rs", "use super::super::problem::Problem; use crate::plan::Plan;"),
        ("src/device/arena.rs", "use crate::{legal, plan::Plan};"),
        ("src/main.rs", "use sublet::exec::Network; mod cli;"),
        ("src/draw/svg.rs", "use crate::plan::Plan; use crate::graph::Graph;"),
    ];
    for (path, text) in good {
        assert_eq!(upward_imports(&[SourceFile::new(path, text)]), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn catches_wgpu_in_pure_floors() {
    let bad = [
        ("src/legal/merge.rs", "\nuse wgpu::Buffer;"),
        ("src/plan/report.rs", "\n/// See [`wgpu::Limits`]."),
        ("src/kernel/mod.rs", "\n#[cfg(feature = \"gpu\")] extern crate wgpu;"),
    ];
    for (path, text) in bad {
        let found = wgpu_in_pure_floors(&[SourceFile::new(path, text)]);
        assert_eq!(found, [format!("{path}:2: a pure floor names wgpu")]);
    }
    let good =
        [("src/plan/mod.rs", "// as wgpu does\nlet s = \"wgpu\";"), ("src/exec/run.rs", "use wgpu::Queue;")];
    for (path, text) in good {
        assert!(wgpu_in_pure_floors(&[SourceFile::new(path, text)]).is_empty(), "{path}");
    }
}
