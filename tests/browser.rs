//! A judge that is not ours: headless Chromium, whose WebGPU checks more than native wgpu does.
//!
//! The judge page needs a browser alone; the network page needs the library built for wasm32, in the folder
//! that `SUBLET_WEB_PKG` names (`scripts/web` builds it: `target/web/site/pkg`).
#![cfg(feature = "cli")]

#[path = "support/browser.rs"]
mod browser;
#[path = "browser/collisions.rs"]
mod collisions;
#[path = "browser/maps.rs"]
mod maps;
#[path = "support/native_judge.rs"]
mod native_judge;
#[path = "support/random_dispatches.rs"]
mod random_dispatches;
mod support;

use browser::{Posted, Server, Site};
use native_judge::NativeJudge;
use random_dispatches::{Case, WEBGPU, cases};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use sublet::exec::{CpuNetwork, Layout, Program};
use sublet::graph::Graph;
use sublet::graph::passes::Passes;
use sublet::kernel::{KernelId, LowerLimits};
use sublet::legal::{BindingLimits, Partition, Rule};
use sublet::model::{onnx, zoo};
use sublet::plan::Planner;
use support::collisions::printed;

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn posted(server: &Server, page: &str, limit: Duration) -> (Value, BTreeMap<String, Vec<u8>>) {
    let Posted { answer: text, files } = server.ask(page, limit);
    let answer: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(answer["error"], Value::Null, "{page}");
    println!("{page}: adapter {}", answer["adapter"]);
    (answer, files)
}

/// What Chromium says to each: its message where it refuses.
struct Refusals {
    cases: Vec<Option<String>>,
    shaders: Vec<Option<String>>,
}

fn ask_chromium(cases: &[Case], shaders: &[String]) -> Refusals {
    let keys = [
        ("minStorageBufferOffsetAlignment", WEBGPU.storage_alignment_bytes),
        ("minUniformBufferOffsetAlignment", WEBGPU.uniform_alignment_bytes),
        ("maxStorageBufferBindingSize", WEBGPU.max_storage_binding_bytes),
        ("maxUniformBufferBindingSize", WEBGPU.max_uniform_binding_bytes),
        ("maxStorageBuffersPerShaderStage", WEBGPU.max_storage_bindings as u64),
        ("maxComputeWorkgroupsPerDimension", u64::from(WEBGPU.max_workgroups)),
    ];
    let described: Vec<Value> = cases.iter().map(Case::json).collect();
    let limits = keys.map(|(key, _)| key);
    let wanted = json!({ "limits": limits, "cases": described, "shaders": shaders, "runs": [] });
    let mut site = Site { folders: vec![("", folder("examples/web"))], ..Site::default() };
    site.made.insert("dispatches.json".into(), wanted.to_string().into_bytes());
    let (answer, _) = posted(&Server::start(site), "judge.html", Duration::from_secs(120));
    for (key, limit) in keys {
        assert_eq!(answer["limits"][key], limit, "{key}");
    }
    let list = |key: &str, len: usize| -> Vec<Option<String>> {
        let list = answer[key].as_array().expect("a list of verdicts");
        assert_eq!(list.len(), len, "{key}");
        list.iter().map(|v| v.as_str().map(str::to_owned)).collect()
    };
    Refusals { cases: list("verdicts", cases.len()), shaders: list("shaders", shaders.len()) }
}

/// The rule that a message of Chromium speaks of, where its wording is known.
fn rule_of(message: &str) -> Option<Rule> {
    let wordings = [
        ("Writable storage buffer binding aliasing", Rule::WritableAliasing),
        (
            "includes writable usage and another usage in the same synchronization scope",
            Rule::WholeBufferUsage,
        ),
        ("does not satisfy the minimum BufferBindingType", Rule::OffsetAlignment),
        ("exceeds max compute workgroups per dimension", Rule::DispatchSize),
    ];
    wordings.iter().find(|(words, _)| message.contains(words)).map(|(_, rule)| *rule)
}

#[derive(Default)]
struct Row {
    cases: usize,
    check: usize,
    chromium: usize,
    native: usize,
}

