//! Examples run as programs.

use std::fmt::Debug;
use std::process::Command;

/// Set for the process that runs an example.
const CHILD: &str = "SUBLET_TEST_RUNS_AN_EXAMPLE";

/// What an example prints with these arguments, in a process of its own: this test's binary, asked for
/// `test` alone. `None` in that process, where the example has run.
pub fn said<E: Debug>(test: &str, example: fn() -> Result<(), E>, arguments: &[&str]) -> Option<String> {
    if std::env::var_os(CHILD).is_some() {
        example().unwrap();
        return None;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--include-ignored", "--nocapture"])
        // To the test's binary they are names of tests that it does not have.
        .args(arguments)
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let out = text(&child.stdout);
    assert!(child.status.success() && out.contains("1 passed"), "{out}{}", text(&child.stderr));
    Some(out)
}

/// The line that contains `part`.
pub fn line<'a>(said: &'a str, part: &str) -> &'a str {
    said.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no '{part}' in\n{said}"))
}

/// The numbers of a line, without signs; the commas that group digits are left out, a range is two.
pub fn numbers(line: &str) -> Vec<f64> {
    let words =
        line.split("..").flat_map(|part| part.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ','));
    words.filter_map(|word| word.replace(',', "").trim_end_matches('.').parse().ok()).collect()
}
