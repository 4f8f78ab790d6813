//! The built-in networks against the published tensor usage records.

mod support;

use sublet::model::zoo;
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
