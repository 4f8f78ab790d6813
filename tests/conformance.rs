//! A sample of the ONNX project's operator tests on the twins; `scripts/conformance` runs all of them.
#![cfg(feature = "onnx")]

#[path = "../examples/conformance/case.rs"]
mod case;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use case::{Case, Refusal, Verdict};
use sublet::exec::{CpuNetwork, Program};
use sublet::graph::Graph;
use sublet::kernel::LowerLimits;
use sublet::plan::{Alignment, Planner};

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/onnx_node");
    let entries = std::fs::read_dir(root).expect("the sample is in the repository").flatten();
    let mut folders: Vec<PathBuf> = entries.map(|e| e.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn twins(graph: Graph, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, Refusal> {
    let limits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };
    let program = Program::new(graph, Alignment::new(256).unwrap(), limits);
    let program = program.map_err(|e| Refusal::Unsupported(e.to_string()))?;
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    let mut network = CpuNetwork::new(Arc::new(program), &plan).unwrap();
    network.run(inputs).map_err(|e| Refusal::Failed(e.to_string()))
}

#[test]
fn sampled_cases_pass() {
    let folders = folders();
    assert!(folders.len() >= 50, "{} cases", folders.len());
    for folder in folders {
        let case = Case::load(&folder).unwrap_or_else(|(_, what)| panic!("{}: {what}", folder.display()));
        assert_eq!(case.judge(twins), Verdict::Passed, "{} ({})", case.name, case.op);
    }
}

/// The negative control: outputs that are not right are noticed.
#[test]
fn a_wrong_result_fails() {
    let folders = folders();
    let folder = folders.iter().find(|folder| folder.ends_with("test_add_bcast")).expect("it is there");
    let Ok(case) = Case::load(folder) else { panic!("it loads") };
    let wrong = case.judge(|graph, inputs| {
        let mut outputs = twins(graph, inputs)?;
        outputs[0][7] += 0.01;
        Ok(outputs)
    });
    assert!(matches!(&wrong, Verdict::Failed(what) if what.contains("element 7")), "{wrong:?}");
}
