//! Traffic between the levels of memory, by launch and over time, on nodes whose host and GPUs are coherent.

use octavo_program::LINE_BYTES;

use super::kernels::{self, Kernel};
use crate::bound::Recorded;
use crate::cpu::first_memory::Passed;
use crate::fabric::links::{Links, Traffic};
use crate::gpu::counts::Accesses;
use crate::observe::table::{Column, TEXT_BYTES, Table};

/// Names of the columns, by level.
const LEVELS: [&str; 9] = [
    "l1_l2_bytes",
    "hbm_read_bytes",
    "hbm_written_bytes",
    "from_host_line_bytes",
    "from_host_page_bytes",
    "to_host_line_bytes",
    "to_host_page_bytes",
    "lpddr_read_bytes",
    "lpddr_written_bytes",
];

/// Bytes so far, by level.
type Bytes = [i64; LEVELS.len()];

/// Launches in progress, finished ones, and intervals.
#[derive(Default)]
pub(super) struct TrafficLog {
    /// By job: the traffic when its launch began.
    begun: Vec<Bytes>,
    rows: Vec<Bytes>,
    /// The traffic at the end of each interval.
    samples: Vec<(u64, Bytes)>,
}

impl TrafficLog {
    /// A launch of a job begins.
    pub fn begins(&mut self, job: usize, accesses: &Accesses, links: &Links, host: Passed) {
        if self.begun.len() <= job {
            self.begun.resize(job + 1, Bytes::default());
        }
        self.begun[job] = so_far(accesses, links, host);
    }

    /// It ends; the traffic of other jobs in the meantime counts as well.
    pub fn ends(&mut self, job: usize, accesses: &Accesses, links: &Links, host: Passed) {
        let now = so_far(accesses, links, host);
        self.rows.push(difference(&now, &self.begun[job]));
    }

    /// An interval is over.
    pub fn samples(&mut self, time: u64, accesses: &Accesses, links: &Links, host: Passed) {
        self.samples.push((time, so_far(accesses, links, host)));
    }

    /// A row for each launch, with the kernel's columns, and one for each interval.
    pub fn recorded(&self) -> Recorded {
        let bytes = size_of::<Bytes>();
        let launches = Recorded::stay(self.rows.len(), bytes, bytes + 2 * size_of::<u64>() + TEXT_BYTES);
        let sample = size_of::<(u64, Bytes)>();
        launches.and(Recorded::stay(self.samples.len(), sample, sample))
    }

    /// A row for each launch, in the order of the table of kernels, and one for each interval, by when these ended;
    /// nothing on nodes that are not coherent.
    pub fn tables(&self, kernels: &[Kernel], ends: &[u64]) -> (Option<Table>, Option<Table>) {
        (self.by_launch(kernels), self.over_time(ends))
    }

    fn by_launch(&self, kernels: &[Kernel]) -> Option<Table> {
        if self.rows.is_empty() {
            return None;
        }
        let mut columns = vec![
            kernels::names(kernels),
            Column::u64("began_ps", kernels.iter().map(|kernel| kernel.began).collect()),
            Column::u64("ended_ps", kernels.iter().map(|kernel| kernel.ended).collect()),
        ];
        columns.extend(level_columns(&self.rows));
        Some(Table::new("traffic", columns))
    }

    fn over_time(&self, ends: &[u64]) -> Option<Table> {
        // Intervals that became one end with the last of them.
        let kept: Vec<&(u64, Bytes)> =
            self.samples.iter().filter(|(time, _)| ends.binary_search(time).is_ok()).collect();
        let before = std::iter::once(Bytes::default()).chain(kept.iter().map(|(_, sum)| *sum));
        let rows: Vec<Bytes> = kept.iter().zip(before).map(|((_, sum), before)| difference(sum, &before)).collect();
        let mut columns = vec![Column::u64("time_ps", kept.iter().map(|(time, _)| *time).collect())];
        columns.extend(level_columns(&rows));
        (!rows.is_empty()).then(|| Table::new("traffic_intervals", columns))
    }
}

fn difference(sum: &Bytes, before: &Bytes) -> Bytes {
    std::array::from_fn(|level| sum[level] - before[level])
}

fn level_columns(rows: &[Bytes]) -> impl Iterator<Item = Column> + '_ {
    let level = |level: usize| rows.iter().map(|row| row[level].max(0).cast_unsigned()).collect();
    LEVELS.into_iter().enumerate().map(move |(index, name)| Column::u64(name, level(index)))
}

fn so_far(accesses: &Accesses, links: &Links, host: Passed) -> Bytes {
    let remote = accesses.remote_gpu_lines + accesses.remote_host_lines;
    let beyond_l1 = (accesses.load_lines + accesses.store_lines).wrapping_sub(accesses.l1_hits);
    let (down, up) = links.host_bytes();
    let lines = |bytes: &[u64; Traffic::COUNT]| bytes[Traffic::Lines as usize];
    let pages =
        |bytes: &[u64; Traffic::COUNT]| bytes.iter().sum::<u64>() - lines(bytes) - bytes[Traffic::Control as usize];
    // Lines count when they are issued, hits and remote lines later: with jobs side by side, less can be known at the
    // end of a launch than at its beginning.
    let missed = beyond_l1.wrapping_sub(remote).wrapping_mul(LINE_BYTES);
    [
        missed,
        accesses.dram_reads * LINE_BYTES,
        accesses.dram_writes * LINE_BYTES,
        lines(&down),
        pages(&down),
        lines(&up),
        pages(&up),
        host.read,
        host.written,
    ]
    .map(u64::cast_signed)
}
