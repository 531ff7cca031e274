//! Memory of a GPU: banks with a budget of lines, a fixed latency, no row buffers.

use octavo_node::DramConfig;

use crate::engine::lane::Lane;
use crate::gpu::caches::interleave::Interleave;

/// Banks are booked in buckets of 16 ns.
const BUCKET_SHIFT: u32 = 14;

pub(crate) struct Dram {
    banks: Vec<Lane>,
    interleave: Interleave,
    latency: u64,
    line_cost: u64,
}

impl Dram {
    pub fn new(config: &DramConfig, cycle: u64) -> Self {
        Self {
            banks: (0..config.banks).map(|_| Lane::new(BUCKET_SHIFT)).collect(),
            interleave: Interleave::new(config.interleave.0, config.banks),
            latency: config.latency.0 * cycle,
            line_cost: config.line_cycles.0 * cycle,
        }
    }

    /// All banks as one that is as fast as all of them: where addresses of single lines are not known.
    pub fn merged(config: &DramConfig, cycle: u64) -> Self {
        Self {
            banks: vec![Lane::new(BUCKET_SHIFT)],
            interleave: Interleave::new(config.interleave.0, 1),
            latency: config.latency.0 * cycle,
            line_cost: (config.line_cycles.0 * cycle / u64::from(config.banks)).max(1),
        }
    }

    /// Reads or writes `lines` lines that lie on one bank; returns when the last has arrived.
    #[inline]
    pub fn access(&mut self, now: u64, time: u64, line: u64, lines: u64) -> u64 {
        let bank = self.interleave.bank(line);
        self.banks[bank].reserve(now, time, self.line_cost * lines) + self.latency
    }

    /// Reads or writes the `count` lines from `first` on, over all banks; returns when the last has arrived.
    pub fn stream(&mut self, now: u64, time: u64, first: u64, count: u64) -> u64 {
        let stripe = (self.banks.len() as u64) << self.interleave.shift;
        if count.is_multiple_of(stripe) && first.is_multiple_of(stripe) {
            return self.stream_stripes(now, time, count / self.banks.len() as u64);
        }
        let step = 1u64 << self.interleave.shift;
        let chunks = (first..first + count).step_by(step as usize);
        chunks.map(|line| self.access(now, time, line, step.min(first + count - line))).max().unwrap_or(time)
    }

    /// Whole stripes: every bank has the same number of lines.
    fn stream_stripes(&mut self, now: u64, time: u64, lines_a_bank: u64) -> u64 {
        let cost = self.line_cost * lines_a_bank;
        let last = self.banks.iter_mut().map(|bank| bank.reserve(now, time, cost)).max();
        last.unwrap_or(time) + self.latency
    }
}

#[cfg(test)]
mod tests {
    use octavo_units::{Bytes, Cycles};

    use super::*;

    #[test]
    fn a_page_streams_over_all_banks_at_once() {
        let config = DramConfig {
            banks: 16,
            latency: Cycles(100),
            line_cycles: Cycles(1),
            interleave: Bytes(128),
            channel_banks: 1,
        };
        let mut dram = Dram::new(&config, 1000);
        assert_eq!(dram.stream(0, 0, 0, 64), 104_000, "four lines a bank");
        assert_eq!(dram.stream(0, 1_000_000, 64, 3), 1_102_000, "two lines on one bank, one on the next");
    }
}