#[test]
#[ignore = "needs headless Chromium; scripts/test browser runs it"]
fn chromium_and_check_agree_on_random_dispatches() {
    let cases = cases(2, 840);
    let refusals = ask_chromium(&cases, &[]).cases;
    let native = NativeJudge::new();
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut disagreements = Vec::new();
    let mut known_wordings = BTreeMap::<String, usize>::new();
    for (case, refusal) in cases.iter().zip(&refusals) {
        let found = case.violations(&WEBGPU);
        let row = rows.entry(case.situation).or_default();
        row.cases += 1;
        row.check += usize::from(!found.is_empty());
        row.chromium += usize::from(refusal.is_some());
        row.native += usize::from(native.refusal(case).is_some_and(|answer| answer.is_err()));
        let rule = refusal.as_deref().and_then(rule_of);
        let same_rule = rule.is_none_or(|rule| found.iter().any(|v| v.rule == rule));
        if let Some(rule) = rule {
            *known_wordings.entry(format!("{rule:?}")).or_default() += 1;
        }
        if found.is_empty() == refusal.is_some() || !same_rule {
            disagreements.push(format!("{case:?}\n  check: {found:?}\n  Chromium: {refusal:?}"));
        }
    }
    println!("{:<45} {:>5} {:>8} {:>9} {:>12}", "refused by", "cases", "check", "Chromium", "wgpu native");
    for (situation, Row { cases, check, chromium, native }) in &rows {
        println!("{situation:<45} {cases:>5} {check:>8} {chromium:>9} {native:>12}");
    }
    println!("Chromium's wording names the rule: {known_wordings:?}");
    assert!(disagreements.is_empty(), "{} disagree\n{}", disagreements.len(), disagreements.join("\n"));
    let accepted = refusals.iter().filter(|r| r.is_none()).count();
    assert!(accepted > 150 && refusals.len() - accepted > 300, "{accepted} of {} lawful", refusals.len());
}

/// The comparison itself can fail: rules that are a little wrong disagree with the browser.
#[test]
#[ignore = "needs headless Chromium; scripts/test browser runs it"]
fn a_wrong_rule_disagrees_with_chromium() {
    let cases = cases(3, 210);
    let refusals = ask_chromium(&cases, &[]).cases;
    let wrong = [
        BindingLimits { storage_alignment_bytes: 32, uniform_alignment_bytes: 32, ..WEBGPU },
        BindingLimits { max_storage_bindings: 9, ..WEBGPU },
        BindingLimits { max_storage_binding_bytes: (128 << 20) - 4, ..WEBGPU },
        BindingLimits { max_workgroups: 65_536, ..WEBGPU },
    ];
    for limits in wrong {
        let judged = cases.iter().map(|case| !case.violations(&limits).is_empty());
        let differ = judged.zip(&refusals).filter(|(ours, theirs)| *ours != theirs.is_some()).count();
        assert!(differ > 0, "{limits:?} agrees with Chromium");
    }
}

#[test]
#[ignore = "needs headless Chromium; scripts/test browser runs it"]
fn every_kernel_compiles_in_chromium_plain_and_merged() {
    let mut texts = Vec::new();
    for kernel in KernelId::ALL.iter().map(|id| id.kernel()) {
        let (inputs, all) = (kernel.inputs.len(), kernel.inputs.len() + 1);
        let apart = Partition { survivor: (0..all).collect(), writable: vec![true; all] };
        let merged = Partition { survivor: vec![inputs; all], writable: vec![true; all] };
        for (form, text) in [
            ("on disk", kernel.wgsl.to_owned()),
            ("all writable", printed(kernel.name, kernel.wgsl, &apart)),
            ("all merged", printed(kernel.name, kernel.wgsl, &merged)),
        ] {
            texts.push((format!("{} {form}", kernel.name), text));
        }
    }
    // The control: a barrier that some invocations do not meet, which naga lets pass.
    texts.push(("control".into(), NOT_UNIFORM.into()));
    let codes: Vec<String> = texts.iter().map(|(_, text)| text.clone()).collect();
    let refusals = ask_chromium(&[], &codes).shaders;
    let refused = texts.iter().zip(&refusals).filter(|(_, refusal)| refusal.is_some());
    let refused: Vec<_> = refused.map(|((name, _), refusal)| (name.as_str(), refusal)).collect();
    assert_eq!(refused.len(), 1, "{refused:#?}");
    assert_eq!(refused[0].0, "control");
    println!("{} texts compile", texts.len() - 1);
}

const NOT_UNIFORM: &str = "
    @group(0) @binding(0) var<storage, read_write> x: array<f32>;
    @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
        if x[i] > 0.0 { workgroupBarrier(); }
    }";

/// A network of the page's jobs, as the native side knows it.
struct Job {
    name: &'static str,
    graph: Graph,
    request: Value,
}

fn jobs(site: &mut Site) -> Vec<Job> {
    let built_in = zoo::build("mobilenet_v2").expect("it is built in");
    let request = json!({ "network": "mobilenet_v2", "audit": true });
    let mut jobs = vec![Job { name: "mobilenet_v2", graph: built_in, request }];
    for (name, path) in [
        ("rten_mnist", "tests/data/rten_mnist.onnx"),
        ("tiny_resnet_se_64", "tests/data/tiny_resnet_se_64.onnx"),
        ("light_squeezenet", "../shared/models/light_squeezenet.onnx"),
    ] {
        let Ok(bytes) = std::fs::read(folder(path)) else {
            assert!(path.starts_with("../"), "{path} is in the repository");
            println!("{path} is not here: {name} is left out");
            continue;
        };
        let graph = onnx::parse(&bytes, name, &onnx::ImportOptions::default()).unwrap();
        let url = format!("models/{name}.onnx");
        site.made.insert(url.clone(), bytes);
        jobs.push(Job { name, graph, request: json!({ "url": url, "name": name, "audit": true }) });
    }
    jobs
}

