//! `sublet compare --paper`: the tables as they print, and their figures against the published records.
#![cfg(feature = "cli")]

mod support;

use serde_json::Value;
use support::cli;
use support::snapshot::snapshot;

fn printed(arguments: &[&str]) -> String {
    let (code, text, errors) = cli::sublet(arguments);
    assert_eq!((code, errors.as_str()), (0, ""), "{arguments:?}");
    text
}

fn json(arguments: &[&str]) -> Value {
    let (code, value) = cli::json(arguments);
    assert_eq!(code, 0, "{arguments:?}: {value}");
    value
}

/// The built-in networks of arXiv 2001.03288, and the records that were published for each.
const PISARCHYK: [(&str, &str); 6] = [
    ("mobilenet_v1", "paper_mobilenet_v1_224"),
    ("mobilenet_v2", "paper_mobilenet_v2_224"),
    ("deeplab_v3_257", "paper_deeplab_v3_257_dm05_os8"),
    ("inception_v3", "paper_inception_v3_299_flatconcat"),
    ("posenet", "paper_posenet_353x257_dm075_os16"),
    ("blazeface", "mediapipe_face_detection_short_range"),
];

#[test]
fn both_tables_of_pisarchyk_print_as_they_did() {
    snapshot("papers/pisarchyk.txt", &printed(&["compare", "--paper", "pisarchyk"]));
}

/// Every figure of both tables is that of the records, and the bounds are those that came with them.
#[test]
fn both_tables_of_pisarchyk_have_the_figures_of_the_published_records() {
    let networks = json(&["compare", "--paper", "pisarchyk"])["networks"].clone();
    let files: Vec<String> =
        PISARCHYK.iter().map(|(_, records)| cli::data(&format!("networks/{records}.csv"))).collect();
    let mut arguments = vec!["compare"];
    arguments.extend(files.iter().map(String::as_str));
    let published = json(&arguments)["inputs"].clone();
    let summary = std::fs::read_to_string(cli::data("networks_summary.csv")).unwrap();
    for (i, (name, records)) in PISARCHYK.into_iter().enumerate() {
        let (ours, theirs) = (&networks[i], &published[i]);
        assert_eq!(ours["name"], name);
        for key in ["tensors", "naive_bytes", "offsets", "shared_objects"] {
            assert_eq!(ours[key], theirs[key], "{name} {key}");
        }
        let line = summary.lines().find(|line| line.starts_with(&format!("{records},"))).unwrap();
        let cells: Vec<u64> = line.split(',').skip(1).take(4).map(|cell| cell.parse().unwrap()).collect();
        let found = [
            &ours["tensors"],
            &ours["naive_bytes"],
            &ours["offsets"]["lower_bound"],
            &ours["shared_objects"]["lower_bound"],
        ];
        assert_eq!(found.map(|value| value.as_u64().unwrap())[..], cells[..], "{name}");
        let variant = !name.starts_with("mobilenet");
        assert_eq!(ours["variant"].is_string(), variant, "{name} says whether it is a variant");
    }
}

/// The table of iterations without its last column, which is a time.
fn without_seconds(text: &str) -> String {
    let cut = |line: &str| match line.trim_end().rsplit_once(' ') {
        Some((rest, last)) if last == "seconds" || last.parse::<f64>().is_ok() => rest.trim_end().to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(|line| cut(line) + "\n").collect()
}

#[test]
fn the_table_of_sekiyama_prints_as_it_did() {
    let text = printed(&["compare", "--paper", "sekiyama"]);
    snapshot("papers/sekiyama.txt", &without_seconds(&text));
}

#[test]
fn iterations_are_planned_below_the_pool_and_batches_fill_the_budget() {
    let table = json(&["compare", "--paper", "sekiyama", "--batch", "8", "--budget", "1GiB"]);
    let iterations = table["iterations"].as_array().unwrap();
    assert_eq!(iterations.len(), 5);
    for row in iterations {
        let bytes = |key: &str| row[key].as_u64().unwrap_or_else(|| panic!("{key} in {row}"));
        assert_eq!(bytes("batch"), 8);
        assert!(bytes("max_load_bytes") <= bytes("peak_bytes"), "{row}");
        assert!(bytes("peak_bytes") <= bytes("strip_packing_bytes"), "{row}");
        assert!(
            bytes("peak_bytes") < bytes("pool_bytes") && bytes("pool_bytes") < bytes("naive_bytes"),
            "{row}"
        );
        let saving = 100.0 * (1.0 - bytes("peak_bytes") as f64 / bytes("pool_bytes") as f64);
        assert!((row["saving_percent"].as_f64().unwrap() - saving).abs() < 1e-9, "{row}");
        assert!(row["seconds"].as_f64().unwrap() > 0.0);
    }
    for row in table["largest_batch"].as_array().unwrap() {
        let plan = row["plan"].as_u64().unwrap();
        assert!(plan > row["pool"].as_u64().unwrap(), "{row}");
        let one = row["sample_bytes"].as_u64().unwrap() * plan + row["weights_bytes"].as_u64().unwrap();
        assert!(one < 1 << 30, "{row}");
    }
    // The batch found fits and the next one does not, seen through the command itself.
    let alexnet = &table["largest_batch"][0];
    let plan = alexnet["plan"].as_u64().unwrap();
    let batches = [plan.to_string(), (plan + 1).to_string()];
    let around = json(&[
        "compare",
        "--paper",
        "sekiyama",
        "--budget",
        "1",
        "--batch",
        &batches[0],
        "--batch",
        &batches[1],
    ]);
    let needed = |i: usize| {
        let row = &around["iterations"][i];
        let apart = alexnet["sample_bytes"].as_u64().unwrap() * row["batch"].as_u64().unwrap();
        row["peak_bytes"].as_u64().unwrap() + alexnet["weights_bytes"].as_u64().unwrap() + apart
    };
    assert!(needed(0) <= 1 << 30 && needed(1) > 1 << 30, "{} {}", needed(0), needed(1));
    assert!(around["largest_batch"].as_array().unwrap().iter().all(|row| row["plan"] == 0), "of one byte");
}

#[test]
fn what_belongs_to_the_other_paper_is_refused() {
    for arguments in [
        &["compare", "--paper", "pisarchyk", "--batch", "8"][..],
        &["compare", "--batch", "8", "network.csv"],
        &["compare", "--paper", "sekiyama", "--batch", "0"],
        &["compare", "--paper", "sekiyama", "network.csv"],
        &["compare", "--paper", "nobody"],
    ] {
        let (code, value) = cli::json(arguments);
        assert_eq!(code, 2, "{arguments:?}: {value}");
        assert!(value["error"]["message"].is_string());
    }
}
