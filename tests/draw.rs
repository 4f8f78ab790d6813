//! Pictures of plans: small ones word for word, large ones by what must hold.

use std::path::Path;

use sublet::draw::{Picture, svg, term, trace};
use sublet::plan::{Planner, csv};

/// Case 1, the worked example of arXiv 2001.03288.
fn example() -> Picture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/draw/example.csv");
    let problem = csv::read(&path, csv::Options::default()).unwrap();
    let plan = Planner::auto().plan(&problem).unwrap();
    Picture::new("example", &problem, &plan).unwrap()
}

/// Compares with a file of the repository; with SUBLET_BLESS=1 it writes the file instead, and fails so that
/// nobody leaves it on.
fn is_as_before(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("SUBLET_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
        panic!("{name} is written anew");
    }
    let before = std::fs::read_to_string(&path).unwrap();
    for (at, (now, before)) in text.lines().zip(before.lines()).enumerate() {
        assert_eq!(now, before, "{name}, line {}", at + 1);
    }
    assert_eq!(text.len(), before.len(), "{name}");
}

#[test]
fn the_example_in_the_documents_is_as_before() {
    is_as_before("docs/img/example.svg", &svg::write(&[example()]));
}

#[test]
fn the_example_as_a_trace_is_as_before() {
    is_as_before("tests/data/draw/example.trace.json", &trace::write(&[example()]));
}

#[test]
fn the_example_in_a_terminal_is_as_before() {
    let plain = term::Options { width: 72, rows: 16, colour: false };
    is_as_before("tests/data/draw/example.txt", &term::write(&[example()], plain));
}

#[test]
fn the_example_in_a_coloured_terminal_is_as_before() {
    let coloured = term::Options { width: 72, rows: 16, colour: true };
    is_as_before("tests/data/draw/example.ansi.txt", &term::write(&[example()], coloured));
}
