//! The judge of plans shares no code with what it judges.

use super::source::{SourceFile, words};

/// Modules and types of the planners.
const PLANNERS: &[&str] = &["strategy", "search", "planner", "pack", "Planner", "Strategy", "greedy"];

fn is_judge(file: &SourceFile) -> bool {
    file.path == "src/plan/validate.rs" || file.path.starts_with("src/plan/validate/")
}

/// Names of the planners in the judge's code, tests aside; and planners without a judge.
pub fn shared_code(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|f| is_judge(f)) {
        let code = file.code_without_tests();
        for name in PLANNERS {
            let at = words(&code, name).into_iter();
            findings.extend(at.map(|at| file.finding(at, &format!("the judge names '{name}'"))));
        }
    }
    let planner = files.iter().find(|f| f.path.starts_with("src/plan/strategy/"));
    if let Some(planner) = planner.filter(|_| !files.iter().any(is_judge)) {
        findings.push(format!("{}:1: a strategy, and no src/plan/validate.rs to judge it", planner.path));
    }
    findings
}

#[test]
fn catches_shared_code() {
    let text = "use super::problem::Problem;\nuse super::{strategy::sort, Plan};\n// as the search does\n\
                fn f() { crate::plan::search::sweep(); }\n\
                #[cfg(test)]\nmod tests { use crate::plan::Planner; }\n";
    let found = shared_code(&[SourceFile::new("src/plan/validate.rs", text)]);
    let expected = [
        "src/plan/validate.rs:2: the judge names 'strategy'",
        "src/plan/validate.rs:4: the judge names 'search'",
    ];
    assert_eq!(found, expected);
    let alone = shared_code(&[SourceFile::new("src/plan/strategy/naive.rs", "")]);
    assert_eq!(alone.len(), 1, "{alone:?}");
}