/// Outputs of the CPU twins, and the plan's peak under the browser's limits.
fn native(graph: &Graph, limits: &Value, layout: &Value) -> (Vec<Vec<f32>>, u64) {
    let layout: Layout = layout.as_str().expect("a layout is a name").parse().unwrap();
    let number = |key: &str| limits[key].as_u64().expect("limits are whole numbers");
    let lower = LowerLimits {
        max_binding_bytes: number("max_binding_bytes"),
        max_workgroups: u32::try_from(number("max_workgroups")).unwrap(),
    };
    let alignment = layout.alignment(number("storage_alignment_bytes")).unwrap();
    let (graph, sharing) = layout.allows(Passes::ALL).apply(graph.clone()).unwrap();
    let program = Program::sharing(graph, sharing, alignment, lower).unwrap();
    let program = Arc::new(program.with_layout(layout).unwrap());
    let planner = layout.limit(Planner::auto(), number("max_buffer_bytes"), number("max_binding_bytes"));
    let plan = planner.plan(&program.usage.problem).unwrap();
    let inputs = program.default_inputs();
    (CpuNetwork::new(program, &plan).unwrap().run(&inputs).unwrap(), plan.peak_bytes())
}

/// Largest difference over the largest magnitude; infinite where a value is missing or not a number.
fn relative_difference(want: &[f32], words: &Value) -> f32 {
    let bits = words.as_array().map(Vec::as_slice).unwrap_or_default();
    let got: Vec<f32> = bits.iter().map(|w| f32::from_bits(w.as_u64().unwrap_or(u64::MAX) as u32)).collect();
    if got.len() != want.len() || got.iter().any(|x| x.is_nan()) {
        return f32::INFINITY;
    }
    let largest = want.iter().fold(0.0f32, |m, x| m.max(x.abs()));
    want.iter().zip(&got).fold(0.0f32, |m, (w, g)| m.max((w - g).abs())) / largest
}

#[test]
#[ignore = "needs headless Chromium; scripts/test browser runs it"]
fn networks_compute_in_the_page_what_the_twins_compute() {
    let pkg = std::env::var_os("SUBLET_WEB_PKG").expect("SUBLET_WEB_PKG names the folder of the built wasm");
    let folders = vec![("pkg", PathBuf::from(pkg)), ("", folder("examples/web"))];
    let mut site = Site { folders, ..Site::default() };
    let jobs = jobs(&mut site);
    let requests: Vec<&Value> = jobs.iter().map(|job| &job.request).collect();
    site.made.insert("jobs.json".into(), serde_json::to_vec(&requests).unwrap());
    let (answer, _) = posted(&Server::start(site), "index.html?auto", Duration::from_secs(400));
    let layouts = answer["layouts"].as_array().expect("the page names its layouts");
    let results = answer["results"].as_array().expect("the page posts results");
    assert!(!layouts.is_empty());
    assert_eq!(results.len(), jobs.len() * layouts.len());
    for (job, results) in jobs.iter().zip(results.chunks(layouts.len())) {
        for result in results {
            let (mut expected, peak_bytes) = native(&job.graph, &answer["limits"], &result["job"]["layout"]);
            let what = format!("{} {}", job.name, result["job"]["layout"]);
            assert_eq!(result["error"], Value::Null, "{what}");
            let worst = expected.iter().enumerate();
            let worst = worst.map(|(i, want)| relative_difference(want, &result["outputs"][i]));
            let worst = worst.fold(0.0f32, f32::max);
            let (plan, run) = (&result["plan"], &result["summary"]);
            println!("{what}: off by {worst:.1e}, peak {}, run {} s", plan["peak_bytes"], run["run_s"]);
            assert!(worst <= 1e-4, "{what}: off by {worst}");
            assert_eq!(result["audit"]["ok"], true, "{what}: {}", result["audit"]);
            assert_eq!(result["boxes"], plan["tensors"], "{what}: every tensor is drawn");
            assert_eq!(plan["peak_bytes"], peak_bytes, "{what}: the same plan as natively");
            // The control: one element that is a little off is seen.
            let largest = expected[0].iter().fold(0.0f32, |m, x| m.max(x.abs()));
            expected[0][0] += 2e-4 * largest;
            assert!(relative_difference(&expected[0], &result["outputs"][0]) > 1e-4, "{what}");
        }
    }
}
