//! The binary: plan, compare, validate, as people and as scripts call them.
#![cfg(feature = "cli")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn sublet(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sublet"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("RUST_LOG")
        .output()
        .unwrap()
}

fn json(arguments: &[&str], code: i32) -> Value {
    let output = sublet(&[arguments, &["--json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(code), "{text}");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn refused(arguments: &[&str]) -> String {
    let error = json(arguments, 2)["error"].clone();
    let human = sublet(arguments);
    assert_eq!(human.status.code(), Some(2));
    assert!(human.stdout.is_empty(), "errors go to stderr");
    for key in ["kind", "message", "tensor", "step", "limit", "needed", "available"] {
        assert!(error.get(key).is_some(), "{key} in {error}");
    }
    error["message"].as_str().unwrap().to_owned()
}

/// A folder of its own for each test, emptied before use.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const V2: &str = "tests/data/networks/paper_mobilenet_v2_224.csv";

#[test]
fn plan_reports_the_same_numbers_to_people_and_machines() {
    let report = json(&["plan", V2], 0);
    assert_eq!(report["tensors"], 65);
    assert_eq!(report["naive_bytes"], 27_591_112);
    assert_eq!(report["max_load_bytes"], 6_021_120);
    assert_eq!(report["peak_bytes"], 6_021_120);
    assert_eq!(report["lower_bound_bytes"], 6_021_120);
    assert_eq!(report["optimal"], true);
    assert_eq!(report["gap"], 0.0);
    assert_eq!(report["strategy"], "greedy_by_size");
    assert_eq!(report["layout"], "shared");
    assert_eq!(report["alignment"], 1);
    assert_eq!(report["arenas"], serde_json::json!([{ "bytes": 6_021_120 }]));
    assert!(report["seconds"].as_f64().unwrap() >= 0.0);
    assert!(report["peak_step"].is_u64() && report["peak_tensors"].as_array().unwrap().len() > 1);

    let output = sublet(&["plan", V2]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("peak                5.742 MiB        6,021,120 bytes"), "{text}");
    assert!(text.contains("proven lowest"), "{text}");
    assert_eq!(json(&["plan", V2, "--strategy", "strip-packing"], 0)["peak_bytes"], 6_322_176);
    assert_eq!(json(&["plan", V2, "--strategy", "strip_packing"], 0)["optimal"], false);
    assert_eq!(json(&["plan", V2, "--align", "256"], 0)["alignment"], 256);
}

#[test]
fn plan_files_go_out_and_are_judged() {
    let folder = folder("plan_files");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (plan, solved) = (path("plan.json"), path("solved.csv"));
    json(&["plan", V2, "--align", "256", "--max-buffer", "5MiB", "--out", &plan], 0);
    json(&["plan", V2, "--out", &solved], 0);
    let verdict = json(&["validate", &plan], 0);
    assert_eq!((&verdict["valid"], &verdict["tensors"]), (&Value::Bool(true), &Value::from(65)));
    assert_eq!(verdict["arenas"].as_array().unwrap().len(), 2);
    json(&["validate", &plan, V2], 0);
    json(&["validate", &solved], 0);
    json(&["validate", &solved, V2], 0);
    assert_eq!(json(&["plan", &plan], 0)["peak_bytes"], 6_021_120);

    let other = json(&["validate", &plan, "tests/data/networks/paper_mobilenet_v1_224.csv"], 1);
    assert_eq!(other["error"]["kind"], "violation");
    let edited = std::fs::read_to_string(&plan).unwrap().replacen("\"arena\": 1", "\"arena\": 0", 1);
    let edited = write(&folder, "edited.json", &edited);
    assert!(refused(&["validate", &edited]).contains("the places were edited"));

    let overlap = write(&folder, "overlap.csv", "id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,8,4\n");
    let verdict = json(&["validate", &overlap], 1);
    assert_eq!(verdict["valid"], false);
    assert_eq!(
        (&verdict["error"]["tensor"], &verdict["error"]["step"]),
        (&Value::from("b"), &Value::from(1))
    );
    let output = sublet(&["validate", &overlap]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, "error: tensors 'a' and 'b' both hold bytes 4..8 of arena 0 at step 1\n");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "{left:?}");
}

#[test]
fn limits_and_capacity_say_what_does_not_fit() {
    let error = json(&["plan", V2, "--max-binding", "4MiB"], 1)["error"].clone();
    assert_eq!((&error["kind"], &error["limit"]), (&Value::from("limit"), &Value::from("max_binding_bytes")));
    assert_eq!((&error["needed"], &error["available"]), (&Value::from(4_816_896), &Value::from(4 << 20)));
    assert!(error["tensor"].is_string());

    json(&["plan", V2, "--capacity", "6021120"], 0);
    let report = json(&["plan", V2, "--capacity", "6021119"], 1);
    assert_eq!(report["peak_bytes"], 6_021_120);
    let error = &report["error"];
    assert_eq!((&error["kind"], &error["needed"]), (&Value::from("capacity"), &Value::from(6_021_120)));
    assert_eq!(error["step"], report["peak_step"]);
    assert_eq!((&error["available"], &error["proven"]), (&Value::from(6_021_119), &Value::from(true)));
    let bytes = |t: &Value| t["size_bytes"].as_u64().unwrap();
    let sizes: Vec<u64> = error["tensors"].as_array().unwrap().iter().map(bytes).collect();
    assert_eq!(sizes.iter().sum::<u64>(), 6_021_120);
    assert_eq!(error["tensors"][0]["label"], error["tensor"]);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("live together at step"), "{message}");
    let loose = json(&["plan", V2, "--strategy", "greedy-in-order", "--capacity", "6100000"], 1);
    assert!(loose["error"]["message"].as_str().unwrap().ends_with("a better plan might fit"));
    assert_eq!(loose["error"]["proven"], false);
}

#[test]
fn profiles_say_whether_a_network_fits_splits_or_is_refused() {
    let names = |report: &Value| -> Vec<String> {
        report["profiles"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let all =
        ["default", "chrome", "m1", "a1", "a2", "n1", "i1", "llvmpipe", "warp", "fallback", "downlevel"];
    for model in ["builtin:mobilenet_v2", V2] {
        let report = json(&["plan", model, "--profile", "all"], 0);
        assert_eq!(names(&report), all);
        for row in report["profiles"].as_array().unwrap() {
            assert_eq!((&row["verdict"], &row["peak_bytes"]), (&"fits".into(), &6_021_120.into()), "{row}");
        }
    }
    let folder = folder("profiles");
    // Twice 140 MiB at a time: over the smallest binding limit, two of them over the smallest buffer limit.
    let large = "id,lower,upper,size\na,0,2,146800640\nb,1,3,146800640\n";
    let large = json(&["plan", &write(&folder, "large.csv", large), "--profile", "all"], 0);
    let wide = "id,lower,upper,size\na,0,2,125829120\nb,0,2,125829120\nc,0,2,125829120\n";
    let wide = json(&["plan", &write(&folder, "wide.csv", wide), "--profile", "all"], 0);
    let verdicts = |report: &Value| -> Vec<String> {
        let rows = report["profiles"].as_array().unwrap();
        rows.iter().map(|p| p["verdict"].as_str().unwrap().to_owned()).collect()
    };
    let large_verdicts = [
        "refused", "fits", "fits", "fits", "fits", "fits", "fits", "refused", "refused", "refused", "refused",
    ];
    assert_eq!(verdicts(&large), large_verdicts);
    let why = &large["profiles"][0]["reason"];
    assert_eq!((&why["tensor"], &why["limit"]), (&"a".into(), &"max_binding_bytes".into()));
    assert_eq!((&why["needed"], &why["available"]), (&146_800_640.into(), &134_217_728.into()));
    let wide_verdicts =
        ["splits", "fits", "fits", "fits", "fits", "fits", "fits", "fits", "fits", "splits", "splits"];
    assert_eq!(verdicts(&wide), wide_verdicts);
    let human = String::from_utf8(sublet(&["plan", V2, "--profile", "all"]).stdout).unwrap();
    assert_eq!(human.lines().count(), 2 + all.len(), "{human}");
}

#[test]
fn effort_seed_and_threads_are_taken_and_the_plan_says_why_it_is_the_lowest() {
    let report = json(&["plan", V2, "--effort", "fast", "--seed", "7", "--threads", "2"], 0);
    assert_eq!((&report["peak_bytes"], &report["proof"]), (&6_021_120.into(), &"max load".into()));
    let strips = json(&["plan", V2, "--strategy", "strip-packing"], 0);
    assert_eq!(strips["proof"], Value::Null);
    assert!(refused(&["plan", V2, "--effort", "fats"]).contains("did you mean 'fast'?"));
}

#[test]
fn keep_raises_the_plan_and_says_by_how_much() {
    let folder = folder("keep");
    let chain = write(&folder, "chain.csv", "id,lower,upper,size\na,0,2,100\nb,1,3,90\nc,2,4,80\nd,3,5,70\n");
    let report = json(&["plan", &chain, "--keep", "a"], 0);
    assert_eq!((&report["peak_bytes"], &report["keep_cost_bytes"]), (&270.into(), &80.into()));
    let message = refused(&["plan", &chain, "--keep", "e"]);
    assert!(message.starts_with("there is no tensor 'e'; did you mean '"), "{message}");
}

#[test]
fn compare_prints_the_tables_of_the_papers() {
    let names = ["mobilenet_v1_224", "mobilenet_v2_224", "deeplab_v3_257_dm05_os8", "inception_v3_299"];
    let files: Vec<String> = names.iter().map(|n| format!("tests/data/networks/paper_{n}.csv")).collect();
    let mut arguments = vec!["compare"];
    arguments.extend(files.iter().map(String::as_str));
    let inputs = json(&arguments, 0)["inputs"].clone();
    let bytes = |i: usize, kind: &str, key: &str| inputs[i][kind][key].as_u64().unwrap();
    assert_eq!(inputs[0]["name"], "paper_mobilenet_v1_224");
    assert_eq!(bytes(0, "offsets", "greedy_by_size"), 4_816_896);
    assert_eq!(bytes(1, "offsets", "greedy_by_size"), 6_021_120);
    assert_eq!(bytes(2, "offsets", "strip_packing"), 4_530_240);
    assert_eq!(bytes(2, "offsets", "auto"), 4_530_240);
    assert_eq!(bytes(3, "offsets", "greedy_by_size"), 8_297_856);
    assert_eq!(bytes(1, "offsets", "lower_bound"), 6_021_120);
    assert_eq!(bytes(1, "shared_objects", "lower_bound"), 6_924_288);
    assert_eq!(bytes(1, "shared_objects", "naive"), 27_591_112);
    for key in ["naive", "greedy_by_size", "greedy_by_breadth", "greedy_in_order", "strip_packing"] {
        assert!(bytes(3, "offsets", key) >= bytes(3, "offsets", "auto"), "{key}");
    }
    for key in
        ["greedy_by_size", "greedy_by_size_improved", "greedy_by_breadth", "greedy_in_order", "min_cost_flow"]
    {
        assert!(bytes(3, "shared_objects", key) >= bytes(3, "shared_objects", "lower_bound"), "{key}");
    }
    let text = String::from_utf8(sublet(&arguments).stdout).unwrap();
    assert!(
        text.contains("greedy_by_size               5.742 MiB        6,021,120 bytes    1.0000"),
        "{text}"
    );
}

#[test]
fn bad_input_is_answered_with_one_sentence_and_exit_code_2() {
    let folder = folder("bad_input");
    let csv = |name: &str, rows: &str| write(&folder, name, &format!("id,lower,upper,size\n{rows}"));
    let names_line = |file: &str, part: &str| {
        let message = refused(&["plan", file]);
        assert!(message.contains(part) && !message.contains('\n'), "{message}");
    };
    names_line(&csv("negative.csv", "0,0,2,-5\n"), "line 2, size: '-5' is negative");
    names_line(&csv("order.csv", "0,0,2,5\n1,3,3,5\n"), "line 3, upper: lower 3 is not below upper 3");
    names_line(&csv("word.csv", "0,0,2,many\n"), "line 2, size: 'many' is no whole number");
    names_line(&csv("twice.csv", "x,0,2,5\nx,0,2,5\n"), "line 3, id: 'x' occurs twice");
    names_line(
        &csv("sum.csv", "0,0,1,18446744073709000000\n1,0,1,18446744073709000000\n"),
        "line 3, size: tensor '1'",
    );
    names_line(
        &write(&folder, "column.csv", "id,lower,size\n0,0,5\n"),
        "line 1, upper: there is no such column",
    );
    names_line(&write(&folder, "empty.csv", ""), "the file is empty");
    names_line(&write(&folder, "half.json", "{\"format\": \"sublet plan\", "), "no plan file");
    names_line(folder.to_str().unwrap(), "it is a directory");
    names_line("nowhere.csv", "cannot read nowhere.csv: No such file");
    names_line("network.txt", "cannot tell what network.txt is");

    let message = refused(&["plan", V2, "--strategy", "greedy-size"]);
    assert!(message.contains("did you mean 'greedy-by-size'?"), "{message}");
    assert!(refused(&["plan", V2, "--align", "3"]).contains("a power of two"));
    assert!(refused(&["plan", V2, "--max-buffer", "3 parsecs"]).contains("no unit of bytes"));
    assert!(refused(&["plan", V2, "--out", "plan.txt"]).contains(".json or .csv"));
    assert!(refused(&["plan"]).contains("INPUT"));
    assert!(refused(&["plam", V2]).contains("plam"));
    assert!(refused(&["plan", V2, "--alin", "4"]).contains("--align"));
    assert!(refused(&["validate", V2]).contains("offset: there is no value"));
    assert!(refused(&["plan", V2, "--out", "no/such/folder/plan.json"]).starts_with("cannot write"));
    assert_eq!(json(&["plan", "nowhere.csv"], 2)["error"]["kind"], "io");
    assert_eq!(json(&["plan"], 2)["error"]["kind"], "usage");
}

#[test]
fn help_shows_examples() {
    for (arguments, part) in [
        (&["--help"][..], "Exit codes: 0 good"),
        (&["plan", "--help"], "--max-buffer 256MiB"),
        (&["compare", "--help"], "sublet compare networks/*.csv"),
        (&["validate", "--help"], "sublet validate plan.json"),
    ] {
        let output = sublet(arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8(output.stdout).unwrap().contains(part), "{arguments:?}");
    }
}
