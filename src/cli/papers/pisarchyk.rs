//! Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (arXiv 2001.03288): both
//! tables, for the six networks of the paper.

use serde_json::{Value, json};

use super::super::compare::{Compared, compare};
use super::super::error::CliError;
use super::{Output, aligned, mib, wrapped};
use crate::graph::{Sharing, usage};
use crate::model::zoo;
use crate::plan::Alignment;

/// A network of the paper: our name for it, and where ours is another one than theirs or may be.
const NETWORKS: [(&str, Option<&str>); 6] = [
    ("mobilenet_v1", None),
    ("mobilenet_v2", None),
    (
        "deeplab_v3_257",
        Some(
            "the paper names no file; rebuilt as MobileNet v2 of half width, 257 x 257, output stride 8, the \
             variant of TFLite's published deeplabv3_257_mv_gpu",
        ),
    ),
    (
        "inception_v3",
        Some(
            "the last two blocks concatenate once (121 tensors); slim's own code nests two more \
             concatenations in each (125 tensors)",
        ),
    ),
    (
        "posenet",
        Some(
            "the paper does not say which PoseNet; rebuilt as MobileNet v1 of width 0.75, 353 x 257, output \
             stride 16, and not of the same naive total",
        ),
    ),
    (
        "blazeface",
        Some(
            "not the paper's network: the detector that MediaPipe publishes as face_detection_short_range, \
             with padding and additions as operators of their own",
        ),
    ),
];

/// One network's column of both tables.
struct Column {
    name: &'static str,
    variant: Option<&'static str>,
    tensors: usize,
    naive_bytes: u64,
    compared: Compared,
}

pub(super) fn run() -> Result<Output, CliError> {
    let columns =
        NETWORKS.iter().map(|(name, variant)| column(name, *variant)).collect::<Result<Vec<_>, _>>()?;
    let human = format!(
        "arXiv 2001.03288, both tables, from the networks built in. MiB (2^20); float32, batch 1, no \
         alignment,\nevery tensor but the network's input and output. In brackets: proven to be the \
         least.\n\n{}\n{}\n{}",
        table("offset calculation", &columns, |c| &c.compared.offsets, |c| c.compared.proof.is_some()),
        table("shared objects", &columns, |c| &c.compared.shared, |c| c.compared.shared_proven),
        notes(&columns),
    );
    let json = json!({
        "paper": "arXiv 2001.03288",
        "networks": columns.iter().map(Column::json).collect::<Vec<_>>(),
    });
    Ok(Output { human, json, failure: None })
}

fn column(name: &'static str, variant: Option<&'static str>) -> Result<Column, CliError> {
    let graph = zoo::build(name).ok_or_else(|| CliError::input(format!("no built-in network '{name}'")))?;
    let problem = usage(&graph, Alignment::ONE, &Sharing::default())?.problem;
    let compared = compare(&problem)?;
    Ok(Column { name, variant, tensors: problem.len(), naive_bytes: problem.naive_bytes(), compared })
}

impl Column {
    fn json(&self) -> Value {
        let mut object = self.compared.json(self.name, self.tensors, self.naive_bytes);
        object["variant"] = json!(self.variant);
        object
    }
}

/// Strategies down, networks across; the last row is ours.
fn table<'a>(
    title: &str,
    columns: &'a [Column],
    cells: impl Fn(&'a Column) -> &'a [(&'static str, Option<u64>)],
    proven: impl Fn(&Column) -> bool,
) -> String {
    let mut rows =
        vec![[title].into_iter().chain(columns.iter().map(|c| c.name)).map(str::to_owned).collect()];
    let keys: Vec<&str> = columns.first().map_or(&[][..], &cells).iter().map(|(key, _)| *key).collect();
    // As in the paper: strategies, then the bound, then no reuse.
    let ends = ["lower_bound", "naive"];
    let order = keys.iter().filter(|key| !ends.contains(key)).chain(&ends);
    for key in order {
        let mut row = vec![(*key).replace('_', " ")];
        for column in columns {
            let bytes = cells(column).iter().find(|(k, _)| k == key).and_then(|(_, bytes)| *bytes);
            let text = bytes.map_or_else(|| "-".to_owned(), mib);
            let ours = ["auto", "search"].contains(key) && proven(column);
            row.push(if ours { format!("[{text}]") } else { format!("{text} ") });
        }
        rows.push(row);
    }
    aligned(&rows)
}

fn notes(columns: &[Column]) -> String {
    let mut text = String::from("Where a network is a variant, or may be:\n");
    for column in columns {
        if let Some(variant) = column.variant {
            text.push_str(&wrapped(&format!("{}: {variant}.", column.name)));
        }
    }
    text
}
