//! Where the time of wavefronts went: by kernel, by what they did or waited for, and by the buffer that they waited for.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use octavo_program::{Buffer, Workload, pages_of};

use super::groups::GROUP_BYTES;
use crate::bound::Recorded;
use crate::gpu::units::stalls::{Answer, Stall, Tally};
use crate::observe::table::{Column, TEXT_BYTES, Table, Values};

const STALLS: usize = Stall::ALL.len();

/// Wavefronts' time by stall, and how many waits ended so.
#[derive(Clone, Copy, Default)]
struct Row {
    times: [u64; STALLS],
    waits: [u64; STALLS],
}

impl Row {
    const fn is_empty(&self) -> bool {
        let mut stall = 0;
        while stall < STALLS {
            if self.times[stall] + self.waits[stall] > 0 {
                return false;
            }
            stall += 1;
        }
        true
    }
}

impl AddAssign<&Self> for Row {
    fn add_assign(&mut self, other: &Self) {
        for stall in 0..STALLS {
            self.times[stall] += other.times[stall];
            self.waits[stall] += other.waits[stall];
        }
    }
}

pub(super) struct StallLog {
    /// By [`GROUP_BYTES`] of address space, the buffer there, from 1; 0 for none.
    owners: Vec<u32>,
    page_bytes: u64,
    /// Rows of each job: without a buffer, and of each buffer.
    width: usize,
    /// Of the launches that run, by job.
    running: Vec<Row>,
    /// By kernel, in the order in which they ended first: by buffer.
    kernels: Vec<BTreeMap<u32, Row>>,
    numbers: BTreeMap<String, usize>,
    rows: usize,
}

impl StallLog {
    pub fn new(workload: &dyn Workload, page_bytes: u64) -> Self {
        let mut owners = vec![0; workload.address_end().div_ceil(GROUP_BYTES) as usize];
        for (groups, number) in pages_of(workload.buffers(), GROUP_BYTES).zip(1..) {
            owners[groups.start as usize..groups.end as usize].fill(number);
        }
        let width = 1 + workload.buffers().len();
        Self {
            owners,
            page_bytes,
            width,
            running: vec![Row::default(); width * workload.applications().len()],
            kernels: Vec::new(),
            numbers: BTreeMap::new(),
            rows: 0,
        }
    }

    /// The row of the buffer that a page belongs to.
    #[inline]
    fn row(&mut self, job: usize, page: Option<u32>) -> &mut Row {
        let group = page.map(|page| u64::from(page) * self.page_bytes / GROUP_BYTES);
        let owner = group.and_then(|group| self.owners.get(group as usize).copied()).unwrap_or(0);
        &mut self.running[job * self.width + owner as usize]
    }

    #[inline]
    pub fn issued(&mut self, job: usize, tally: &Tally) {
        let row = &mut self.running[job * self.width];
        for (what, time) in tally.parts() {
            row.times[what as usize] += time;
        }
    }

    #[inline]
    pub fn stalled(&mut self, job: usize, what: Stall, page: Option<u32>, wait: u64) {
        self.row(job, page).times[what as usize] += wait;
    }

    #[inline]
    pub fn answered(&mut self, job: usize, answer: Answer, wait: u64) {
        let row = self.row(job, Some(answer.page));
        for (what, wait) in answer.parts(wait) {
            row.times[what as usize] += wait;
        }
        row.waits[answer.what as usize] += 1;
    }

    #[inline]
    pub fn wait_ends(&mut self, job: usize, what: Stall, page: Option<u32>) {
        self.row(job, page).waits[what as usize] += 1;
    }

    /// Part of what was issued passed while the wavefront waited: it is taken off what it issued.
    pub fn overlapped(&mut self, job: usize, mut time: u64) {
        let row = &mut self.running[job * self.width];
        for (what, _) in Tally::default().parts() {
            let spent = &mut row.times[what as usize];
            let taken = time.min(*spent);
            *spent -= taken;
            time -= taken;
        }
    }

    /// A launch of a job ended.
    pub fn launch_ends(&mut self, job: usize, kernel: &str) {
        let number = match self.numbers.get(kernel) {
            Some(number) => *number,
            None => {
                self.numbers.insert(kernel.to_owned(), self.kernels.len());
                self.kernels.push(BTreeMap::new());
                self.kernels.len() - 1
            }
        };
        let (rows, own) = (&mut self.kernels[number], job * self.width..(job + 1) * self.width);
        let before = rows.len();
        for (buffer, row) in self.running[own].iter_mut().enumerate().filter(|(_, row)| !row.is_empty()) {
            *rows.entry(buffer as u32).or_default() += &*row;
            *row = Row::default();
        }
        self.rows += rows.len() - before;
    }

    pub fn recorded(&self) -> Recorded {
        let column = STALLS * (2 * size_of::<u64>() + 2 * TEXT_BYTES + 1);
        Recorded::stay(self.rows, 2 * size_of::<Row>(), column)
    }

    /// A row for each kernel, buffer and stall.
    pub fn table(&self, buffers: &[Buffer]) -> Table {
        let mut names = vec![""; self.kernels.len()];
        self.numbers.iter().for_each(|(name, number)| names[*number] = name);
        let (mut kernels, mut codes, mut allocations) = (Vec::new(), Vec::new(), Vec::new());
        let (mut times, mut waits) = (Vec::new(), Vec::new());
        for (name, rows) in names.iter().zip(&self.kernels) {
            let stalls = rows.iter().flat_map(|(buffer, row)| Stall::ALL.map(|stall| (*buffer as usize, stall, row)));
            for (buffer, stall, row) in stalls {
                let (time, ended) = (row.times[stall as usize], row.waits[stall as usize]);
                if time + ended == 0 {
                    continue;
                }
                let buffer = buffer.checked_sub(1).and_then(|buffer| buffers.get(buffer));
                kernels.push((*name).to_owned());
                codes.push(stall as u8);
                allocations.push(buffer.map_or_else(String::new, |buffer| buffer.name.clone()));
                times.push(time);
                waits.push(ended);
            }
        }
        let names = Stall::ALL.map(Stall::name).to_vec();
        let columns = vec![
            Column::text("kernel", kernels),
            Column { name: "stall", values: Values::Category { codes, names } },
            Column::text("allocation", allocations),
            Column::u64("wavefront_ps", times),
            Column::u64("waits", waits),
        ];
        Table::new("stalls", columns)
    }
}
