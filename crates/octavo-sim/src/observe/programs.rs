//! The table of a mix's programs.

use crate::machine::jobs::Running;
use crate::observe::table::{Column, Table};

/// One row for each program of a mix: its compute units on each GPU, when it ended for the first time, and how often it
/// has ended.
pub(crate) fn applications_table(programs: &[Running]) -> Table {
    let column = |name, value: fn(&Running) -> u64| Column::u64(name, programs.iter().map(value).collect());
    Table::new(
        "applications",
        vec![
            Column::text("application", programs.iter().map(|program| program.program.name.clone()).collect()),
            column("units", |program| program.units.len() as u64),
            column("finished_ps", |program| program.finished.unwrap_or_default()),
            column("rounds", |program| u64::from(program.rounds)),
        ],
    )
}
