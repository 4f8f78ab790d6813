//! The memory map as a page, driven like a reader drives it: the page is in a frame, real events go to its
//! own canvas, and what it then says is held to the plan.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sublet::draw::{Picture, html};
use sublet::graph::passes::Passes;
use sublet::graph::usage;
use sublet::model::zoo;
use sublet::plan::{Alignment, Planner, Problem, Strategy, Synthetic, csv};

use super::browser::{Server, Site};
use super::{folder, posted};

/// Serves a page with the driver around it and returns what the driver saw.
fn drive(page: String, mut job: Value, limit: Duration) -> Value {
    job["page"] = json!("map.html");
    let mut site = Site { folders: vec![("", folder("tests/browser"))], ..Site::default() };
    site.made.insert("map.html".into(), page.into_bytes());
    site.made.insert("job.json".into(), job.to_string().into_bytes());
    posted(&Server::start(site), "drive.html", limit).0
}

fn pictures() -> Vec<Picture> {
    let graph = zoo::build("mobilenet_v2").expect("it is built in");
    let (graph, sharing) = Passes::ALL.apply(graph).unwrap();
    let usage = usage(&graph, Alignment::PORTABLE, &sharing).unwrap();
    [Planner::auto(), Planner::new(Strategy::GreedyInOrder), Planner::new(Strategy::Naive)]
        .iter()
        .map(|planner| {
            let plan = planner.plan(&usage.problem).unwrap();
            let title = format!("mobilenet_v2, {}", plan.strategy().key());
            Picture::new(title, &usage.problem, &plan).unwrap().with_graph(&graph, &usage)
        })
        .collect()
}

/// 4816896 as the page writes it.
fn grouped(bytes: u64) -> String {
    sublet::plan::report::grouped(bytes)
}

/// The middle of a tensor in its first step, which no later tensor can have taken in place.
fn place(picture: &Picture, tensor: usize) -> Value {
    let (record, place) = (&picture.records[tensor], picture.places[tensor]);
    let byte = place.offset_bytes as f64 + record.size_bytes as f64 / 2.0;
    json!({ "step": f64::from(record.first) + 0.5, "byte": byte, "tensor": record.name })
}

/// Cells of the row of that name.
fn row<'a>(numbers: &'a Value, name: &str) -> Vec<&'a str> {
    let rows = numbers.as_array().expect("a table of numbers");
    let row = rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name} in {numbers}"));
    row.as_array().unwrap().iter().skip(1).map(|cell| cell.as_str().unwrap()).collect()
}

