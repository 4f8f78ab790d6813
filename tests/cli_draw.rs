//! The binary: draw and explain, as people and as scripts call them.
#![cfg(feature = "cli")]

mod support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sublet::graph::passes::Passes;
use sublet::graph::usage;
use sublet::model::{ImportOptions, onnx, zoo};
use sublet::plan::{Alignment, Planner, Problem};
use support::cli::{data, json, sublet};
use support::onnx_encoder::{floats, model, node};

/// A folder of its own for each test, emptied before use.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn file(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn the_name_of_the_file_says_what_is_drawn() {
    let folder = folder("draw");
    let input = data("draw/example.csv");
    for (name, begins) in [("map.svg", "<svg "), ("map.html", "<!doctype html>"), ("map.txt", "example: 8")] {
        let out = file(&folder, name);
        let (code, said, _) = sublet(&["draw", &input, "-o", &out]);
        let text = std::fs::read_to_string(&out).unwrap();
        assert_eq!((code, text.starts_with(begins)), (0, true), "{name}");
        assert_eq!(
            said,
            format!("{out}: 1 picture, {} bytes\n", sublet::plan::report::grouped(text.len() as u64))
        );
        // Once more, over itself: the same bytes.
        assert_eq!(sublet(&["draw", &input, "-o", &out]).0, 0);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), text);
    }
    let trace = file(&folder, "trace.json");
    let (_, report) = json(&["draw", &input, "-o", &trace]);
    assert_eq!((&report["format"], &report["pictures"][0]["peak_bytes"]), (&json!("trace"), &json!(124)));
    let events: Value = serde_json::from_str(&std::fs::read_to_string(&trace).unwrap()).unwrap();
    assert!(events["traceEvents"].as_array().unwrap().len() > 20);
    let left = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(left, 4, "no temporary file stays");
}

#[test]
fn the_terminal_is_the_default_and_colours_are_for_terminals() {
    let input = data("draw/example.csv");
    let (code, text, _) = sublet(&["draw", &input, "--width", "72", "--rows", "16"]);
    assert_eq!((code, text), (0, std::fs::read_to_string(data("draw/example.txt")).unwrap()));
    let coloured = sublet(&["draw", &input, "--width", "72", "--rows", "16", "--colour", "always"]).1;
    assert_eq!(coloured, std::fs::read_to_string(data("draw/example.ansi.txt")).unwrap());
}

#[test]
fn the_pictures_in_the_documents_are_what_the_tool_draws() {
    for (input, picture) in
        [(data("draw/example.csv"), "example.svg"), ("builtin:resnet50".to_owned(), "resnet50.svg")]
    {
        let svg = sublet(&["draw", &input, "--format", "svg"]).1;
        let kept = std::fs::read_to_string(data(&format!("../../docs/img/{picture}"))).unwrap();
        assert!(svg == kept, "docs/img/{picture} is out of date");
    }
}

#[test]
fn several_strategies_and_inputs_are_several_pictures() {
    let input = data("draw/example.csv");
    let (_, report) = json(&["draw", &input, "--strategy", "auto,naive"]);
    let titles: Vec<_> = report["pictures"].as_array().unwrap().iter().map(|p| p["title"].clone()).collect();
    assert_eq!(titles, ["example, auto", "example, naive"]);
    assert_eq!(report["pictures"][1]["peak_bytes"], 234);
    let (_, report) = json(&["draw", &input, "builtin:unet"]);
    assert_eq!(report["pictures"][1]["title"], "unet");
    // A plan in a file is drawn as it is.
    let plan = file(&folder("draw_plan"), "plan.json");
    assert_eq!(sublet(&["plan", &input, "--strategy", "naive", "--out", &plan]).0, 0);
    assert_eq!(json(&["draw", &plan]).1["pictures"][0]["peak_bytes"], 234);
    assert_eq!(json(&["draw", &plan, "--strategy", "auto"]).1["pictures"][0]["peak_bytes"], 124);
}

