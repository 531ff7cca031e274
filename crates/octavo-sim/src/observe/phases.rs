//! What a whole program did when, and how long each kind of it took.

use serde::Serialize;

use crate::machine::program::Phase;
use crate::observe::table::{Column, Table};

/// Picoseconds that a whole program spent in each kind of phase, summed over its actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Phases {
    /// Allocating buffers.
    pub allocation_ps: u64,
    /// The host writes inputs.
    pub host_initialisation_ps: u64,
    /// Copies between host memory and GPU memory, both ways.
    pub copies_ps: u64,
    /// Launches.
    pub kernels_ps: u64,
    /// The host reads results.
    pub host_results_ps: u64,
    /// Freeing buffers.
    pub deallocation_ps: u64,
}

/// The actions of a whole program, in the order in which they ended.
#[derive(Default)]
pub(crate) struct PhaseLog(Vec<Row>);

struct Row {
    action: u32,
    phase: Phase,
    name: String,
    began: u64,
    ended: u64,
}

impl PhaseLog {
    pub fn push(&mut self, action: u32, phase: Phase, name: &str, began: u64, ended: u64) {
        self.0.push(Row { action, phase, name: name.to_owned(), began, ended });
    }

    /// The sums, and a row for each action; nothing if only launches ran.
    pub fn summed_up(&self) -> Option<(Phases, Table)> {
        (!self.0.is_empty()).then(|| (self.sums(), self.table()))
    }

    fn sums(&self) -> Phases {
        let mut sums = Phases::default();
        for row in &self.0 {
            let sum = match row.phase {
                Phase::Allocation => &mut sums.allocation_ps,
                Phase::HostInitialisation => &mut sums.host_initialisation_ps,
                Phase::CopyIn | Phase::CopyOut => &mut sums.copies_ps,
                Phase::Kernel => &mut sums.kernels_ps,
                Phase::HostResults => &mut sums.host_results_ps,
                Phase::Deallocation => &mut sums.deallocation_ps,
                Phase::Other => continue,
            };
            *sum += row.ended - row.began;
        }
        sums
    }

    fn table(&self) -> Table {
        let column = |name, value: fn(&Row) -> u64| Column::u64(name, self.0.iter().map(value).collect());
        let text = |name, value: fn(&Row) -> String| Column::text(name, self.0.iter().map(value).collect());
        Table::new(
            "phases",
            vec![
                column("action", |row| row.action.into()),
                text("phase", |row| row.phase.name().to_owned()),
                text("name", |row| row.name.clone()),
                column("began_ps", |row| row.began),
                column("ended_ps", |row| row.ended),
            ],
        )
    }
}
