//! `sublet bench --all` and `sublet bench report`: what a record holds, and the page made of records.
#![cfg(feature = "cli")]

mod support;

use serde_json::Value;
use support::cli::{json, sublet};
use support::scratch;

/// Records of the CPU executor, in a folder of the test.
fn record(folder: &std::path::Path, machine: &str) -> (String, Value) {
    let path = folder.join(format!("{machine}.json")).display().to_string();
    let arguments =
        ["bench", "--all", "--quick", "--cpu", "--runs", "2", "--machine", machine, "--out", &path];
    let (code, printed) = json(&[&arguments[..], &["--note", "beside other tests"]].concat());
    assert_eq!(code, 0, "{printed}");
    assert_eq!(printed["written"], path.as_str());
    let text = std::fs::read_to_string(&path).unwrap();
    (path, serde_json::from_str(&text).unwrap())
}

/// The number of one measurement.
fn value(record: &Value, group: &str, subject: &str, metric: &str) -> f64 {
    let all = record["measurements"].as_array().unwrap();
    let found = all.iter().find(|m| m["group"] == group && m["subject"] == subject && m["metric"] == metric);
    found.unwrap_or_else(|| panic!("{group} {subject} {metric}"))["value"].as_f64().unwrap()
}

#[test]
fn a_record_says_what_was_measured_on_what_by_what() {
    let folder = scratch("bench_record");
    let (_, record) = record(&folder, "here");
    assert_eq!((record["format"].as_str(), record["version"].as_u64()), (Some("sublet-bench"), Some(1)));
    assert_eq!(record["host"]["machine"], "here");
    assert!(record["host"]["os"].is_string() && record["host"]["arch"].is_string());
    assert_eq!(record["adapter"]["name"], "cpu");
    assert_eq!(record["program"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(record["note"], "beside other tests");
    assert!(record["command"].as_str().unwrap().starts_with("sublet bench --all --quick --cpu"));
    let date = record["date"].as_str().unwrap();
    assert!(date.len() == 20 && date.ends_with('Z') && date.as_bytes()[10] == b'T', "{date}");
    let memory = |metric: &str| value(&record, "memory", "blazeface", metric);
    assert!(memory("max_load_bytes") <= memory("peak_bytes"));
    assert!(memory("peak_bytes") <= memory("arena_bytes"));
    assert_eq!(value(&record, "plan", "blazeface", "max_load_bytes"), memory("max_load_bytes"));
    for metric in ["run_s", "first_run_s", "compile_s"] {
        assert!(value(&record, "run", "blazeface", metric) > 0.0, "{metric}");
    }
    for layout in ["shared", "ping-pong", "packed"] {
        let subject = format!("blazeface {layout}");
        assert!(value(&record, "layouts", &subject, "peak_bytes") >= memory("max_load_bytes"));
    }
    let allocating = |metric: &str| value(&record, "arena", "blazeface", metric);
    assert!(allocating("replay_s") > 0.0 && allocating("offset_allocator_s") > 0.0);
    assert!(allocating("max_load_bytes") <= allocating("replay_peak_bytes"));
    for m in record["measurements"].as_array().unwrap() {
        let unit = m["unit"].as_str().unwrap();
        assert!(["bytes", "s", "count"].contains(&unit), "{m}");
        let repeats = if m["metric"] == "plan_s" {
            5
        } else if m["metric"] == "run_s" {
            2
        } else if m["group"] == "arena" && m["unit"] == "s" {
            11
        } else {
            1
        };
        assert_eq!(m["repeats"].as_u64(), Some(repeats), "{m}");
    }
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["here.json"], "no temporary file stays");
}

/// Memory is told as `sublet run` tells it, key by key, and in the same words.
#[test]
fn memory_is_told_as_a_run_tells_it() {
    let out = scratch("bench_memory").join("here.json").display().to_string();
    let (_, run) = json(&["run", "builtin:blazeface", "--cpu", "--runs", "1"]);
    let all = ["bench", "--all", "--quick", "--cpu", "--runs", "1", "--machine", "here", "--out", &out];
    let (_, all) = json(&all);
    let layouts = ["bench", "layouts", "builtin:blazeface", "--cpu", "--runs", "1"];
    let (_, measured) = json(&layouts);
    // The resident set is the process's own, which did other work as well.
    let told = |memory: &Value| {
        let mut keys = memory.as_object().unwrap_or_else(|| panic!("{memory}")).clone();
        assert!(keys.remove("rss_peak_bytes").is_some());
        keys
    };
    assert!(told(&run["memory"])["arena_bytes"].as_u64() > Some(0));
    assert_eq!(told(&all["memory"]["blazeface"]), told(&run["memory"]));
    let layout = |i: usize| &measured["layouts"][i];
    assert_eq!(told(&layout(0)["memory"]), told(&run["memory"]), "shared");
    for i in 0..3 {
        let memory = told(&layout(i)["memory"]);
        assert_eq!(memory["peak_bytes"], layout(i)["peak_bytes"]);
        assert!(memory["arena_bytes"].as_u64() >= memory["peak_bytes"].as_u64(), "{memory:?}");
    }
    let (_, said, _) = sublet(&layouts);
    for part in ["memory, shared\n", "memory, ping-pong\n", "memory, packed\n", "= weights + arenas + in/out"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn records_become_one_page() {
    let folder = scratch("bench_page");
    let (one, _) = record(&folder, "one");
    let (two, _) = record(&folder, "two");
    let page = folder.join("page.html").display().to_string();
    let (code, printed) = json(&["bench", "report", &one, &two, "-o", &page]);
    assert_eq!((code, printed["records"].as_array().unwrap().len()), (0, 2));
    let html = std::fs::read_to_string(&page).unwrap();
    assert_eq!(html.len() as u64, printed["page_bytes"].as_u64().unwrap());
    for text in ["<th>one</th><th>two</th>", "beside other tests", "blazeface packed", "median of 2"] {
        assert!(html.contains(text), "{text}");
    }
    let (code, printed, _) = sublet(&["bench", "report", &one, &two]);
    assert_eq!((code, printed), (0, html), "without -o the page goes to stdout");
}

#[test]
fn what_is_no_record_is_named() {
    let folder = scratch("bench_bad");
    let path = folder.join("bad.json").display().to_string();
    let later = r#"{"format":"sublet-bench","version":2,"host":{"machine":"m","os":"o","arch":"a"},
        "program":{"version":"1","build":"release"},"command":"c","date":"d","measurements":[]}"#;
    for (text, part) in [
        ("{}", "no record"),
        (later, "version 2"),
        (&later.replace("sublet-bench", "other").replace(":2,", ":1,"), "format 'other'"),
    ] {
        std::fs::write(&path, text).unwrap();
        let (code, printed) = json(&["bench", "report", &path]);
        let message = printed["error"]["message"].as_str().unwrap();
        assert!(code == 2 && message.contains("bad.json") && message.contains(part), "{message}");
    }
    for arguments in [
        &["bench"][..],
        &["bench", "--quick"],
        &["bench", "--all", "--machine", "../up"],
        &["bench", "--all", "--adapter", "no such adapter"],
        &["bench", "plan", "x.csv", "--record", "a/b"],
    ] {
        let (code, printed) = json(arguments);
        assert_eq!(code, 2, "{arguments:?}: {printed}");
    }
}
