//! What the three layouts cost in peak, on networks and on published records.

use std::path::{Path, PathBuf};
use sublet::exec::{Layout, Program};
use sublet::graph::Graph;
use sublet::kernel::LowerLimits;
use sublet::model::zoo;
use sublet::plan::{Effort, Plan, Planner, csv};

/// What every WebGPU device binds at.
const DEVICE_BYTES: u64 = 256;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Nodes up to which a built-in network is planned here: on longer ones the search takes many seconds.
const MOST_NODES: usize = 200;

fn networks() -> Vec<(String, Graph)> {
    let built_in = zoo::names().iter().map(|n| ((*n).to_owned(), zoo::build(n).unwrap()));
    let mut all: Vec<_> = built_in.filter(|(_, graph)| graph.nodes.len() <= MOST_NODES).collect();
    #[cfg(feature = "onnx")]
    for name in ["rten_mnist", "tiny_resnet_se_64"] {
        let bytes = std::fs::read(root(&format!("tests/data/{name}.onnx"))).unwrap();
        let options = sublet::model::onnx::ImportOptions::default();
        all.push((name.to_owned(), sublet::model::onnx::parse(&bytes, name, &options).unwrap()));
    }
    all
}

/// The layout alone: no pass has been at work.
fn plan(graph: &Graph, layout: Layout) -> Plan {
    let limits = LowerLimits { max_binding_bytes: 128 << 20, max_workgroups: 65_535 };
    let program = Program::new(graph.clone(), layout.alignment(DEVICE_BYTES).unwrap(), limits).unwrap();
    let problem = program.with_layout(layout).unwrap().usage.problem;
    let plan = Planner::auto().plan(&problem).unwrap();
    plan.validate(&problem).unwrap();
    plan
}

fn grouped(bytes: u64) -> String {
    sublet::plan::report::grouped(bytes)
}

#[test]
fn packed_is_never_above_shared_on_networks() {
    for (name, graph) in networks() {
        let [shared, packed] = [Layout::Shared, Layout::Packed].map(|l| plan(&graph, l).peak_bytes());
        assert!(packed <= shared, "{name}: packed {packed}, shared {shared}");
    }
}

/// Records know no operators: the layouts differ in their alignment alone.
#[test]
fn packed_is_never_above_shared_on_records() {
    let mut read = 0;
    for folder in ["tests/data", "tests/data/networks", "tests/data/minimalloc"] {
        for entry in std::fs::read_dir(root(folder)).unwrap() {
            let path = entry.unwrap().path();
            let summary = path.ends_with("networks_summary.csv");
            if path.extension().is_none_or(|e| e != "csv") || summary {
                continue;
            }
            let [shared, packed] = [Layout::Shared, Layout::Packed].map(|layout| {
                let alignment = layout.alignment(DEVICE_BYTES).unwrap();
                let options = csv::Options { alignment, ..csv::Options::default() };
                let problem = csv::read(&path, options).unwrap();
                Planner::auto().effort(Effort::Fast).plan(&problem).unwrap().peak_bytes()
            });
            assert!(packed <= shared, "{}: packed {packed}, shared {shared}", path.display());
            read += 1;
        }
    }
    assert!(read >= 23, "{read} files");
}

/// The rows of docs/COMPARE.md of networks that are here are what the planner gives.
#[test]
fn the_table_of_layouts_is_true() {
    let compare = std::fs::read_to_string(root("docs/COMPARE.md")).unwrap();
    for (name, graph) in networks() {
        let [shared, ping_pong, packed] =
            [Layout::Shared, Layout::PingPong, Layout::Packed].map(|l| plan(&graph, l));
        let ratio = ping_pong.peak_bytes() as f64 / shared.peak_bytes() as f64;
        let row = format!(
            "| {name} | {} | {} | {ratio:.3} | {} | {} |",
            grouped(shared.peak_bytes()),
            grouped(ping_pong.peak_bytes()),
            ping_pong.arenas().len(),
            grouped(packed.peak_bytes())
        );
        assert!(compare.lines().any(|line| line == row), "docs/COMPARE.md lacks the row\n{row}");
    }
}
