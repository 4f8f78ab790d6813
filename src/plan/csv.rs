//! Usage records as CSV, the format of the published benchmark sets: `id,lower,upper,size`.
//!
//! Columns are found by name, in any order; more columns are ignored. `lower` is the first step and `upper`
//! one past the last (half-open), or the last itself with [`Options::inclusive`]. `alignment` sets a
//! tensor's own alignment, `offset` and `arena` place it; an empty cell sets nothing.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use super::file::read_text;
use super::{Alignment, ArenaId, Plan, PlanError, Problem, Strategy, TensorId};

/// How to read a file.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// `upper` is the last step itself, not one past it.
    pub inclusive: bool,
    /// Alignment where the file gives none.
    pub alignment: Alignment,
    /// A column `offset` is somebody's answer, not a demand: it pins nothing.
    pub ignore_offsets: bool,
}

impl Default for Options {
    /// Half-open intervals, no alignment.
    fn default() -> Self {
        Options { inclusive: false, alignment: Alignment::ONE, ignore_offsets: false }
    }
}

/// Reads records as a problem; a cell in `offset` pins its tensor.
///
/// # Errors
/// [`PlanError::Csv`] with file, line and field; [`PlanError::Io`]. Two pins that meet are found in planning.
pub fn read(path: &Path, options: Options) -> Result<Problem, PlanError> {
    parse(&read_text(path)?, &path.display().to_string(), options)
}

/// Like [`read`], from text; `file` is the name for errors.
///
/// # Errors
/// [`PlanError::Csv`] with file, line and field.
pub fn parse(text: &str, file: &str, options: Options) -> Result<Problem, PlanError> {
    let table = Table::new(text, file)?;
    let (mut problem, rows) = records(&table, options)?;
    for (id, row) in rows {
        let Some(offset_bytes) = row.optional("offset")?.filter(|_| !options.ignore_offsets) else {
            continue;
        };
        if row.optional("arena")?.is_some_and(|arena| arena != 0) {
            return Err(row.error("arena", "only the first arena can be pinned".to_owned()));
        }
        problem.pin(id, offset_bytes).map_err(|e| row.error("offset", e.to_string()))?;
    }
    Ok(problem)
}

/// Reads records and the plan in their columns `offset` and (where there is one) `arena`, which is not yet
/// judged: the problem has no pins, the arenas are as large as what lies in them.
///
/// # Errors
/// Like [`read`]; a missing offset.
pub fn parse_placed(text: &str, file: &str, options: Options) -> Result<(Problem, Plan), PlanError> {
    let table = Table::new(text, file)?;
    let (problem, rows) = records(&table, options)?;
    let mut places = Vec::with_capacity(rows.len());
    let mut arenas: Vec<u64> = Vec::new();
    for (id, row) in rows {
        let offset_bytes = row.number("offset")?;
        let arena = row.optional("arena")?.unwrap_or(0);
        // A plan never has more arenas than tensors, and a typing error should not allocate a table of them.
        let arena = u32::try_from(arena)
            .ok()
            .filter(|a| (*a as usize) < problem.len())
            .ok_or_else(|| row.error("arena", format!("{arena} for {} tensors", problem.len())))?;
        let end = offset_bytes
            .checked_add(problem.tensors()[id.index()].size_bytes())
            .ok_or_else(|| row.error("offset", format!("{offset_bytes} plus the size overflows 64 bits")))?;
        arenas.resize(arenas.len().max(arena as usize + 1), 0);
        arenas[arena as usize] = arenas[arena as usize].max(end);
        places.push((ArenaId::new(arena), offset_bytes));
    }
    if arenas.iter().try_fold(0u64, |sum, bytes| sum.checked_add(*bytes)).is_none() {
        return Err(PlanError::PlanFile {
            file: file.to_owned(),
            what: "the arenas sum to over 64 bits".into(),
        });
    }
    let plan = Plan::given(&problem, Strategy::Given, places, arenas);
    Ok((problem, plan))
}

/// The records of a problem with the offsets of a plan, half-open; `arena` is written where there are
/// several.
///
/// Views, in-place permissions and pins have no column: a plan that uses them is whole only as a plan file.
pub fn write(problem: &Problem, plan: &Plan) -> String {
    let several = plan.arenas().len() > 1;
    let aligned = problem.tensors().iter().any(|t| t.alignment().is_some());
    let mut text = String::from("id,lower,upper,size");
    text.push_str(if aligned { ",alignment" } else { "" });
    text.push_str(if several { ",arena" } else { "" });
    text.push_str(",offset\n");
    for (id, tensor) in problem.ids().zip(problem.tensors()) {
        let Some((arena, offset_bytes)) = plan.place(id) else { continue };
        let upper = problem.last(tensor) + 1;
        // Writing to a String cannot fail.
        let _ = write!(text, "{},{},{upper},{}", quoted(tensor.label()), tensor.first(), tensor.size_bytes());
        if aligned {
            let _ = write!(text, ",{}", tensor.alignment().unwrap_or(problem.alignment()).bytes());
        }
        if several {
            let _ = write!(text, ",{arena}");
        }
        let _ = writeln!(text, ",{offset_bytes}");
    }
    text
}

