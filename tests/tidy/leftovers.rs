//! What must not stay in the code: stubs, markers, tests switched off in silence, unwraps.

use super::source::{SourceFile, words};

/// Most `unwrap()` and `expect(` in `src/`, tests aside: a caller's mistake is an error, not a panic.
pub const UNWRAP_LIMIT: usize = 40;

const CODE_FOLDERS: &[&str] = &["src", "tests", "examples", "benches", "shaders"];

/// Known stubs, which other rules forgive as well. An entry whose stub is gone fails, so the list can only
/// shrink.
const UNFINISHED: &[&str] = &[];

/// Macros and markers of unfinished work. Put together here, so that this file does not hold them.
fn markers() -> (Vec<String>, Vec<String>) {
    let macros = [concat!("to", "do"), concat!("unimple", "mented"), concat!("d", "bg")];
    let words = [concat!("FIX", "ME"), concat!("X", "XX"), concat!("HA", "CK"), concat!("TO", "DO")];
    (macros.map(str::to_owned).to_vec(), words.map(str::to_owned).to_vec())
}

/// Unfinished code: macros that panic or print, markers in comments, `ignore` without a reason.
pub fn stubs(files: &[SourceFile]) -> Vec<String> {
    let (macros, marks) = markers();
    let mut findings = Vec::new();
    for file in files.iter().filter(|f| f.is_under(CODE_FOLDERS) && f.ends_with(&[".rs", ".wgsl"])) {
        let code = file.code();
        for name in &macros {
            for at in words(&code, name) {
                if code[at + name.len()..].starts_with('!') {
                    findings.push(file.finding(at, &format!("{name}!")));
                }
            }
        }
        for mark in &marks {
            findings.extend(words(&file.text, mark).into_iter().map(|at| file.finding(at, mark)));
        }
        let bare = concat!("#[ign", "ore]");
        findings.extend(code.match_indices(bare).map(|(at, _)| file.finding(at, "ignored without a reason")));
    }
    findings
}

/// Takes the known stubs out of the findings; one that is not found any more becomes a finding itself.
pub fn without_known(findings: Vec<String>) -> Vec<String> {
    subtract(findings, UNFINISHED)
}

fn subtract(findings: Vec<String>, known: &[&str]) -> Vec<String> {
    let is_of = |finding: &str, path: &str| finding.split(':').next() == Some(path);
    let stale = known.iter().filter(|path| !findings.iter().any(|f| is_of(f, path)));
    let stale: Vec<_> = stale.map(|path| format!("{path}:1: finished: take it off the list")).collect();
    let fresh = findings.into_iter().filter(|f| !known.iter().any(|path| is_of(f, path)));
    fresh.chain(stale).collect()
}

/// Takes the files with known stubs out of another rule's findings.
pub fn outside_stubs(mut findings: Vec<String>) -> Vec<String> {
    findings.retain(|f| !UNFINISHED.iter().any(|path| f.starts_with(&format!("{path}:"))));
    findings
}

/// Beginnings of the names of test files that need something a machine may lack, and of the reason they give.
const NEEDS: &[(&str, &str)] =
    &[("tests/vulkan_", "needs a Vulkan driver"), ("tests/browser", "needs headless Chromium")];

/// Tests that would run, and fail, on a machine without the driver or browser that they need.
pub fn needy_tests_without_ignore(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|f| f.path.ends_with(".rs")) {
        let Some((_, need)) = NEEDS.iter().find(|(start, _)| file.path.starts_with(start)) else { continue };
        for (at, marker) in file.code().match_indices("#[test]") {
            // The attributes of one test end at its function.
            let attributes = file.text[at + marker.len()..].split("fn ").next().unwrap_or("");
            if !attributes.contains(&format!("#[ignore = \"{need}")) {
                findings.push(file.finding(at, &format!("no #[ignore = \"{need}; ..\"]")));
            }
        }
    }
    findings
}

/// Every `.unwrap()` and `.expect(` of the library and the program, tests aside.
pub fn unwraps(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|f| f.path.starts_with("src/") && f.path.ends_with(".rs")) {
        let code = file.code_without_tests();
        for call in [".unwrap()", ".expect("] {
            findings.extend(code.match_indices(call).map(|(at, _)| file.finding(at, call)));
        }
    }
    findings
}

/// The library's one file of unsafe code, behind a feature; and the program's entry, before other threads.
const UNSAFE: &[&str] = &["src/device/driver.rs", "src/main.rs"];

