//! The documents exist, and the map of the code names what is there.

use super::source::SourceFile;

const DOCUMENTS: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "docs/ALGORITHMS.md",
    "docs/ARCHITECTURE.md",
    "docs/BENCHMARK.md",
    "docs/COMPARE.md",
    "docs/DESIGN.md",
    "docs/EMBEDDING.md",
];
const MAP: &str = "docs/ARCHITECTURE.md";
const NO_TEST: &str = "No test holds this yet";

/// Documents that are missing or do not begin with a title.
pub fn missing_or_untitled(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    for path in DOCUMENTS {
        match files.iter().find(|f| f.path == *path) {
            None => findings.push(format!("{path}:1: missing")),
            Some(file) if !file.text.starts_with("# ") => findings.push(format!("{path}:1: no title")),
            Some(_) => {}
        }
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if !files.iter().any(|f| f.path == licence) {
            findings.push(format!("{licence}:1: missing"));
        }
    }
    findings
}

/// Paths of `src/`, `tests/`, `shaders/`, `examples/`, `scripts/` that the map names and the tree lacks.
/// `<name>` and `*` stand for any name.
pub fn stale_paths(files: &[SourceFile]) -> Vec<String> {
    let Some(map) = files.iter().find(|f| f.path == MAP) else {
        return vec![format!("{MAP}:1: missing")];
    };
    let mut findings = Vec::new();
    for folder in ["src/", "tests/", "shaders/", "examples/", "scripts/"] {
        for (at, _) in map.text.match_indices(folder) {
            let inside_a_path = map.text[..at].ends_with(|c: char| c.is_alphanumeric() || "/._-".contains(c));
            let path: String = map.text[at..].chars().take_while(|c| is_path_char(*c)).collect();
            let path = path.split("::").next().unwrap_or("").trim_end_matches(['.', ':', '/']);
            if !inside_a_path && !exists(files, path) {
                findings.push(map.finding(at, &format!("{path} does not exist")));
            }
        }
    }
    findings
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || "/._-<>*:".contains(c)
}

fn exists(files: &[SourceFile], path: &str) -> bool {
    match path.find(['<', '*']) {
        None => files.iter().any(|f| f.path == path || f.path.starts_with(&format!("{path}/"))),
        Some(wild) => {
            let ending = path.rsplit(['>', '*']).next().unwrap_or("");
            files.iter().any(|f| f.path.starts_with(&path[..wild]) && f.path.ends_with(ending))
        }
    }
}

/// Paragraphs marked as an invariant that name no test which exists, and do not own up to it.
pub fn invariants_without_test(files: &[SourceFile]) -> Vec<String> {
    let Some(map) = files.iter().find(|f| f.path == MAP) else {
        return vec![format!("{MAP}:1: missing")];
    };
    let mut findings = Vec::new();
    for (at, _) in map.text.match_indices("**Invariant:**") {
        let paragraph = map.text[at..].split("\n\n").next().unwrap_or("").replace('\n', " ");
        let mut tests = paragraph.split('`').skip(1).step_by(2).filter_map(|span| span.split_once("::"));
        if !paragraph.contains(NO_TEST) && !tests.any(|(path, name)| has_test(files, path, name)) {
            findings.push(map.finding(at, "names no test that exists"));
        }
    }
    findings
}

fn has_test(files: &[SourceFile], path: &str, name: &str) -> bool {
    files.iter().any(|f| f.path == path && f.text.contains(&format!("fn {name}(")))
}

#[test]
fn catches_missing_documents() {
    let good: Vec<_> = DOCUMENTS.iter().map(|path| SourceFile::new(path, "# Title\n")).collect();
    let mut files = good.clone();
    files.extend(["LICENSE-MIT", "LICENSE-APACHE"].map(|path| SourceFile::new(path, "")));
    assert!(missing_or_untitled(&files).is_empty());
    files[1].text = "no title\n".into();
    files.remove(0);
    assert_eq!(missing_or_untitled(&files), ["README.md:1: missing", "CHANGELOG.md:1: no title"]);
    assert_eq!(missing_or_untitled(&good).len(), 2, "both licences are missing");
}

#[test]
fn catches_stale_paths() {
    let text = "# Map\n`src/plan/` and src/plan/mod.rs, `src/plan/<x>.rs`, ../src/other\n\
                `src/gone.rs`: `tests/a.rs::works`\nsrc/plan/*.wgsl\n";
    let tree = [SourceFile::new(MAP, text), SourceFile::new("src/plan/mod.rs", "")];
    let expected = [
        "docs/ARCHITECTURE.md:3: src/gone.rs does not exist",
        "docs/ARCHITECTURE.md:4: src/plan/*.wgsl does not exist",
        "docs/ARCHITECTURE.md:3: tests/a.rs does not exist",
    ];
    assert_eq!(stale_paths(&tree), expected);
    assert_eq!(stale_paths(&[]).len(), 1);
}

#[test]
fn catches_invariants_without_a_test() {
    let text = "**Invariant:** one (`tests/a.rs::works`).\n\n**Invariant:** two (`tests/a.rs::gone`).\n\n\
                **Invariant:** three.\n\n**Invariant:** four. No test\nholds this yet.\n";
    let tree = [SourceFile::new(MAP, text), SourceFile::new("tests/a.rs", "fn works() {}")];
    let expected = [
        "docs/ARCHITECTURE.md:3: names no test that exists",
        "docs/ARCHITECTURE.md:5: names no test that exists",
    ];
    assert_eq!(invariants_without_test(&tree), expected);
}