#[test]
fn what_cannot_be_drawn_is_refused_and_nothing_is_left() {
    let folder = folder("draw_refused");
    let input = data("draw/example.csv");
    let message = |args: &[&str]| {
        let (code, answer) = json(args);
        assert_eq!(code, 2, "{answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    let gif = file(&folder, "map.gif");
    assert!(message(&["draw", &input, "-o", &gif]).contains("must end in .svg, .html, .json"));
    let missing = file(&folder, "nowhere/map.svg");
    assert!(message(&["draw", &input, "-o", &missing]).starts_with("cannot write"));
    let pickled = message(&["draw", "snapshot.pickle"]);
    assert!(pickled.contains("pickle") && pickled.contains("json.dump"), "{pickled}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_memory_snapshot_is_an_input() {
    let input = data("draw/snapshot.json");
    let (code, plan) = json(&["plan", &input]);
    assert_eq!((code, &plan["peak_bytes"], &plan["tensors"]), (0, &json!(4584), &json!(5)));
    let text = sublet(&["draw", &input]).1;
    assert!(text.contains("forward model.py:43"), "{text}");
    let (_, explained) = json(&["explain", &input]);
    assert_eq!(explained["peak"]["tensors"][0]["tensor"], "0 forward model.py:42");
}

#[test]
fn a_run_draws_its_plan() {
    let out = file(&folder("run_draw"), "map.svg");
    let (code, report) = json(&["run", "builtin:blazeface", "--cpu", "--runs", "0", "--draw", &out]);
    assert_eq!(code, 0);
    let svg = std::fs::read_to_string(&out).unwrap();
    assert!(svg.contains(">blazeface</text>") && svg.contains("weights"), "{svg}");
    let boxes = svg.matches("<title>").count() as u64;
    assert_eq!(report["plan"]["tensors"], boxes, "a box a tensor");
    let bad = file(&folder("run_draw_bad"), "map.gif");
    assert_eq!(json(&["run", "builtin:blazeface", "--cpu", "--draw", &bad]).0, 2);
}

/// The problem again, each tensor as it is told, with the constraints it had: what a suggestion speaks of.
fn again(problem: &Problem, halved: bool, parked: Option<(&str, u32, u32)>) -> u64 {
    let mut made = Problem::new(problem.alignment());
    let (mut written, mut read) = (Vec::new(), Vec::new());
    for tensor in problem.tensors() {
        let bytes = if halved { tensor.size_bytes().div_ceil(2) } else { tensor.size_bytes() };
        let (first, last) = (tensor.first(), tensor.last());
        match parked.filter(|(name, ..)| *name == tensor.label()) {
            None => {
                let id = made.tensor(tensor.label(), bytes, first..=last).unwrap();
                written.push(id);
                read.push(id);
            }
            Some((name, until, from)) => {
                written.push(made.tensor(name, bytes, first..=until).unwrap());
                read.push(made.tensor("it is back", bytes, from..=last).unwrap());
            }
        }
    }
    for (id, tensor) in problem.ids().zip(problem.tensors()) {
        for input in tensor.in_place() {
            made.allow_in_place(written[id.index()], read[input.index()]).unwrap();
        }
        if let Some(alias) = tensor.alias() {
            let byte_offset = if halved { alias.byte_offset / 2 } else { alias.byte_offset };
            made.alias(written[id.index()], written[alias.base.index()], byte_offset).unwrap();
        }
    }
    Planner::auto().plan(&made).unwrap().peak_bytes()
}

/// Holds every suggestion, those that save nothing too, to a plan that is made here. Returns the kinds.
fn suggestions_are_plans(input: &str, problem: &Problem) -> (Value, Vec<String>) {
    let (code, explained) = json(&["explain", input]);
    assert_eq!(code, 0);
    let now = explained["plan"]["peak_bytes"].as_u64().unwrap();
    let list = |key: &str| explained[key].as_array().unwrap().clone();
    let (better, tried) = (list("suggestions"), list("tried"));
    let mut kinds = Vec::new();
    for suggestion in better.iter().chain(&tried) {
        let kind = suggestion["kind"].as_str().unwrap();
        let peak = match (kind, suggestion["flags"].as_array()) {
            (_, Some(flags)) => {
                let flags = flags.iter().map(|flag| flag.as_str().unwrap());
                let args: Vec<&str> = ["plan", input].into_iter().chain(flags).collect();
                json(&args).1["peak_bytes"].as_u64().unwrap()
            }
            ("f16", None) => again(problem, true, None),
            ("park", None) => {
                let name = suggestion["tensors"][0].as_str().unwrap();
                let parts = explained["peak"]["tensors"].as_array().unwrap();
                let part = parts.iter().find(|part| part["tensor"] == name).unwrap();
                let step = |key: &str| part[key].as_u64().unwrap() as u32;
                again(problem, false, Some((name, step("waits_since"), step("waits_until"))))
            }
            other => panic!("{other:?} is not checked"),
        };
        assert_eq!(suggestion["peak_bytes"], peak, "{suggestion}");
        assert_eq!(suggestion["saves_bytes"], now.saturating_sub(peak), "{suggestion}");
        kinds.push(kind.to_owned());
    }
    let saved: Vec<u64> = better.iter().map(|s| s["saves_bytes"].as_u64().unwrap()).collect();
    assert!(saved.is_sorted_by(|a, b| a >= b) && saved.iter().all(|bytes| *bytes > 0), "{saved:?}");
    assert!(tried.iter().all(|s| s["saves_bytes"] == 0));
    (explained, kinds)
}

fn built_in(name: &str) -> Problem {
    let (graph, sharing) = Passes::ALL.apply(zoo::build(name).unwrap()).unwrap();
    usage(&graph, Alignment::PORTABLE, &sharing).unwrap().problem
}

/// Names, bytes and roles of what is live at the peak.
fn parts(explained: &Value) -> Vec<(String, u64, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let parts = explained["peak"]["tensors"].as_array().unwrap();
    parts.iter().map(|p| (text(&p["tensor"]), p["bytes"].as_u64().unwrap(), text(&p["role"]))).collect()
}

fn part(name: &str, bytes: u64, role: &str) -> (String, u64, String) {
    (name.to_owned(), bytes, role.to_owned())
}

#[test]
fn explain_unet_names_the_skip_and_its_suggestions_are_plans() {
    let (explained, kinds) = suggestions_are_plans("builtin:unet", &built_in("unet"));
    let mib = 1 << 20;
    assert_eq!(
        parts(&explained),
        [
            part("down0/conv2", 8 * mib, "waits"),
            part("up0", 8 * mib, "read"),
            part("up0/conv1/part0#91", 8 * mib, "written"),
        ]
    );
    assert_eq!((&explained["peak"]["step"], &explained["peak"]["op"]), (&json!(27), &json!("Conv")));
    let best = &explained["suggestions"];
    assert_eq!((&best[0]["kind"], &best[0]["saves_bytes"]), (&json!("f16"), &json!(12 * mib)));
    assert_eq!((&best[1]["kind"], &best[1]["saves_bytes"]), (&json!("park"), &json!(8 * mib)));
    assert_eq!(kinds, ["f16", "park", "order", "layout", "layout"]);
    // With the passes off there is more to gain, and the flags say how.
    let (_, off) = json(&["explain", "builtin:unet", "--passes", "off"]);
    let best = off["suggestions"].as_array().unwrap().iter().find(|s| s["kind"] == "passes").unwrap();
    assert_eq!(best["peak_bytes"], explained["plan"]["peak_bytes"]);
    assert_eq!(best["flags"][0], "--passes");
}

#[test]
fn explain_resnet50_names_the_branch_and_its_suggestions_are_plans() {
    let (explained, kinds) = suggestions_are_plans("builtin:resnet50", &built_in("resnet50"));
    assert_eq!(
        parts(&explained),
        [
            part("stage1/block2/relu", 4 * 256 * 56 * 56, "waits"),
            part("stage2/block0/conv1", 4 * 128 * 56 * 56, "read"),
            part("stage2/block0/conv2", 4 * 128 * 28 * 28, "written"),
        ]
    );
    assert!(kinds.contains(&"park".to_owned()), "{kinds:?}");
    let text = sublet(&["explain", "builtin:resnet50"]).1;
    assert!(text.contains("no plan of these tensors in this order is lower"), "{text}");
}

/// Case 15: convolutions of 128 channels at 512 x 512, 134,217,728 bytes a tensor.
#[test]
fn explain_case_15_names_both_tensors_and_half_precision_halves_the_peak() {
    let weights = vec![0.0; 128 * 128];
    let bytes = model(13)
        .input("x", &[1, 128, 512, 512])
        .initializer(floats("w", &[128, 128, 1, 1], &weights))
        .node(node("Conv", &["x", "w"], &["first"]))
        .node(node("Conv", &["first", "w"], &["second"]))
        .node(node("GlobalAveragePool", &["second"], &["end"]))
        .output("end")
        .bytes();
    let path = file(&folder("explain_case_15"), "image.onnx");
    std::fs::write(&path, &bytes).unwrap();
    let graph = onnx::parse(&bytes, "image", &ImportOptions::default()).unwrap();
    let (graph, sharing) = Passes::ALL.apply(graph).unwrap();
    let problem = usage(&graph, Alignment::PORTABLE, &sharing).unwrap().problem;
    let (explained, _) = suggestions_are_plans(&path, &problem);
    let tensor = 134_217_728;
    assert_eq!(parts(&explained), [part("first", tensor, "read"), part("second", tensor, "written")]);
    assert_eq!(explained["plan"]["peak_bytes"], 2 * tensor);
    let half = &explained["suggestions"][0];
    assert_eq!((&half["kind"], &half["peak_bytes"]), (&json!("f16"), &json!(tensor)));
}

/// The only tensor of a network: its peak is at its bound, and the text says so.
#[test]
fn where_nothing_helps_explain_says_so() {
    let folder = folder("explain_nothing");
    let input = file(&folder, "one.csv");
    std::fs::write(&input, "id,lower,upper,size\na,0,1,1\n").unwrap();
    let (code, text, _) = sublet(&["explain", &input]);
    assert_eq!(code, 0);
    assert!(text.contains("nothing that was tried lowers it; the peak is at its lower bound"), "{text}");
    let (_, answer) = json(&["explain", &input]);
    assert_eq!(answer["suggestions"], json!([]));
    std::fs::write(&input, "id,lower,upper,size\na,0,1,0\n").unwrap();
    assert!(sublet(&["explain", &input]).1.contains("no tensor has a byte"));
}

/// Records say nothing of operators; in-place and keeping are what-ifs all the same.
#[test]
fn records_are_explained_by_what_could_be() {
    let folder = folder("explain_records");
    let input = file(&folder, "chain.csv");
    std::fs::write(&input, "id,lower,upper,size\na,0,2,100\nb,1,3,80\nc,2,4,60\n").unwrap();
    let (_, explained) = json(&["explain", &input, "--keep", "a"]);
    assert_eq!(explained["plan"]["peak_bytes"], 240);
    let peak_of = |kind: &str| {
        let all = explained["suggestions"].as_array().unwrap();
        all.iter().find(|s| s["kind"] == kind).unwrap_or_else(|| panic!("{kind}"))["peak_bytes"].clone()
    };
    assert_eq!((peak_of("keep"), peak_of("in-place"), peak_of("f16")), (json!(180), json!(180), json!(120)));
}
