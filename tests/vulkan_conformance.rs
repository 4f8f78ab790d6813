//! A sample of the ONNX project's operator tests on a Vulkan driver, one device for all.
#![cfg(all(feature = "gpu", feature = "onnx"))]

#[path = "../examples/conformance/case.rs"]
#[allow(dead_code, reason = "every sampled case is supported")]
mod case;
mod support;

use case::{Case, Refusal, Verdict};
use std::path::Path;
use sublet::device::block_on;
use sublet::plan::Planner;
use support::gpu::Gpu;

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn sampled_cases_pass() {
    let gpu = Gpu::vulkan(|_| {});
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/onnx_node");
    let mut passed = 0;
    for folder in std::fs::read_dir(root).expect("the sample is in the repository").flatten() {
        if !folder.path().is_dir() {
            continue;
        }
        let case = Case::load(&folder.path()).unwrap_or_else(|(_, what)| panic!("{folder:?}: {what}"));
        let verdict = case.judge(|graph, inputs| {
            let program = gpu.program(graph);
            let plan = gpu.planner(Planner::auto()).plan(&program.usage.problem).unwrap();
            let network = gpu.network(&gpu.resident(program), &plan);
            block_on(&gpu.device, network.run(inputs)).map_err(|e| Refusal::Failed(e.to_string()))
        });
        assert_eq!(verdict, Verdict::Passed, "{} ({})", case.name, case.op);
        passed += 1;
    }
    assert!(passed >= 50, "{passed} cases");
}
