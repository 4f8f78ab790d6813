//! Pictures of plans: small ones word for word, large ones by what must hold.

#[path = "support/snapshot.rs"]
mod snapshots;

use std::path::Path;

use snapshots::snapshot;
use sublet::draw::{Picture, svg, term, trace};
use sublet::plan::{Planner, csv};

/// Case 1, the worked example of arXiv 2001.03288.
fn example() -> Picture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/draw/example.csv");
    let problem = csv::read(&path, csv::Options::default()).unwrap();
    let plan = Planner::auto().plan(&problem).unwrap();
    Picture::new("example", &problem, &plan).unwrap()
}

#[test]
fn the_example_in_the_documents_is_as_before() {
    snapshot("../../docs/img/example.svg", &svg::write(&[example()]));
}

#[test]
fn the_example_as_a_trace_is_as_before() {
    snapshot("draw/example.trace.json", &trace::write(&[example()]));
}

#[test]
fn the_example_in_a_terminal_is_as_before() {
    let plain = term::Options { width: 72, rows: 16, colour: false };
    snapshot("draw/example.txt", &term::write(&[example()], plain));
}

#[test]
fn the_example_in_a_coloured_terminal_is_as_before() {
    let coloured = term::Options { width: 72, rows: 16, colour: true };
    snapshot("draw/example.ansi.txt", &term::write(&[example()], coloured));
}
