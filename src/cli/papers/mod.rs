//! `sublet compare --paper`: the tables of two papers, computed anew from the built-in networks.

mod pisarchyk;
mod sekiyama;

use super::error::CliError;
use super::{Output, units};

/// A paper whose tables can be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Paper {
    /// arXiv 2001.03288: offsets and shared objects of six networks.
    Pisarchyk,
    /// arXiv 1804.10001: training iterations of five networks, against a framework's pool.
    Sekiyama,
}

/// What only `--paper sekiyama` takes.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct TrainingArgs {
    /// Samples of a training iteration, with --paper sekiyama (repeatable) [default: 32, 64, 128].
    #[arg(long, value_name = "N", requires = "paper", value_parser = clap::value_parser!(u64).range(1..))]
    batch: Vec<u64>,
    /// Device memory that the largest batch must fit in, with --paper sekiyama [default: 16GiB].
    #[arg(long, value_name = "BYTES", requires = "paper", value_parser = units::bytes)]
    budget: Option<u64>,
}

pub(super) fn run(paper: Paper, training: &TrainingArgs) -> Result<Output, CliError> {
    match paper {
        Paper::Pisarchyk if training.batch.is_empty() && training.budget.is_none() => pisarchyk::run(),
        Paper::Pisarchyk => Err(CliError::input("--batch and --budget go with --paper sekiyama".to_owned())),
        Paper::Sekiyama => sekiyama::run(training),
    }
}

/// MiB to three places, as the papers print them.
fn mib(bytes: u64) -> String {
    format!("{:.3}", bytes as f64 / f64::from(1 << 20))
}

/// A cell a column, the first column to the left, the others to the right, two spaces apart.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match i {
                0 => line.push_str(&format!("  {cell:<width$}")),
                _ => line.push_str(&format!("  {cell:>width$}")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// An item of a list, broken before it is wider than a page.
fn wrapped(text: &str) -> String {
    let (mut lines, mut columns) = (String::from(" "), 1);
    for word in text.split(' ') {
        let len = word.chars().count() + 1;
        if columns + len > 100 {
            lines.push_str("\n   ");
            columns = 3;
        }
        lines.push(' ');
        lines.push_str(word);
        columns += len;
    }
    lines + "\n"
}

#[cfg(test)]
mod tests {
    use super::{aligned, mib, wrapped};

    #[test]
    fn items_are_broken_between_words() {
        let text = wrapped(&"word ".repeat(30));
        assert!(text.lines().all(|line| line.len() <= 100 && line.starts_with("  ")), "{text}");
        assert_eq!(text.matches("word").count(), 30);
    }

    #[test]
    fn cells_stand_below_each_other() {
        let rows = [vec!["".into(), "a".into()], vec!["naive".into(), "26.313".into()], vec!["x".into()]];
        assert_eq!(aligned(&rows), "              a\n  naive  26.313\n  x\n");
        assert_eq!(mib(6_021_120), "5.742");
    }
}
