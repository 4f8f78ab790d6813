//! The examples that need no device run, and print what they are there to show.

#[path = "../examples/plan_only.rs"]
mod plan_only;
#[path = "../examples/profile_guided.rs"]
mod profile_guided;
mod support;

use sublet::plan::Strategy;
use support::examples::{line, numbers, said};

#[test]
fn plan_only_compares_strategies_and_prints_offsets() {
    let test = "plan_only_compares_strategies_and_prints_offsets";
    let Some(said) = said(test, plan_only::main, &[]) else { return };
    let peak = |strategy: &Strategy| numbers(line(&said, &format!("{strategy} ")))[0];
    let naive = peak(&Strategy::Naive);
    assert!(Strategy::ALL.iter().all(|strategy| peak(strategy) <= naive), "{said}");
    assert!(Strategy::ALL.iter().any(|strategy| peak(strategy) < naive), "{said}");
    let offset = |tensor: &str| numbers(line(&said, &format!("{tensor} ")))[1];
    assert!(offset("input") != offset("expand"), "they live together: {said}");
}

/// Rows of the table: step, batch, nanoseconds, planned, overflow, arenas, overflow held.
#[test]
fn profile_guided_records_replays_and_plans_anew() {
    let test = "profile_guided_records_replays_and_plans_anew";
    let Some(said) = said(test, profile_guided::main, &[]) else { return };
    let table = said.lines().skip_while(|line| !line.starts_with("step")).skip(1);
    let rows: Vec<(Vec<f64>, &str)> =
        table.take_while(|line| !line.is_empty()).map(|line| (numbers(line), line)).collect();
    let row = |i: usize| &rows[i];
    let happened = [
        "recorded, then planned",
        "replayed",
        "replayed",
        "larger sizes took overflow; planned anew",
        "replayed",
        "smaller sizes took their places",
        "replayed",
        "smaller sizes took their places",
    ];
    assert_eq!(rows.len(), happened.len(), "{said}");
    for (i, what) in happened.iter().enumerate() {
        assert!(row(i).1.ends_with(what), "step {i}: {said}");
    }
    let (all, arenas) = (row(0).0[4], row(1).0[5]);
    assert_eq!((row(0).0[3], row(1).0[3], row(1).0[4], row(1).0[6]), (0.0, all, 0.0, 0.0), "{said}");
    assert!(row(3).0[4] > 0.0 && row(4).0[5] > arenas, "{said}");
    let totals = numbers(line(&said, "without reuse"));
    assert!(totals[0] > totals[2] && totals[2] >= totals[1], "{said}");
    assert!(said.contains("2 plans in 8 steps"), "{said}");
}