/// Unsafe code of the library and the program, outside of those files.
pub fn unsafe_code(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|f| f.path.starts_with("src/") && f.path.ends_with(".rs")) {
        let code = file.code();
        if !UNSAFE.contains(&file.path.as_str()) {
            for word in ["unsafe", "unsafe_code"] {
                let at = words(&code, word).into_iter();
                findings.extend(at.filter(|_| file.path != "src/lib.rs").map(|at| file.finding(at, word)));
            }
        }
    }
    let root = files.iter().find(|f| f.path == "src/lib.rs");
    let rules = ["forbid(unsafe_code)", "deny(unsafe_code)"];
    if let Some(root) = root.filter(|root| !rules.iter().all(|rule| root.text.contains(rule))) {
        findings.push(format!("{}:1: forbids no unsafe code", root.path));
    }
    findings
}

#[test]
fn catches_unsafe_code() {
    let text = "fn f() {\n    unsafe { g() }\n} // unsafe\n";
    assert_eq!(unsafe_code(&[SourceFile::new("src/plan/a.rs", text)]), ["src/plan/a.rs:2: unsafe"]);
    let allowed = "#![allow(unsafe_code)]\n";
    assert_eq!(unsafe_code(&[SourceFile::new("src/a.rs", allowed)]), ["src/a.rs:1: unsafe_code"]);
    assert!(unsafe_code(&[SourceFile::new("src/device/driver.rs", text)]).is_empty());
    assert_eq!(unsafe_code(&[SourceFile::new("src/lib.rs", "mod a;\n")]).len(), 1);
}

#[test]
fn catches_stubs() {
    let (macros, marks) = markers();
    for name in macros {
        let text = format!("fn f() {{\n    {name}!(\"later\")\n}}\n");
        assert_eq!(stubs(&[SourceFile::new("src/a.rs", &text)]), [format!("src/a.rs:2: {name}!")]);
    }
    for mark in marks {
        let text = format!("// {mark}: wrong for 0\n");
        assert_eq!(stubs(&[SourceFile::new("shaders/a.wgsl", &text)]), [format!("shaders/a.wgsl:1: {mark}")]);
    }
    let ignored = format!("#[test]\n#[{}]\nfn f() {{}}\n", "ignore");
    assert_eq!(stubs(&[SourceFile::new("tests/a.rs", &ignored)]), ["tests/a.rs:2: ignored without a reason"]);
    let with_reason = "#[test]\n#[ignore = \"needs a driver\"]\nfn f() {}\n";
    assert!(stubs(&[SourceFile::new("tests/a.rs", with_reason)]).is_empty());
}

#[test]
fn known_stubs_are_forgiven_until_finished() {
    let found = vec!["src/a.rs:2: stub".to_owned(), "src/b.rs:3: stub".to_owned()];
    let rest = subtract(found, &["src/a.rs", "src/c.rs"]);
    assert_eq!(rest, ["src/b.rs:3: stub", "src/c.rs:1: finished: take it off the list"]);
}

#[test]
fn catches_needy_tests_without_a_reason() {
    let bad = "#[test]\nfn f() {}\n";
    for (path, need) in
        [("tests/vulkan_a.rs", "needs a Vulkan driver"), ("tests/browser.rs", "needs headless Chromium")]
    {
        let good = format!("#[test]\n#[ignore = \"{need}; scripts/test runs it\"]\nfn g() {{}}\n");
        let file = SourceFile::new(path, &format!("{good}{bad}"));
        assert_eq!(needy_tests_without_ignore(&[file]), [format!("{path}:4: no #[ignore = \"{need}; ..\"]")]);
    }
    assert!(needy_tests_without_ignore(&[SourceFile::new("tests/noop_a.rs", bad)]).is_empty());
}

#[test]
fn counts_unwraps_outside_tests_only() {
    let text = "fn f() {\n    a.unwrap();\n    b.expect(\"why\"); // c.unwrap()\n}\n\
                #[cfg(test)]\nmod tests {\n    fn g() { d.unwrap(); }\n}\nfn h() { e.unwrap_or(0); }\n";
    let found = unwraps(&[SourceFile::new("src/a.rs", text)]);
    assert_eq!(found, ["src/a.rs:2: .unwrap()", "src/a.rs:3: .expect("]);
    let many = "x.unwrap();\n".repeat(UNWRAP_LIMIT + 1);
    assert!(unwraps(&[SourceFile::new("src/a.rs", &many)]).len() > UNWRAP_LIMIT);
}
