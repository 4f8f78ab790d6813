//! `sublet bench`: measurements.

use clap::Subcommand;

use super::Output;
use super::error::CliError;
use super::layouts;

/// What to measure.
#[derive(Debug, Subcommand)]
pub(super) enum Bench {
    /// What each layout costs on a model: peak, arenas, bindings, barriers, encode and run time.
    Layouts(layouts::Args),
}

pub(super) fn run(bench: &Bench) -> Result<Output, CliError> {
    match bench {
        Bench::Layouts(args) => layouts::run(args),
    }
}
