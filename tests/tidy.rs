//! The house rules as tests over the source tree. Each rule is a function from files to findings,
//! `path:line: what`; beside each stands a negative control that feeds it a bad snippet and sees it caught.

#[path = "tidy/clock.rs"]
mod clock;
#[path = "tidy/docs.rs"]
mod docs;
#[path = "tidy/floors.rs"]
mod floors;
#[path = "tidy/judge.rs"]
mod judge;
#[path = "tidy/leftovers.rs"]
mod leftovers;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/text.rs"]
mod text;
#[path = "tidy/twins.rs"]
mod twins;

use source::repository;

/// Fails with every finding, one a line.
fn demand_none(rule: &str, findings: Vec<String>) {
    assert!(findings.is_empty(), "{rule}: {} findings\n{}", findings.len(), findings.join("\n"));
}

#[test]
fn the_walk_sees_the_tree() {
    let files = repository();
    for path in ["Cargo.toml", "src/lib.rs", "src/plan/mod.rs", "tests/tidy.rs", ".ci/run", "scripts/test"] {
        assert!(files.iter().any(|f| f.path == path), "{path} was not walked");
    }
    assert!(!files.iter().any(|f| f.path.starts_with("target/") || f.path.starts_with(".git/")));
}

#[test]
fn floors_import_downwards() {
    demand_none("imports go to the same or a lower floor", floors::upward_imports(&repository()));
}

#[test]
fn pure_floors_never_name_wgpu() {
    demand_none("pure floors know no wgpu", floors::wgpu_in_pure_floors(&repository()));
}

#[test]
fn the_library_has_one_clock() {
    demand_none("time is measured in one place", clock::standard_clocks(&repository()));
}

#[test]
fn every_shader_has_a_twin() {
    demand_none("one kernel, one shader, one twin", twins::unpaired(&repository()));
}

#[test]
fn lines_and_files_are_short() {
    demand_none("110 columns, 700 lines", leftovers::outside_stubs(text::too_long(&repository())));
}

#[test]
fn no_tabs_or_trailing_spaces() {
    demand_none("whitespace", text::bad_whitespace(&repository()));
}

#[test]
fn no_machine_paths() {
    demand_none("paths of a machine", text::machine_paths(&repository()));
}

#[test]
fn no_stubs_or_bare_ignores() {
    demand_none("leftovers", leftovers::without_known(leftovers::stubs(&repository())));
}

#[test]
fn needy_tests_are_ignored_with_a_reason() {
    demand_none(
        "tests that need a driver or a browser say so",
        leftovers::needy_tests_without_ignore(&repository()),
    );
}

#[test]
fn unsafe_code_lies_in_one_file() {
    demand_none("unsafe code", leftovers::unsafe_code(&repository()));
}

#[test]
fn unwraps_stay_few() {
    let found = leftovers::unwraps(&repository());
    let limit = leftovers::UNWRAP_LIMIT;
    assert!(found.len() <= limit, "{} unwrap/expect, at most {limit}\n{}", found.len(), found.join("\n"));
}

#[test]
fn documents_exist_and_have_titles() {
    demand_none("documents", docs::missing_or_untitled(&repository()));
}

#[test]
fn architecture_names_what_exists() {
    demand_none("docs/ARCHITECTURE.md", docs::stale_paths(&repository()));
}

#[test]
fn invariants_name_their_test() {
    demand_none("docs/ARCHITECTURE.md", docs::invariants_without_test(&repository()));
}

#[test]
fn the_judge_shares_no_code_with_the_planners() {
    demand_none("src/plan/validate", judge::shared_code(&repository()));
}