fn quoted(cell: &str) -> String {
    let plain = !cell.contains([',', '"', '\n', '\r']) && cell.trim() == cell && !cell.is_empty();
    if plain { cell.to_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}

fn records<'a>(table: &'a Table, options: Options) -> Result<(Problem, Vec<(TensorId, Row<'a>)>), PlanError> {
    let mut problem = Problem::new(options.alignment);
    let mut rows = Vec::with_capacity(table.rows.len());
    for (line, cells) in &table.rows {
        let row = Row { table, line: *line, cells };
        if cells.len() > table.columns {
            let what = format!("{} cells under {} column names", cells.len(), table.columns);
            return Err(row.error("id", what));
        }
        let label = row.cell("id")?;
        let first = row.step("lower")?;
        let upper = row.step("upper")?;
        let last = if options.inclusive { Some(upper) } else { upper.checked_sub(1) };
        let Some(last) = last.filter(|last| first <= *last) else {
            let (relation, kind) =
                if options.inclusive { ("greater than", "inclusive") } else { ("not below", "half-open") };
            let what = format!("lower {first} is {relation} upper {upper} of a {kind} interval");
            return Err(row.error("upper", what));
        };
        let size_bytes = row.number("size")?;
        let id = problem.tensor(label, size_bytes, first..=last).map_err(|e| match e {
            PlanError::DuplicateLabel { .. } => row.error("id", format!("'{label}' occurs twice")),
            other => row.error("size", other.to_string()),
        })?;
        if let Some(bytes) = row.optional("alignment")? {
            let alignment = Alignment::new(bytes).map_err(|e| row.error("alignment", e.to_string()))?;
            problem.set_alignment(id, alignment).map_err(|e| row.error("alignment", e.to_string()))?;
        }
        rows.push((id, row));
    }
    Ok((problem, rows))
}

/// A file taken apart; cells are trimmed.
struct Table {
    file: String,
    index: HashMap<String, usize>,
    columns: usize,
    rows: Vec<(usize, Vec<String>)>,
}

impl Table {
    fn new(text: &str, file: &str) -> Result<Self, PlanError> {
        let error = |line: usize, field: &str, what: &str| PlanError::Csv {
            file: file.to_owned(),
            line,
            field: field.to_owned(),
            what: what.to_owned(),
        };
        let mut rows = split(text.strip_prefix('\u{feff}').unwrap_or(text))
            .map_err(|line| error(line, "quote", "it is never closed"))?;
        if rows.is_empty() {
            return Err(error(1, "header", "the file is empty"));
        }
        let (line, names) = rows.remove(0);
        let mut index = HashMap::new();
        for (i, name) in names.iter().enumerate() {
            if index.insert(name.to_lowercase(), i).is_some() {
                return Err(error(line, name, "this column occurs twice"));
            }
        }
        for name in ["id", "lower", "upper", "size"] {
            if !index.contains_key(name) {
                let what = format!("there is no such column among '{}'", names.join(","));
                return Err(error(line, name, &what));
            }
        }
        Ok(Table { file: file.to_owned(), index, columns: names.len(), rows })
    }
}

/// Rows of cells with the line on which each starts; blank lines are left out. `Err` is the line of an open
/// quote.
fn split(text: &str) -> Result<Vec<(usize, Vec<String>)>, usize> {
    let mut rows = Vec::new();
    let (mut cells, mut cell, mut line, mut row_line) = (Vec::new(), String::new(), 1, 1);
    let mut open: Option<usize> = None;
    let mut was_quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if open.is_some() && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if open.is_some() => open = None,
            _ if open.is_some() => cell.push(c),
            '"' if cell.trim().is_empty() && !was_quoted => {
                (open, was_quoted) = (Some(line), true);
                cell.clear();
            }
            ',' => cells.push(finish(&mut cell, &mut was_quoted)),
            '\n' => {
                cells.push(finish(&mut cell, &mut was_quoted));
                push_row(&mut rows, row_line, std::mem::take(&mut cells));
                row_line = line;
            }
            _ => cell.push(c),
        }
    }
    if let Some(line) = open {
        return Err(line);
    }
    cells.push(finish(&mut cell, &mut was_quoted));
    push_row(&mut rows, row_line, cells);
    Ok(rows)
}

fn finish(cell: &mut String, was_quoted: &mut bool) -> String {
    let text = std::mem::take(cell);
    if std::mem::take(was_quoted) { text } else { text.trim().to_owned() }
}

fn push_row(rows: &mut Vec<(usize, Vec<String>)>, line: usize, cells: Vec<String>) {
    if cells.iter().any(|cell| !cell.is_empty()) {
        rows.push((line, cells));
    }
}

/// One record; every error knows its line.
struct Row<'a> {
    table: &'a Table,
    line: usize,
    cells: &'a [String],
}

impl Row<'_> {
    fn error(&self, field: &str, what: String) -> PlanError {
        PlanError::Csv { file: self.table.file.clone(), line: self.line, field: field.to_owned(), what }
    }

    /// The cell of a column, `None` where the column or the cell is missing or empty.
    fn find(&self, field: &str) -> Option<&str> {
        let column = *self.table.index.get(field)?;
        self.cells.get(column).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    fn cell(&self, field: &str) -> Result<&str, PlanError> {
        self.find(field).ok_or_else(|| self.error(field, "there is no value".to_owned()))
    }

    fn number(&self, field: &str) -> Result<u64, PlanError> {
        let cell = self.cell(field)?;
        cell.parse().map_err(|_| {
            let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            let what = match cell.strip_prefix('-') {
                Some(digits) if is_number(digits) => "is negative",
                None if is_number(cell) => "does not fit into 64 bits",
                _ => "is no whole number",
            };
            self.error(field, format!("'{cell}' {what}"))
        })
    }

    fn optional(&self, field: &str) -> Result<Option<u64>, PlanError> {
        self.find(field).map(|_| self.number(field)).transpose()
    }

    fn step(&self, field: &str) -> Result<u32, PlanError> {
        let number = self.number(field)?;
        u32::try_from(number)
            .ok()
            .filter(|step| *step < u32::MAX)
            .ok_or_else(|| self.error(field, format!("{number} is no step: the highest is {}", u32::MAX - 1)))
    }
}
