//! A picture as a page that needs nothing but itself: no network, no server, no other file.
//!
//! The parts of the page lie in `page/` as they are; the data goes in as columns, an array a column, so that
//! a hundred thousand tensors stay small and quick.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::palette::{FILLS, classes};
use super::svg::escaped;
use super::{Picture, Step};
use crate::plan::Report;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// In the order in which one uses the other.
const SCRIPTS: [&str; 7] = [
    include_str!("page/data.js"),
    include_str!("page/format.js"),
    include_str!("page/map.js"),
    include_str!("page/paint.js"),
    include_str!("page/panel.js"),
    include_str!("page/input.js"),
    include_str!("page/main.js"),
];

/// The page; of several pictures the reader chooses, one or two at a time.
///
/// A browser counts bytes exactly up to 2^53.
pub fn write(pictures: &[Picture]) -> String {
    let title = pictures.iter().map(|p| p.title.as_str()).collect::<Vec<_>>().join(", ");
    // Serialising columns of numbers and names into a String cannot fail.
    let data = serde_json::to_string(&Data::new(pictures)).unwrap_or_default();
    // `</script>` in a name would end the data.
    let data = data.replace('<', "\\u003c");
    let mut page = String::with_capacity(data.len() + (1 << 17));
    let mut rest = PAGE;
    for (mark, text) in [
        ("TITLE", escaped(&format!("{title} - memory map"))),
        ("STYLE\n", STYLE.to_owned()),
        ("DATA", data),
        ("SCRIPT\n", SCRIPTS.join("\n")),
    ] {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        // Writing to a String cannot fail.
        let _ = write!(page, "{before}{text}");
        rest = after;
    }
    page + rest
}

#[derive(Serialize)]
struct Data<'a> {
    fills: [&'static str; 10],
    tables: Vec<Table<'a>>,
    plans: Vec<Plan<'a>>,
}

/// The tensors of one problem, which several plans may place.
#[derive(Serialize)]
struct Table<'a> {
    steps: u32,
    names: Vec<&'a str>,
    sizes: Vec<u64>,
    /// Bytes of padding; absent where there is none at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pads: Option<Vec<u64>>,
    first: Vec<u32>,
    /// Last step less the first.
    span: Vec<u32>,
    /// Views with their bases.
    views: Vec<(usize, u32)>,
    /// Texts of shapes, and which is each tensor's; absent where no shape is known.
    shapes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<usize>>,
    /// Absent where the colour is the position's.
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<Vec<u8>>,
    legend: Vec<String>,
    step_names: Vec<&'a str>,
    ops: Vec<&'a str>,
    step_ops: Vec<usize>,
    load: &'a [u64],
}

#[derive(Serialize)]
struct Plan<'a> {
    title: &'a str,
    table: usize,
    arenas: Vec<u64>,
    /// Absent where there is one arena.
    #[serde(skip_serializing_if = "Option::is_none")]
    arena: Option<Vec<u32>>,
    offsets: Vec<u64>,
    residents: Vec<(&'a str, u64)>,
    report: Numbers<'a>,
}

/// Those of a report that the page shows.
#[derive(Serialize)]
struct Numbers<'a> {
    peak_bytes: u64,
    max_load_bytes: u64,
    naive_bytes: u64,
    padding_bytes: u64,
    gap: f64,
    proof: Option<&'a str>,
    strategy: &'a str,
    peak_step: Option<u32>,
}

impl<'a> Data<'a> {
    fn new(pictures: &'a [Picture]) -> Self {
        let mut data = Data { fills: FILLS, tables: Vec::new(), plans: Vec::new() };
        let mut known: Vec<&Picture> = Vec::new();
        for picture in pictures {
            let same = |other: &&Picture| other.records == picture.records && other.steps == picture.steps;
            let table = known.iter().position(same).unwrap_or_else(|| {
                known.push(picture);
                data.tables.push(Table::new(picture));
                known.len() - 1
            });
            let several = picture.arenas().len() > 1;
            data.plans.push(Plan {
                title: &picture.title,
                table,
                arenas: picture.arenas().collect(),
                arena: several.then(|| picture.places.iter().map(|p| p.arena).collect()),
                offsets: picture.places.iter().map(|p| p.offset_bytes).collect(),
                residents: picture.residents.iter().map(|r| (r.name.as_str(), r.bytes)).collect(),
                report: Numbers::new(&picture.report),
            });
        }
        data
    }
}

impl<'a> Table<'a> {
    fn new(picture: &'a Picture) -> Self {
        let records = &picture.records;
        let pads: Vec<u64> = records.iter().map(|r| r.padded_bytes - r.size_bytes).collect();
        let shapes = Dictionary::new(records.iter().map(|r| shape(&r.shape)));
        let ops = Dictionary::new(picture.steps.iter().map(|s: &Step| s.op.as_str()));
        let classes = classes(picture);
        Table {
            steps: picture.step_count(),
            names: records.iter().map(|r| r.name.as_str()).collect(),
            sizes: records.iter().map(|r| r.size_bytes).collect(),
            pads: pads.iter().any(|pad| *pad > 0).then_some(pads),
            first: records.iter().map(|r| r.first).collect(),
            span: records.iter().map(|r| r.last - r.first).collect(),
            views: records.iter().enumerate().filter_map(|(i, r)| Some((i, r.view_of?))).collect(),
            shape: records.iter().any(|r| !r.shape.is_empty()).then_some(shapes.of),
            shapes: shapes.texts,
            classes: (!classes.names.is_empty()).then_some(classes.of),
            legend: classes.names,
            step_names: picture.steps.iter().map(|s| s.name.as_str()).collect(),
            ops: ops.texts,
            step_ops: ops.of,
            load: &picture.load,
        }
    }
}

impl<'a> Numbers<'a> {
    fn new(report: &'a Report) -> Self {
        Numbers {
            peak_bytes: report.peak_bytes,
            max_load_bytes: report.max_load_bytes,
            naive_bytes: report.naive_bytes,
            padding_bytes: report.padding_bytes,
            gap: report.gap,
            proof: report.proof.as_deref(),
            strategy: &report.strategy,
            peak_step: report.peak_step,
        }
    }
}

fn shape(dims: &[usize]) -> String {
    dims.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
}

/// Texts that occur often, each once, and which one stands where.
struct Dictionary<T> {
    texts: Vec<T>,
    of: Vec<usize>,
}

impl<T: Clone + Eq + std::hash::Hash> Dictionary<T> {
    fn new(all: impl Iterator<Item = T>) -> Self {
        let (mut texts, mut index) = (Vec::new(), HashMap::new());
        let of = all.map(|text| {
            *index.entry(text).or_insert_with_key(|text: &T| {
                texts.push(text.clone());
                texts.len() - 1
            })
        });
        let of = of.collect();
        Dictionary { texts, of }
    }
}
