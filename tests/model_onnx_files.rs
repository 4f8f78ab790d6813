//! The model files beside the repository (../shared/models); the two copied to tests/data are always there.
#![cfg(feature = "onnx")]

mod support;

use std::path::{Path, PathBuf};

use sublet::graph::{DType, Graph};
use sublet::model::onnx::{ImportOptions, load};
use sublet::model::{ModelError, npy};
use support::forward::forward;
use support::records::{records, summary};

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

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn import(path: &Path) -> Result<Graph, ModelError> {
    load(path, &ImportOptions::default())
}

/// What every imported graph promises: it checks, names are unique, and its output is as long as the
/// expected file.
fn sound(graph: &Graph, expected: Option<&Path>) {
    graph.check().unwrap();
    let mut names: Vec<&str> = graph.values.iter().map(|v| v.name.as_str()).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|w| w[0] != w[1]) && names.iter().all(|n| !n.is_empty()), "{}", graph.name);
    let mut nodes: Vec<&str> = graph.nodes.iter().map(|n| n.name.as_str()).collect();
    nodes.sort_unstable();
    assert!(nodes.windows(2).all(|w| w[0] != w[1]) && nodes.iter().all(|n| !n.is_empty()), "{}", graph.name);
    if let Some(file) = expected {
        assert_eq!(npy::read(file).unwrap().shape, graph.get(graph.outputs[0]).shape, "{}", graph.name);
    }
}

#[test]
fn models_of_the_repository() {
    let mnist = import(&data("rten_mnist.onnx")).unwrap();
    sound(&mnist, Some(&data("rten_mnist.out0.npy")));
    let ops: Vec<&str> = mnist.nodes.iter().map(|n| n.op.name()).collect();
    let expected =
        ["Conv", "Relu", "MaxPool", "Conv", "Relu", "MaxPool", "Conv", "Relu", "ReduceMean", "Copy", "Gemm"];
    assert_eq!(ops, expected);
    assert_eq!(mnist.get(mnist.inputs[0]).name, "input");
    assert_eq!(mnist.get(mnist.outputs[0]).name, "logits");

    let se = import(&data("tiny_resnet_se_64.onnx")).unwrap();
    sound(&se, Some(&data("tiny_resnet_se_64.out0.npy")));
    assert_eq!(summary(&records(&se)), (53, 1_279_688, 196_672));
}

/// Runs the graph in the oracle on the input rule of ../shared/models/README.md and holds output 0 against
/// what ONNX Runtime gave: within `tolerance` of the largest value.
fn computes(graph: &Graph, expected: &Path, tolerance: f32) {
    let len = graph.get(graph.inputs[0]).len();
    let values = forward(graph, (0..len).map(|i| ((i * 7919) % 1000) as f32 / 1000.0).collect());
    let due = npy::read(expected).unwrap().words(DType::F32).unwrap();
    let largest = due.iter().fold(0.0f32, |m, v| m.max(v.abs()));
    let found = &values[graph.outputs[0].index()];
    assert_eq!(found.len(), due.len());
    let diff = found.iter().zip(&due).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(diff <= tolerance * largest, "{}: {diff} of {largest}", graph.name);
}

#[test]
fn imported_graphs_compute_what_onnx_runtime_computed() {
    for name in ["rten_mnist", "tiny_resnet_se_64"] {
        let graph = import(&data(&format!("{name}.onnx"))).unwrap();
        computes(&graph, &data(&format!("{name}.out0.npy")), 1e-4);
    }
    let Some(folder) = shared() else { return };
    let names = [
        "ppocr_mobile_v2_cls",
        "generated/gen_squeezenet1_1",
        "generated/gen_mobilenet_v2",
        "light_shufflenet",
    ];
    for name in names {
        let graph = import(&folder.join(format!("{name}.onnx"))).unwrap();
        computes(&graph, &folder.join(format!("{name}.out0.npy")), 1e-3);
    }
}

