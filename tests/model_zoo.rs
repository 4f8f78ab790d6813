//! The built-in networks: their tensor usage records against published ones, and that they compute something.

mod support;

use std::sync::Arc;

use sublet::exec::{CpuHost, Program, audit};
use sublet::graph::{Graph, Op, UnaryOp};
use sublet::model::zoo;
use sublet::plan::{Alignment, Planner, Strategy};
use support::block_on;
use support::records::{records, summary};
use support::steps::{LIMITS, steps};

/// `size, first step, last step` of the intermediates, from the tables as CSV (half-open intervals).
fn published(csv: &str) -> Vec<(u64, usize, usize)> {
    csv.lines()
        .skip(1)
        .map(|line| {
            let f: Vec<u64> = line.split(',').map(|x| x.parse().unwrap()).collect();
            (f[3], f[1] as usize, f[2] as usize - 1)
        })
        .collect()
}

fn built(name: &str) -> Graph {
    let graph = zoo::build(name).unwrap();
    graph.check().unwrap();
    graph
}

fn check(name: &str, csv: &str, tensors: usize, naive: u64, max_load: u64) {
    let ours = records(&built(name));
    assert_eq!(ours, published(csv));
    assert_eq!(summary(&ours), (tensors, naive, max_load));
}

#[test]
fn mobilenet_v1_has_the_published_records() {
    check("mobilenet_v1", include_str!("data/paper_mobilenet_v1_224.csv"), 30, 20_182_856, 4_816_896);
}

#[test]
fn mobilenet_v2_has_the_published_records() {
    check("mobilenet_v2", include_str!("data/paper_mobilenet_v2_224.csv"), 65, 27_591_112, 6_021_120);
}

#[test]
fn inception_v3_has_the_published_records() {
    let csv = include_str!("data/networks/paper_inception_v3_299_flatconcat.csv");
    check("inception_v3", csv, 121, 56_622_408, 8_297_856);
}

#[test]
fn deeplab_v3_has_the_published_records() {
    let csv = include_str!("data/networks/paper_deeplab_v3_257_dm05_os8.csv");
    check("deeplab_v3_257", csv, 68, 50_991_428, 4_530_240);
}

#[test]
fn posenet_has_the_published_records() {
    let csv = include_str!("data/networks/paper_posenet_353x257_dm075_os16.csv");
    check("posenet", csv, 27, 31_645_248, 6_575_904);
}

/// As MediaPipe's file has them.
#[test]
fn blazeface_has_the_records_of_its_file() {
    let csv = include_str!("data/networks/mediapipe_face_detection_short_range.csv");
    check("blazeface", csv, 88, 9_640_960, 1_376_256);
}

/// Tensors, naive total and max load where no list of records is at hand.
#[test]
fn the_others_have_the_totals_of_their_layers() {
    for (name, tensors, naive, max_load) in [
        ("alexnet", 14, 5_039_040, 2_323_200),
        // 224 channels of 56 x 56, the same normalised, and the same rectified.
        ("densenet121", 309, 154_202_944, 8_429_568),
        // That of the ONNX project's light_inception_v1 with rectifiers in place, 28,675,744, less the copy
        // of its dropout (4,096) and the reshaped weights of its dense layer (4,096,000), with the squeezed
        // logits (4,000).
        ("googlenet", 84, 24_579_648, 4_646_400),
        // The transposed keys beside a query and its scores; the cache itself is input and output.
        ("gpt_block", 18, 3_308_544, 3_197_952),
        // Its stem is that of Inception v3.
        ("inception_resnet", 374, 215_585_728, 8_297_856),
        ("lstm_seq2seq", 1197, 1_713_464, 120_832),
        // 53 convolutions, their sums and rectified sums, a pool, a mean, logits twice. Two 56 x 56 x 256
        // tensors and the one added to them.
        ("resnet50", 89, 89_429_824, 9_633_792),
        // That of the ONNX project's light_squeezenet with rectifiers in place, less the copy of its dropout
        // (346,112 bytes), with the squeezed logits (4,000).
        ("squeezenet", 39, 17_830_208 - 346_112 + 4_000, 3_928_576),
        // That of the export with rectifiers in place.
        ("unet", 30, 115_081_216, 33_554_432),
        // Two of 224 x 224 x 64.
        ("vgg16", 22, 60_352_320, 25_690_112),
        ("vit_tiny", 272, 59_291_584, 1_361_664),
    ] {
        assert_eq!(summary(&records(&built(name))), (tensors, naive, max_load), "{name}");
    }
}

/// Keras counts 55,873,736, of which 60,544 are the running means and variances of its normalisations; these
/// are folded, and their offsets are the biases here.
#[test]
fn inception_resnet_has_the_published_number_of_parameters() {
    assert_eq!(built("inception_resnet").constant_bytes() / 4, 55_873_736 - 60_544);
}

