//! `sublet bench arena`: what it measures is what happened.
#![cfg(feature = "cli")]

mod support;

use support::cli::{data, json, sublet};

/// The paper's network at an alignment of 256, without a device.
#[test]
fn streams_are_served_in_every_way() {
    let records = data("networks/paper_inception_v3_299.csv");
    let (code, found) = json(&["bench", "arena", &records, "--no-buffers", "--runs", "5"]);
    let row = &found["arena"][0];
    assert_eq!((code, row["instance"].as_str()), (0, Some("paper_inception_v3_299")), "{found}");
    let number = |key: &str, field: &str| row[key][field].as_f64().unwrap_or_else(|| panic!("{key}: {row}"));
    let load = row["max_load_bytes"].as_f64().unwrap();
    for key in ["replay", "offset_allocator", "best_fit"] {
        assert!(number(key, "peak_bytes") >= load, "{key}: {row}");
        assert!(number(key, "ns") > 0.0, "{key}: {row}");
    }
    assert!(number("loop", "ns") > 0.0 && number("loop", "ns") < number("best_fit", "ns"), "{row}");
    assert!(number("replay", "peak_bytes") <= number("best_fit", "peak_bytes"), "{row}");
    assert!(row["wgpu_buffers"]["ns"].is_null(), "none were asked for");
    let shapes = |field: &str| number("shapes", field);
    assert!(shapes("view_ns") > 0.0 && shapes("views_seconds") < shapes("plan_seconds"), "{row}");
    assert!(shapes("half_peak_bytes") < shapes("bound_peak_bytes"), "{row}");
    let departed = row["departed"].as_array().unwrap();
    let of = |field: &str| departed.iter().map(|d| d[field].as_f64().unwrap()).collect::<Vec<_>>();
    assert_eq!(of("percent"), [1.0, 10.0, 50.0]);
    assert!(of("overflowed_bytes").is_sorted() && of("overflowed_bytes")[2] > load, "{row}");
    assert!(of("peak_bytes").iter().all(|bytes| *bytes >= load), "{row}");
}

#[test]
fn what_is_no_input_is_refused() {
    let (code, _, err) = sublet(&["bench", "arena", "builtin:mobilenet_v9"]);
    assert_eq!((code, err.contains("mobilenet_v")), (2, true), "{err}");
}
