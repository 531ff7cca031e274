//! The phases of a whole program: when each action ran, and how long each kind took.

use schemars::JsonSchema;
use serde::Serialize;

use crate::bound::Recorded;
use crate::machine::phase::Phase;
use crate::observe::table::{Column, TEXT_BYTES, Table};

/// Picoseconds that a whole program spent in each kind of phase, summed over its actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// Creating the context, where that takes time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_ps: Option<u64>,
}

/// The actions of whole programs, in the order in which they ended.
#[derive(Default)]
pub(crate) struct PhaseLog(Vec<Row>);

struct Row {
    job: usize,
    action: u32,
    phase: Phase,
    name: String,
    began: u64,
    ended: u64,
}

impl PhaseLog {
    pub fn push(&mut self, (job, action): (usize, u32), phase: Phase, name: &str, (began, ended): (u64, u64)) {
        self.0.push(Row { job, action, phase, name: name.to_owned(), began, ended });
    }

    /// Two or three columns of text, and three of numbers.
    pub fn recorded(&self) -> Recorded {
        Recorded::stay(self.0.len(), size_of::<Row>() + TEXT_BYTES, 3 * (size_of::<u64>() + TEXT_BYTES))
    }

    /// The sums of a job; nothing if only its launches ran.
    pub fn sums(&self, job: usize) -> Option<Phases> {
        let own = || self.0.iter().filter(|row| row.job == job);
        own().next()?;
        let mut sums = Phases::default();
        own().for_each(|row| sums.add(row));
        Some(sums)
    }

    /// A row for each action, with its job if they have names; nothing if only launches ran.
    pub fn table(&self, jobs: Option<&[String]>) -> Option<Table> {
        if self.0.is_empty() {
            return None;
        }
        let column = |name, value: fn(&Row) -> u64| Column::u64(name, self.0.iter().map(value).collect());
        let text = |name, value: fn(&Row) -> String| Column::text(name, self.0.iter().map(value).collect());
        let whose = |names: &[String]| Column::text("job", self.0.iter().map(|row| names[row.job].clone()).collect());
        let mut columns: Vec<Column> = jobs.map(whose).into_iter().collect();
        columns.extend([
            column("action", |row| row.action.into()),
            text("phase", |row| row.phase.name().to_owned()),
            text("name", |row| row.name.clone()),
            column("began_ps", |row| row.began),
            column("ended_ps", |row| row.ended),
        ]);
        Some(Table::new("phases", columns))
    }
}

impl Phases {
    fn add(&mut self, row: &Row) {
        let sum = match row.phase {
            Phase::Allocation => &mut self.allocation_ps,
            Phase::HostInitialisation => &mut self.host_initialisation_ps,
            Phase::CopyIn | Phase::CopyOut => &mut self.copies_ps,
            Phase::Kernel => &mut self.kernels_ps,
            Phase::HostResults => &mut self.host_results_ps,
            Phase::Deallocation => &mut self.deallocation_ps,
            Phase::Context => self.context_ps.get_or_insert_default(),
            Phase::Other => return,
        };
        *sum += row.ended - row.began;
    }
}