#[test]
fn every_listed_name_builds_and_no_other() {
    for name in zoo::names() {
        let graph = built(name);
        assert_eq!(&graph.name, name);
        for mut names in [
            graph.values.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(),
            graph.nodes.iter().map(|n| n.name.as_str()).collect(),
        ] {
            names.sort_unstable();
            assert!(names.windows(2).all(|w| w[0] != w[1]), "{name}: a name stands twice");
        }
    }
    assert!(zoo::names().is_sorted());
    assert!(zoo::build("mobilenet_v9").is_none());
}

/// Weights of more than 16 MiB are left out: they are drawn as the others are.
#[test]
fn weights_are_the_same_every_time() {
    let small = |name: &str| {
        let mut graph = built(name);
        graph.values.iter_mut().filter(|v| v.size_bytes() > 16 << 20).for_each(|v| v.constant = None);
        graph
    };
    for name in zoo::names() {
        assert_eq!(small(name), small(name));
    }
}

/// The test input, or another one.
fn picture(graph: &Graph, other: bool) -> Vec<Vec<f32>> {
    let rule = |i: usize| ((i * 7919) % 1000) as f32 / 1000.0;
    let element = |i: usize| if other { 1.0 - rule(i * 3) } else { rule(i) };
    graph.inputs.iter().map(|id| (0..graph.get(*id).len()).map(element).collect()).collect()
}

/// Networks of which a test walks the first layers alone, and how many: the rest takes too long.
const HEADS: [(&str, usize); 3] = [("inception_resnet", 52), ("unet", 6), ("vgg16", 6)];
/// Networks that a test walks once and not for a second picture.
const ONCE: [&str; 7] =
    ["alexnet", "densenet121", "inception_resnet", "inception_v3", "resnet50", "unet", "vgg16"];

/// A network, or the first layers of it.
fn walked(name: &str) -> Graph {
    let mut graph = built(name);
    if let Some((_, len)) = HEADS.iter().find(|(head, _)| *head == name) {
        graph.nodes.truncate(*len);
        graph.outputs = graph.nodes[len - 1].outputs.clone();
    }
    graph
}

/// Layers neither die nor blow up: root mean square, share of elements at 0, and at 6 where that is the most.
fn stays_in_range(name: &str) {
    let graph = walked(name);
    let inputs = picture(&graph, false);
    let (program, values) = steps(graph, &inputs);
    let graph = &program.graph;
    for node in &graph.nodes {
        let data = &values[node.outputs[0].index()];
        let share =
            |test: fn(&f32) -> bool| data.iter().filter(|v| test(v)).count() as f32 / data.len() as f32;
        let rms = (data.iter().map(|v| v * v).sum::<f32>() / data.len() as f32).sqrt();
        let what = format!("{name} {}: rms {rms}", node.name);
        if node.op.name() == "Softmax" {
            let max = data.iter().copied().fold(0.0, f32::max);
            let id = node.outputs[0];
            let uniform = 1.0 / *graph.get(id).shape.last().unwrap() as f32;
            let least = if graph.outputs.contains(&id) { 0.02 } else { 2.0 * uniform };
            assert!((least..0.5).contains(&max), "{what}, largest {max}");
            continue;
        }
        let level = name.starts_with("mobilenet");
        assert!((if level { 0.2 } else { 0.1 }..3.0).contains(&rms), "{what}");
        if !node.name.starts_with("logits") {
            let cut = matches!(node.op, Op::Conv { activation: Some(UnaryOp::Clip { .. }), .. });
            assert!(!cut || share(|v| *v >= 6.0) < 0.02, "{what}");
            assert!(share(|v| *v == 0.0) < if level { 0.6 } else { 0.75 }, "{what}");
        }
    }
    if ONCE.contains(&name) {
        return;
    }
    let other = steps(walked(name), &picture(graph, true)).1;
    for out in &graph.outputs {
        let (a, b) = (&values[out.index()], &other[out.index()]);
        let diff = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(diff > 0.005, "{name}: another picture moves {} by {diff} at most", graph.get(*out).name);
    }
}

/// What a network computes under a plan that reuses bytes is what it computes without.
#[test]
fn small_ones_pass_the_audit_on_the_cpu() {
    for name in ["blazeface", "gpt_block", "lstm_seq2seq", "squeezenet"] {
        let program = Program::new(built(name), Alignment::new(256).unwrap(), LIMITS).unwrap();
        let plan = Planner::new(Strategy::GreedyBySize).plan(&program.usage.problem).unwrap();
        let inputs = program.default_inputs();
        let host = CpuHost(Arc::new(program));
        let found = block_on(audit(&host, &plan, &inputs, &CpuHost::LIMITS)).unwrap();
        assert!(found.ok(), "{name}: {found:?}");
        assert_eq!(found.tensors_compared, host.0.graph.nodes.len(), "{name}");
    }
}

#[test]
fn activations_stay_in_range() {
    for name in zoo::names() {
        stays_in_range(name);
    }
}
