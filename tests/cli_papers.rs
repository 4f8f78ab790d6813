//! `sublet compare --paper`: the tables as they print, and their figures against the published records.

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
