//! Rules on plain text: length, whitespace, paths of one machine.

use super::source::SourceFile;

const MAX_COLUMNS: usize = 110;
const MAX_LINES: usize = 700;
const CODE_FOLDERS: &[&str] = &["src", "tests", "examples", "benches", "shaders", "scripts"];
const TEXT_ENDINGS: &[&str] =
    &[".rs", ".wgsl", ".md", ".toml", ".html", ".js", "scripts/test", "scripts/web", ".ci/run"];

/// Code files over 700 lines, and lines over 110 columns in them.
pub fn too_long(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    // Fixtures are data: a CSV or a plan file has the line length that it has.
    for file in files.iter().filter(|f| f.is_under(CODE_FOLDERS) && f.ends_with(TEXT_ENDINGS)) {
        let mut lines = 0;
        for line in file.text.lines() {
            lines += 1;
            let columns = line.chars().count();
            if columns > MAX_COLUMNS {
                findings.push(format!("{}:{lines}: {columns} columns, at most {MAX_COLUMNS}", file.path));
            }
        }
        if lines > MAX_LINES {
            findings.push(format!("{}:{lines}: {lines} lines, at most {MAX_LINES}", file.path));
        }
    }
    findings
}

/// Tabs, spaces at the end of a line, and files that do not end in one newline.
pub fn bad_whitespace(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|f| f.ends_with(TEXT_ENDINGS)) {
        for (index, line) in file.text.split('\n').enumerate() {
            let mut bad = |what: &str| findings.push(format!("{}:{}: {what}", file.path, index + 1));
            if line.contains('\t') {
                bad("a tab");
            }
            if line.ends_with([' ', '\t', '\r']) {
                bad("space at the end of the line");
            }
        }
        if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
            findings.push(format!(
                "{}:{}: ends in no newline or several",
                file.path,
                file.text.lines().count()
            ));
        }
    }
    findings
}

/// Absolute paths that exist on one machine only.
pub fn machine_paths(files: &[SourceFile]) -> Vec<String> {
    // Put together here, so that this file does not hold them.
    let paths: Vec<String> = ["work", "root", "home", "tmp"].iter().map(|dir| format!("/{dir}/")).collect();
    let mut findings = Vec::new();
    for file in files {
        for path in &paths {
            let at = file.text.match_indices(path.as_str());
            findings.extend(at.map(|(at, _)| file.finding(at, &format!("the machine path {path}"))));
        }
    }
    findings
}

#[test]
fn catches_long_lines_and_files() {
    let long = format!("short\n{}\n", "é".repeat(111));
    let found = too_long(&[SourceFile::new("shaders/a.wgsl", &long)]);
    assert_eq!(found, ["shaders/a.wgsl:2: 111 columns, at most 110"]);
    let found = too_long(&[SourceFile::new("src/a.rs", &"x\n".repeat(701))]);
    assert_eq!(found, ["src/a.rs:701: 701 lines, at most 700"]);
    let at_limit = format!("{}\n{}", "é".repeat(110), "x\n".repeat(699));
    assert!(too_long(&[SourceFile::new("src/a.rs", &at_limit)]).is_empty());
    assert!(too_long(&[SourceFile::new("docs/a.md", &long)]).is_empty());
}

#[test]
fn catches_bad_whitespace() {
    let found = bad_whitespace(&[SourceFile::new("src/a.rs", "a\n\tb\nc \nd\r\n")]);
    let space = "space at the end of the line";
    assert_eq!(
        found,
        ["src/a.rs:2: a tab".into(), format!("src/a.rs:3: {space}"), format!("src/a.rs:4: {space}")]
    );
    assert_eq!(bad_whitespace(&[SourceFile::new("README.md", "a")]).len(), 1);
    assert_eq!(bad_whitespace(&[SourceFile::new("README.md", "a\n\n")]).len(), 1);
    assert!(bad_whitespace(&[SourceFile::new("README.md", "a\n")]).is_empty());
}

#[test]
fn catches_machine_paths() {
    for dir in ["work", "root", "home", "tmp"] {
        let text = format!("first\ncargo run /{dir}/x\n");
        let found = machine_paths(&[SourceFile::new("docs/a.md", &text)]);
        assert_eq!(found, [format!("docs/a.md:2: the machine path /{dir}/")]);
    }
    assert!(machine_paths(&[SourceFile::new("docs/a.md", "../shared/models\n")]).is_empty());
}