#[test]
#[ignore = "the plain oracle takes two minutes for the large networks; run with --ignored"]
fn every_large_graph_computes_what_onnx_runtime_computed() {
    let Some(folder) = shared() else { return };
    let light =
        ["bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "squeezenet", "vgg19"];
    let generated = ["densenet121", "inception_v3", "resnet18", "resnet50", "shufflenet_v2", "vgg16"];
    let light = light.map(|name| format!("light_{name}"));
    let generated = generated.map(|name| format!("generated/gen_{name}"));
    for name in light.iter().chain(&generated) {
        let graph = import(&folder.join(format!("{name}.onnx"))).unwrap();
        computes(&graph, &folder.join(format!("{name}.out0.npy")), 1e-3);
    }
}

/// Published records (../shared/data/networks_summary.csv) hold what a run of the file as stored
/// produces; the import drops masks of Dropout and what depends on constants alone.
#[test]
fn light_models_have_the_published_records() {
    let Some(folder) = shared() else { return };
    // file, published (tensors, naive total, max load), dropped (tensors, bytes), max load here
    let table = [
        // Nothing is dropped.
        ("light_resnet50", (175, 150_247_328, 9_633_792), (0, 0), 9_633_792),
        ("light_shufflenet", (202, 57_067_872, 3_110_912), (0, 0), 3_110_912),
        // One mask of 1 x 512 x 13 x 13; two of 1 x 4096.
        ("light_squeezenet", (66, 28_533_728, 6_308_352), (1, 346_112), 6_308_352),
        ("light_vgg19", (47, 125_173_664, 25_690_112), (2, 32_768), 25_690_112),
        // One mask of 1 x 1024, and the reshaped 1000 x 1024 weights of the Gemm.
        ("light_inception_v1", (144, 40_738_464, 6_422_528), (2, 4_096 + 4_096_000), 6_422_528),
        // Unsqueezed scales and biases, one each of 69 and 121 layers.
        ("light_inception_v2", (508, 84_619_552, 6_422_784), (138, 79_616), 6_422_528),
        ("light_densenet121", (909, 320_812_800, 8_430_464), (242, 334_592), 8_429_568),
    ];
    for (name, published, dropped, max_load) in table {
        let graph = import(&folder.join(format!("{name}.onnx"))).unwrap();
        sound(&graph, Some(&folder.join(format!("{name}.out0.npy"))));
        let ours = summary(&records(&graph));
        let due = (published.0 - dropped.0, published.1 - dropped.1, max_load);
        assert_eq!(ours, due, "{name}");
        assert!(ours.2 <= published.2);
    }
}

#[test]
fn other_models_import() {
    let Some(folder) = shared() else { return };
    let alexnet = import(&folder.join("light_bvlc_alexnet.onnx")).unwrap();
    sound(&alexnet, Some(&folder.join("light_bvlc_alexnet.out0.npy")));
    // Its file leaves height and width open; the published size is known.
    let classifier = import(&folder.join("ppocr_mobile_v2_cls.onnx")).unwrap();
    sound(&classifier, Some(&folder.join("ppocr_mobile_v2_cls.out0.npy")));
    assert_eq!(classifier.get(classifier.inputs[0]).shape, [1, 3, 48, 192]);
    for name in [
        "basic_pitch_nmp",
        "magika_v3_3",
        "silero_vad_openvino_16k",
        "tiny_gpt_l2_d64_t32",
        "tiny_unet8_64",
        "tiny_vit_l2_d64_64",
    ] {
        let graph = import(&folder.join(format!("{name}.onnx"))).unwrap();
        sound(&graph, Some(&folder.join(format!("{name}.out0.npy"))));
    }
    let mut options = ImportOptions::default();
    options.shapes.insert("x".into(), vec![1, 3, 160, 160]);
    let detector = load(&folder.join("ppocrv4_det.onnx"), &options).unwrap();
    sound(&detector, Some(&folder.join("ppocrv4_det.out0.npy")));
    options.shapes.insert("x".into(), vec![2, 3, 64, 96]);
    let other = load(&folder.join("ppocr_mobile_v2_cls.onnx"), &options).unwrap();
    assert_eq!(other.get(other.outputs[0]).shape, [2, 2]);
}

/// Weights that the file computes: element i is `((i*7919 + off) % 1000)/1000 * scale + bias` in float32.
#[test]
fn generated_models_import() {
    let Some(folder) = shared() else { return };
    for name in ["squeezenet1_1", "mobilenet_v2", "resnet18", "shufflenet_v2", "densenet121"] {
        let graph = import(&folder.join(format!("generated/gen_{name}.onnx"))).unwrap();
        sound(&graph, Some(&folder.join(format!("generated/gen_{name}.out0.npy"))));
        if name == "squeezenet1_1" {
            check_weights(&graph, "features.0.weight", 0, 0.000_942_809_04, -0.470_933_1);
            check_weights(&graph, "features.3.squeeze.weight", 262, 0.000_612_372_4, -0.305_880_04);
        }
    }
}

fn check_weights(graph: &Graph, name: &str, offset: i64, scale: f32, bias: f32) {
    let value = graph.values.iter().find(|v| v.name == name).unwrap();
    for (i, w) in value.f32_data().unwrap().iter().enumerate() {
        let due = ((i as i64 * 7919 + offset) % 1000) as f32 * scale + bias;
        assert_eq!(w.to_bits(), due.to_bits(), "{name}[{i}]");
    }
}

#[test]
#[ignore = "553 MB of weights: seconds and 1.3 GB; run with --ignored"]
fn large_generated_models_import() {
    let Some(folder) = shared() else { return };
    for (name, weights) in [("vgg16", 553_400_736), ("resnet50", 102_031_776), ("inception_v3", 95_208_352)] {
        let graph = import(&folder.join(format!("generated/gen_{name}.onnx"))).unwrap();
        sound(&graph, Some(&folder.join(format!("generated/gen_{name}.out0.npy"))));
        assert_eq!(graph.constant_bytes(), weights, "{name}");
    }
}
