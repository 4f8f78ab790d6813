//! The examples that run on a device run, and print what they are there to show.
#![cfg(feature = "cli")]

#[path = "../examples/caller_buffers.rs"]
mod caller_buffers;
#[path = "../examples/embed_in_engine.rs"]
mod embed_in_engine;
#[path = "../examples/run_network.rs"]
mod run_network;
#[path = "../examples/share_sessions.rs"]
mod share_sessions;
mod support;

use support::examples::{line, numbers, said};

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn caller_buffers_refuses_and_keeps_what_is_not_its_own() {
    let test = "caller_buffers_refuses_and_keeps_what_is_not_its_own";
    let Some(said) = said(test, caller_buffers::main, &[]) else { return };
    let refused: Vec<&str> = said.lines().filter(|line| line.starts_with("refused: ")).collect();
    assert!(
        matches!(refused[..], [limit, short] if limit.contains("4K feature map")
        && limit.contains("265420800") && short.contains("the buffer given has")),
        "{said}"
    );
    let [image, features, logits] = ["image ", "features ", "logits "].map(|t| numbers(line(&said, t)));
    assert_eq!(image[0].min(features[0]), 65_536.0, "behind the engine's own 64 KiB: {said}");
    assert!(image[0] == logits[0] && image[0] != features[0], "the last lies where the first was: {said}");
    assert!(said.contains("are both as written: true"), "{said}");
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn share_sessions_holds_equal_networks_once_and_gives_memory_back() {
    let test = "share_sessions_holds_equal_networks_once_and_gives_memory_back";
    let names = ["blazeface", "squeezenet", "blazeface"];
    let Some(said) = said(test, share_sessions::main, &names) else { return };
    // Alone, all alone, in one pool, ratio, milliseconds.
    let table: Vec<Vec<f64>> = said
        .lines()
        .filter(|line| names.iter().any(|name| line.starts_with(&format!("{name}  "))))
        .map(numbers)
        .collect();
    assert_eq!(table.len(), 3, "{said}");
    let [alone, all, pool, ratio] = [0, 1, 2, 3].map(|column| table[2][column]);
    assert!(ratio > 1.0 && pool < all, "{said}");
    assert!(pool - table[1][2] < alone / 2.0, "the same network again brings its state alone: {said}");
    assert_eq!(said.matches("the same outputs after another network's run: true").count(), 3, "{said}");
    let [trimmed, before, after] = numbers(line(&said, "trimmed "))[..] else { panic!("{said}") };
    assert!(trimmed > 0.0 && (before - after - trimmed).abs() <= 1024.0, "{said}");
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn run_network_proves_that_reuse_changed_nothing() {
    let test = "run_network_proves_that_reuse_changed_nothing";
    let Some(said) = said(test, run_network::main, &["blazeface"]) else { return };
    assert!(said.contains("reuse equals no reuse, bit for bit: true; all checks: true"), "{said}");
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn embed_in_engine_computes_what_the_host_computes() {
    let test = "embed_in_engine_computes_what_the_host_computes";
    let Some(said) = said(test, embed_in_engine::main, &[]) else { return };
    assert!(said.contains("every one of 1000 results is right"), "{said}");
    assert!(said.contains("reads [1, 1], writes 2: 2 binding(s)"), "one tensor read twice: {said}");
}
