//! The `.tflite` files beside the repository (../shared/models); the one copied to tests/data is always
//! there.
#![cfg(feature = "tflite")]

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sublet::exec::{CpuNetwork, Program};
use sublet::graph::passes::Passes;
use sublet::graph::{DType, Graph};
use sublet::kernel::LowerLimits;
use sublet::model::tflite::load;
use sublet::model::{ImportOptions, npy};
use sublet::plan::{Alignment, Planner};

const LIMITS: LowerLimits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };

/// Where the models lie, or `None` in a clone that has no ../shared beside it; in CI that is a failure.
fn shared() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/models");
    if !folder.is_dir() {
        assert!(std::env::var_os("CI").is_none(), "no {}", folder.display());
        println!("no {}: models beside the repository are not checked", folder.display());
        return None;
    }
    Some(folder)
}

fn import(folder: &Path, name: &str) -> Graph {
    let graph = load(&folder.join(format!("{name}.tflite")), &ImportOptions::default());
    let graph = graph.unwrap_or_else(|e| panic!("{name}: {e}"));
    graph.check().unwrap();
    for names in [
        graph.values.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(),
        graph.nodes.iter().map(|n| n.name.as_str()).collect(),
    ] {
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|w| w[0] != w[1]) && names.iter().all(|n| !n.is_empty()), "{name}");
    }
    graph
}

/// Outputs of a planned network on the CPU, on the input rule of ../shared/models/README.md.
fn run(graph: &Graph) -> Vec<Vec<f32>> {
    let (graph, sharing) = Passes::ALL.apply(graph.clone()).unwrap();
    let program = Program::sharing(graph, sharing, Alignment::new(256).unwrap(), LIMITS).unwrap();
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    let inputs = program.default_inputs();
    CpuNetwork::new(Arc::new(program), &plan).unwrap().run(&inputs).unwrap()
}

/// Holds an output against what LiteRT's reference kernels gave.
fn close(name: &str, found: &[f32], due: &[f32], tolerance: f32) {
    let largest = due.iter().fold(0.0f32, |m, v| m.max(v.abs()));
    let diff = found.iter().zip(due).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert_eq!(found.len(), due.len(), "{name}");
    assert!(diff <= tolerance * largest, "{name}: {diff} of {largest}");
}

fn computes(folder: &Path, name: &str, tolerance: f32) -> Graph {
    let graph = import(folder, name);
    let outputs = run(&graph);
    for (k, (id, found)) in graph.outputs.iter().zip(&outputs).enumerate() {
        let due = npy::read(&folder.join(format!("{name}.out{k}.npy"))).unwrap();
        assert_eq!(graph.get(*id).shape, due.shape, "{name} output {k}");
        close(&format!("{name} output {k}"), found, &due.words(DType::F32).unwrap(), tolerance);
    }
    graph
}

#[test]
fn the_model_of_the_repository_computes_what_litert_computed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let graph = computes(&folder, "hand_recrop", 1e-4);
    assert_eq!(graph.get(graph.inputs[0]).shape, [1, 256, 256, 3]);
    assert_eq!(graph.get(graph.outputs[0]).name, "output_crop");
}

#[test]
fn models_compute_what_litert_computed() {
    let Some(folder) = shared() else { return };
    for name in ["face_detection_short_range", "face_landmark"] {
        computes(&folder, name, 1e-4);
    }
}

/// This network takes the logarithm of powers near rounding error, and what the least of them is scales all
/// the rest: LiteRT's own kernels differ by a hundredth from each other. So the truth decides: tests/data has
/// every 97th element of what float64 arithmetic gives. Both files hold the same network.
#[test]
fn a_sensitive_model_computes_what_float64_arithmetic_gives() {
    let Some(folder) = shared() else { return };
    let graph = computes(&folder, "basic_pitch_nmp", 1e-3);
    near_the_truth(&run(&graph));
    #[cfg(feature = "onnx")]
    {
        let options = sublet::model::onnx::ImportOptions::default();
        let graph = sublet::model::onnx::load(&folder.join("basic_pitch_nmp.onnx"), &options).unwrap();
        near_the_truth(&run(&graph));
    }
}

fn near_the_truth(outputs: &[Vec<f32>]) {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/basic_pitch_nmp.float64.sample.npy");
    let sample = npy::read(&sample).unwrap().words(DType::F32).unwrap();
    let mut rest = &sample[..];
    for found in outputs {
        let found: Vec<f32> = found.iter().copied().step_by(97).collect();
        let (due, after) = rest.split_at(found.len());
        close("basic_pitch_nmp", &found, due, 1e-3);
        rest = after;
    }
    assert!(rest.is_empty() && outputs.len() == 3);
}

/// One small model a family of operators, with the outputs of all cases one after the other.
#[test]
fn operators_compute_what_litert_computed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tflite");
    let families = [
        ("elementwise", 55),
        ("linear", 6),
        ("parts", 34),
        ("reductions", 26),
        ("resizing", 12),
        ("shapes", 24),
        ("windows", 20),
    ];
    for (family, count) in families {
        let graph = import(&folder, family);
        let due = npy::read(&folder.join(format!("{family}.out.npy"))).unwrap().words(DType::F32).unwrap();
        let outputs = run(&graph);
        assert_eq!(outputs.len(), count, "{family}");
        let mut rest = &due[..];
        for (id, found) in graph.outputs.iter().zip(&outputs) {
            let (due, after) = rest.split_at(found.len());
            close(&format!("{family} '{}'", graph.get(*id).name), found, due, 1e-5);
            rest = after;
        }
        assert!(rest.is_empty(), "{family}");
    }
}