#[test]
#[ignore = "needs headless Chromium; scripts/test browser runs it"]
fn a_reader_of_the_page_sees_what_the_plan_says() {
    let pictures = pictures();
    let first = &pictures[0];
    let peak = first.report.peak_step.unwrap();
    let live = first.live(peak);
    // Large ones can be hit; the first two meet at the peak.
    let mut shown: Vec<usize> = live.clone();
    let largest = |i: &usize| std::cmp::Reverse(first.records[*i].size_bytes);
    let mut others: Vec<usize> = (0..first.records.len()).filter(|i| !live.contains(i)).collect();
    others.sort_by_key(largest);
    shown.extend(&others[..8]);
    let job = json!({
        "steps": first.step_count(),
        "peak_bytes": first.report.peak_bytes,
        "places": shown.iter().map(|i| place(first, *i)).collect::<Vec<_>>(),
        "click": { "step": f64::from(peak) + 0.5, "byte": place(first, live[0])["byte"] },
        "live": live.iter().map(|i| &first.records[*i].name).collect::<Vec<_>>(),
        "search": "expand",
    });
    let answer = drive(html::write(&pictures), job, Duration::from_secs(120));
    assert_eq!(answer["resources"], json!([]), "the page fetches nothing");
    let seen = &answer["seen"];

    assert_eq!(seen["title"], first.title);
    assert_eq!(row(&seen["numbers"], "peak"), ["5.742 MiB"]);
    assert_eq!(row(&seen["numbers"], "tensors"), ["55"]);
    for (tip, i) in seen["tips"].as_array().unwrap().iter().zip(&shown) {
        let (tip, record) = (tip.as_str().unwrap(), &first.records[*i]);
        let shape = record.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        let op = first.op(record.first).unwrap();
        for fact in [
            record.name.clone(),
            format!("bytes {}", grouped(record.size_bytes)),
            format!("shape {shape}"),
            format!("written by {op}"),
            format!("steps {} to {}", record.first, record.last),
            format!("lies at {} to ", grouped(first.places[*i].offset_bytes)),
        ] {
            assert!(tip.contains(&fact), "{fact} in {tip}");
        }
    }
    // The two at the peak lie next to each other, and each says so.
    let (low, high) = (&first.records[live[0]], &first.records[live[1]]);
    assert_eq!(first.places[live[0]].offset_bytes + low.padded_bytes, first.places[live[1]].offset_bytes);
    assert!(seen["tips"][1].as_str().unwrap().contains(&format!("below it {}", low.name)));

    let tensor = |value: &Value| value.as_str().map(|tip| tip.lines().next().unwrap_or("").to_owned());
    assert_eq!(seen["zoomed"], true);
    assert_eq!(tensor(&seen["zoomed_at"]).unwrap(), low.name, "a zoom leaves the pointer's place alone");
    if let Some(toward) = tensor(&seen["zoomed_toward"]) {
        assert_eq!(toward, high.name);
    }
    assert_eq!((&seen["dragged_keeps_nothing"], &seen["fits_again"]), (&json!(true), &json!(true)));

    let step = seen["step"].as_str().unwrap();
    assert_eq!(step, format!("Step {peak} (the peak): 5.742 MiB live in {} tensors", live.len()));
    assert_eq!(seen["op"], "Conv: block1/depthwise");
    assert_eq!(seen["kept"]["name"], low.name);
    assert_eq!(seen["kept"]["gives its bytes to"], Value::Null);
    let names: Vec<&str> = live.iter().map(|i| first.records[*i].name.as_str()).collect();
    let listed = seen["live"].as_array().unwrap();
    assert_eq!(listed.iter().map(|row| row[0].as_str().unwrap()).collect::<Vec<_>>(), names);
    let mut sum = 0;
    for (exact, i) in seen["exact"].as_array().unwrap().iter().zip(&live) {
        let bytes = first.records[*i].size_bytes;
        assert_eq!(exact[0], first.records[*i].name);
        assert_eq!(exact[1].as_str().unwrap().split(" (").next().unwrap(), grouped(bytes));
        sum += bytes;
    }
    assert_eq!(sum, first.report.max_load_bytes, "what the page lists is the max load");
    assert!(seen["next_step"].as_str().unwrap().starts_with(&format!("Step {}:", peak + 1)));
    assert_eq!(seen["peak_step"], step);

    let expands: Vec<&str> =
        first.records.iter().map(|r| r.name.as_str()).filter(|name| name.contains("expand")).collect();
    assert_eq!(seen["search_has_focus"], true);
    assert_eq!(seen["found_title"], format!("{} tensors named so", expands.len()));
    let found = seen["found"].as_array().unwrap();
    assert_eq!(found.len(), expands.len());
    assert!(found.iter().all(|row| expands.contains(&row[0].as_str().unwrap())));
    assert_eq!(seen["found_kept"]["name"], found[0][0]);
    assert_eq!(seen["let_go"], true);

    assert_eq!(seen["next_title"], pictures[1].title);
    assert_eq!(row(&seen["next_numbers"], "strategy"), [pictures[1].report.strategy.as_str()]);
    assert_eq!((&seen["next_pixels_differ"], &seen["maps"]), (&json!(true), &json!(2)));
    // In order against no reuse at all.
    let two = row(&seen["two_numbers"], "peak");
    let by = pictures[2].report.peak_bytes - pictures[1].report.peak_bytes;
    assert_eq!(two.len(), 3);
    assert_eq!(two[2], format!("+{:.3} MiB", by as f64 / f64::from(1 << 20)));
    let moved = (0..first.records.len()).filter(|i| pictures[1].places[*i] != pictures[2].places[*i]).count();
    let title = format!("Differences: {moved} tensors lie elsewhere, 0 are others");
    assert_eq!(seen["changes_title"], title);
    assert_eq!(seen["theme"], json!(["light", "dark"]));
}

/// Opens a page of very many tensors, and measures; other work on the machine only ever adds to a time, so
/// the best of three counts.
fn open_large(name: &str, problem: &Problem) {
    let start = Instant::now();
    let plan = Planner::auto().plan(problem).unwrap();
    let planned = start.elapsed();
    let page = html::write(&[Picture::new(name, problem, &plan).unwrap()]);
    let written = start.elapsed();
    let size = grouped(page.len() as u64);
    println!(
        "{name}: {} tensors, planned in {planned:.2?}, written after {written:.2?}, {size} bytes",
        problem.len()
    );
    assert!(page.len() < 15 << 20, "{size}");
    let limits = [("paint_ms", 3000.0), ("drawn_ms", 3000.0), ("slowest_ms", 1000.0)];
    let mut best = [f64::INFINITY; 3];
    for _ in 0..3 {
        let answer = drive(page.clone(), json!({}), Duration::from_secs(120));
        assert!(answer["live"].as_u64().unwrap() > 0, "a click lists what is live");
        assert_eq!(row(&answer["numbers"], "tensors"), [grouped(problem.len() as u64)]);
        for (best, (key, _)) in best.iter_mut().zip(limits) {
            *best = best.min(answer[key].as_f64().unwrap_or(f64::INFINITY));
        }
        println!("{name}: {} {}, {} ms", answer["paint_ms"], answer["drawn_ms"], answer["slowest_ms"]);
        if best.iter().zip(limits).all(|(best, (_, limit))| *best < limit) {
            return;
        }
    }
    panic!("{name}: {limits:?} in ms, at best {best:?}");
}

#[test]
#[ignore = "needs headless Chromium; scripts/test browser runs it"]
fn fifty_thousand_tensors_do_not_freeze_the_page() {
    open_large("synthetic", &Synthetic::Inference.problem(50_000, 1).unwrap());
}

#[test]
#[ignore = "needs headless Chromium; scripts/test browser runs it"]
fn a_trace_of_62185_tensors_is_drawn_at_once() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/dsa/idealloc/iopddl/Y_1.csv");
    if !path.exists() {
        println!("{} is not here: nothing was tested", path.display());
        return;
    }
    let problem = csv::read(&path, csv::Options::default()).unwrap();
    assert_eq!(problem.len(), 62_185);
    open_large("Y_1", &problem);
}
