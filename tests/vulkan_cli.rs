//! The binary on a Vulkan driver: real models against the outputs of ONNX Runtime.
#![cfg(feature = "cli")]

mod support;

use support::cli::{data, json, sublet};

/// Runs a model of tests/data and demands the expected output and a clean audit.
fn right_and_proven(model: &str) {
    let (model, expect) =
        (data(&format!("{model}.onnx")), format!("0={}", data(&format!("{model}.out0.npy"))));
    let (code, run) = json(&["run", &model, "--expect", &expect, "--runs", "1"]);
    assert_eq!((code, &run["ok"]), (0, &true.into()), "{run}");
    assert_eq!(run["outputs"][0]["ok"], true);
    assert_eq!(run["adapter"]["backend"], "vulkan");
    let chain =
        ["max_load_bytes", "peak_bytes", "arena_bytes", "allocator_used_bytes", "allocator_reserved_bytes"];
    let chain: Vec<u64> = chain.iter().map(|key| run["memory"][key].as_u64().unwrap()).collect();
    assert!(chain.is_sorted(), "each link holds the one before: {chain:?}");
    let (code, audit) = json(&["audit", &model, "--mutate", "50"]);
    assert_eq!((code, &audit["ok"]), (0, &true.into()), "{audit}");
    assert_eq!((&audit["mutations"]["tried"], &audit["mutations"]["caught"]), (&50.into(), &50.into()));
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn mnist_is_right_and_proven() {
    right_and_proven("rten_mnist");
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn a_residual_network_with_squeeze_and_excite_is_right_and_proven() {
    right_and_proven("tiny_resnet_se_64");
}

/// What a newcomer runs first.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn the_main_job_runs_and_proves_itself() {
    let (code, out, err) = sublet(&[]);
    assert_eq!(code, 0, "{out}{err}");
    for part in [
        "adapter",
        "plan",
        "max load (lower bound)",
        "peak of the plan",
        "reuse equals no reuse",
        "0 violations",
    ] {
        assert!(out.contains(part), "'{part}' is missing:\n{out}");
    }
    assert!(!out.contains("FAIL"), "{out}");
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn devices_are_listed_with_their_limits() {
    let (code, devices) = json(&["devices"]);
    assert_eq!(code, 0);
    let limits = &devices["adapters"][0]["limits"];
    assert!(
        limits["max_buffer_size"].as_u64() >= limits["max_storage_buffer_binding_size"].as_u64(),
        "{devices}"
    );
    assert!(
        limits["min_storage_buffer_offset_alignment"].as_u64().is_some_and(u64::is_power_of_two),
        "{devices}"
    );
    assert_eq!(devices["adapters"][0]["layouts"], serde_json::json!(["shared", "ping-pong", "packed"]));
    let profiles = devices["adapters"][0]["profiles"].as_array().unwrap();
    assert!(profiles.contains(&"default".into()), "{devices}");
}

/// A plan for the adapter at hand, by its name; a name that no adapter has is answered with those there are.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn plans_are_made_for_an_adapter_by_its_name() {
    let name = json(&["devices"]).1["adapters"][0]["name"].as_str().unwrap().to_owned();
    let (code, plan) = json(&["plan", "builtin:mobilenet_v1", "--adapter", &name]);
    assert_eq!((code, &plan["peak_bytes"]), (0, &4_816_896.into()), "{plan}");
    let (code, refused) = json(&["plan", "builtin:mobilenet_v1", "--adapter", "no such card"]);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(code == 2 && message.contains(&name), "{message}");
}

/// Run and audit take a layout by name, and give the same outputs in each.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn run_and_audit_take_every_layout() {
    let model = data("tiny_resnet_se_64.onnx");
    let expect = format!("0={}", data("tiny_resnet_se_64.out0.npy"));
    for layout in ["shared", "ping-pong", "packed"] {
        let (code, run) = json(&["run", &model, "--layout", layout, "--expect", &expect, "--runs", "1"]);
        assert_eq!((code, &run["ok"]), (0, &true.into()), "{layout}: {run}");
        let (code, audit) = json(&["audit", &model, "--layout", layout]);
        assert_eq!((code, &audit["ok"]), (0, &true.into()), "{layout}: {audit}");
    }
    let (code, error) = json(&["audit", &model, "--layout", "pingpong"]);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(code == 2 && message.contains("ping-pong"), "{message}");
}

/// The allocator's word on each layout.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn bench_layouts_tells_what_the_allocator_holds() {
    let (code, bench) = json(&["bench", "layouts", &data("tiny_resnet_se_64.onnx"), "--runs", "1"]);
    assert_eq!(code, 0, "{bench}");
    for row in bench["layouts"].as_array().unwrap() {
        let chain = [
            "max_load_bytes",
            "peak_bytes",
            "arena_bytes",
            "allocator_used_bytes",
            "allocator_reserved_bytes",
        ];
        let chain: Vec<u64> = chain.iter().map(|key| row["memory"][key].as_u64().unwrap()).collect();
        assert!(chain.is_sorted() && chain[0] > 0, "{row}");
    }
}
