//! The built-in networks against the published tensor usage records.

mod support;

use sublet::model::zoo;
use support::forward::forward;
use support::records::{records, summary};

/// `size, first step, last step` of the intermediates, from the papers' tables as CSV (half-open intervals).
fn published(csv: &str) -> Vec<(u64, usize, usize)> {
    csv.lines()
        .skip(1)
        .map(|line| {
            let f: Vec<u64> = line.split(',').map(|x| x.parse().unwrap()).collect();
            (f[3], f[1] as usize, f[2] as usize - 1)
        })
        .collect()
}

fn check(name: &str, csv: &str, tensors: usize, naive: u64, max_load: u64) {
    let graph = zoo::build(name).unwrap();
    graph.check().unwrap();
    let ours = records(&graph);
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
fn every_listed_name_builds_and_no_other() {
    for name in zoo::names() {
        assert_eq!(&zoo::build(name).unwrap().name, name);
    }
    assert!(zoo::names().is_sorted());
    assert!(zoo::build("mobilenet_v9").is_none());
}

#[test]
fn weights_are_the_same_every_time() {
    for name in zoo::names() {
        assert_eq!(zoo::build(name), zoo::build(name));
    }
}

/// Activations neither die nor blow up, and the answer depends on the picture: root mean square, share
/// of elements cut at 6 and share at 0 of every layer.
#[test]
fn activations_stay_in_range() {
    for name in zoo::names() {
        let graph = zoo::build(name).unwrap();
        let len = graph.get(graph.inputs[0]).len();
        let rule = |i: usize| ((i * 7919) % 1000) as f32 / 1000.0;
        let values = forward(&graph, (0..len).map(rule).collect());
        let last = graph.nodes.len() - 1;
        for node in &graph.nodes[..last] {
            let data = &values[node.outputs[0].index()];
            let share =
                |test: fn(&f32) -> bool| data.iter().filter(|v| test(v)).count() as f32 / data.len() as f32;
            let rms = (data.iter().map(|v| v * v).sum::<f32>() / data.len() as f32).sqrt();
            let what = format!("{name} {}: rms {rms}", node.name);
            assert!((0.2..3.0).contains(&rms), "{what}");
            if !node.name.starts_with("logits") {
                assert!(share(|v| *v >= 6.0) < 0.02, "{what}");
                assert!(share(|v| *v == 0.0) < 0.6, "{what}");
            }
        }
        let other = forward(&graph, (0..len).map(|i| 1.0 - rule(i * 3)).collect());
        let out = graph.outputs[0].index();
        let diff = values[out].iter().zip(&other[out]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        let max = values[out].iter().copied().fold(0.0, f32::max);
        // Uniform would be 0.001.
        assert!((0.02..0.5).contains(&max), "{name}: largest prediction {max}");
        assert!(diff > 0.005, "{name}: another picture moves a prediction by {diff} at most");
    }
}
