//! What each launch moved between the levels of memory, on nodes whose host and GPUs are coherent.

use std::borrow::Cow;

use octavo_program::LINE_BYTES;

use crate::fabric::links::{Links, Traffic};
use crate::gpu::counts::Accesses;
use crate::observe::table::{Column, Table};

/// Names of the columns, by level.
const LEVELS: [&str; 7] = [
    "l1_l2_bytes",
    "hbm_read_bytes",
    "hbm_written_bytes",
    "from_host_line_bytes",
    "from_host_page_bytes",
    "to_host_line_bytes",
    "to_host_page_bytes",
];

/// Bytes so far, by level.
type Bytes = [i64; LEVELS.len()];

/// Launches that run, and those that are over.
#[derive(Default)]
pub(super) struct TrafficLog {
    /// By job: what had moved when its launch began.
    begun: Vec<Bytes>,
    rows: Vec<Bytes>,
}

impl TrafficLog {
    /// A launch of a job begins.
    pub fn begins(&mut self, job: usize, accesses: &Accesses, links: &Links) {
        if self.begun.len() <= job {
            self.begun.resize(job + 1, Bytes::default());
        }
        self.begun[job] = so_far(accesses, links);
    }

    /// It is over; what other jobs moved meanwhile counts as well.
    pub fn ends(&mut self, job: usize, accesses: &Accesses, links: &Links) {
        let now = so_far(accesses, links);
        self.rows.push(std::array::from_fn(|level| now[level] - self.begun[job][level]));
    }

    /// A row for each launch, in the order of the table of kernels; nothing on nodes that are not coherent.
    pub fn table(&self, kernels: &[(Cow<'static, str>, u64, u64)]) -> Option<Table> {
        if self.rows.is_empty() {
            return None;
        }
        let mut columns = vec![
            Column::text("kernel", kernels.iter().map(|kernel| kernel.0.to_string()).collect()),
            Column::u64("began_ps", kernels.iter().map(|kernel| kernel.1).collect()),
            Column::u64("ended_ps", kernels.iter().map(|kernel| kernel.2).collect()),
        ];
        let level = |level: usize| self.rows.iter().map(|row| row[level].max(0).cast_unsigned()).collect();
        columns.extend(LEVELS.into_iter().enumerate().map(|(index, name)| Column::u64(name, level(index))));
        Some(Table::new("traffic", columns))
    }
}

fn so_far(accesses: &Accesses, links: &Links) -> Bytes {
    let remote = accesses.remote_gpu_lines + accesses.remote_host_lines;
    let beyond_l1 = (accesses.load_lines + accesses.store_lines).wrapping_sub(accesses.l1_hits);
    let (down, up) = links.host_bytes();
    let lines = |bytes: &[u64; Traffic::COUNT]| bytes[Traffic::Lines as usize];
    let pages =
        |bytes: &[u64; Traffic::COUNT]| bytes.iter().sum::<u64>() - lines(bytes) - bytes[Traffic::Control as usize];
    // Lines count when they are issued, hits and remote lines later: with jobs side by side, less can be known at the end
    // of a launch than at its beginning.
    let missed = beyond_l1.wrapping_sub(remote).wrapping_mul(LINE_BYTES);
    [
        missed,
        accesses.dram_reads * LINE_BYTES,
        accesses.dram_writes * LINE_BYTES,
        lines(&down),
        pages(&down),
        lines(&up),
        pages(&up),
    ]
    .map(u64::cast_signed)
}
