//! `sublet bench report`: records as one page.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::super::Output;
use super::super::error::CliError;
use super::{Record, page};
use crate::plan::file;

/// Arguments of `sublet bench report`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  sublet bench report -o bench.html
  sublet bench report benches/record/laptop/2026-11-30.json benches/record/desk/2026-11-30.json -o two.html

The page stands alone: it fetches nothing. A column a record, a row a measurement, in light and dark.")]
pub(in super::super) struct Args {
    /// Records [default: all of benches/record].
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where the page goes; - for stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

/// Where records lie below the current folder.
const FOLDER: &str = "benches/record";

pub(in super::super) fn run(args: &Args) -> Result<Output, CliError> {
    let files = if args.files.is_empty() { recorded(Path::new(FOLDER))? } else { args.files.clone() };
    let records = files.iter().map(|path| Record::read(path)).collect::<Result<Vec<_>, _>>()?;
    let page = page::page(&records);
    let human = if args.out == Path::new("-") {
        page.clone()
    } else {
        file::write_atomically(&args.out, page.as_bytes())?;
        format!("{} records in {}\n", records.len(), args.out.display())
    };
    let measurements: usize = records.iter().map(|record| record.measurements.len()).sum();
    let json = json!({
        "records": files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        "measurements": measurements,
        "page_bytes": page.len(),
        "written": args.out.display().to_string(),
    });
    Ok(Output { human, json, failure: None })
}

/// Every record below a folder, by machine and date.
fn recorded(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>, CliError> {
        let bad = |e| CliError::input(format!("{}: {e}", folder.display()));
        let entries = std::fs::read_dir(folder).map_err(bad)?;
        let mut paths =
            entries.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(bad)?;
        paths.sort();
        Ok(paths)
    };
    let mut files = Vec::new();
    for machine in list(folder)?.iter().filter(|path| path.is_dir()) {
        files.extend(list(machine)?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "json")));
    }
    match files.is_empty() {
        true => Err(CliError::input(format!("no records below {}", folder.display()))),
        false => Ok(files),
    }
}
