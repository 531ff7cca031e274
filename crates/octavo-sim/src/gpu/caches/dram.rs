//! Memory of a GPU: banks with a budget of lines, a fixed latency, and a price for halves of 128 bytes that come alone.

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
    /// The cost of a line whose other half does not follow.
    lone_cost: u64,
    /// By bank: the last line, if its other half would complete the pair.
    firsts: Vec<u64>,
}

/// No line.
const NONE: u64 = u64::MAX;

impl Dram {
    pub fn new(config: &DramConfig, cycle: u64) -> Self {
        Self {
            banks: (0..config.banks).map(|_| Lane::new(BUCKET_SHIFT)).collect(),
            interleave: Interleave::new(config.interleave.0, config.banks),
            latency: config.latency.0 * cycle,
            line_cost: config.line_cycles.0 * cycle,
            lone_cost: config.line_cycles.0 * cycle * u64::from(config.lone_line_percent) / 100,
            firsts: vec![NONE; config.banks as usize],
        }
    }

    /// All banks as one that is as fast as all of them: where addresses of single lines are not known.
    pub fn merged(config: &DramConfig, cycle: u64) -> Self {
        Self {
            banks: vec![Lane::new(BUCKET_SHIFT)],
            interleave: Interleave::new(config.interleave.0, 1),
            latency: config.latency.0 * cycle,
            line_cost: (config.line_cycles.0 * cycle / u64::from(config.banks)).max(1),
            lone_cost: (config.line_cycles.0 * cycle / u64::from(config.banks)).max(1),
            firsts: vec![NONE],
        }
    }

    /// Reads or writes `lines` lines that lie on one bank; returns when the last has arrived.
    #[inline]
    pub fn access(&mut self, now: u64, time: u64, line: u64, lines: u64) -> u64 {
        let bank = self.interleave.bank(line);
        let cost =
            if lines == 1 && self.lone_cost > self.line_cost { self.half(bank, line) } else { self.line_cost * lines };
        self.banks[bank].reserve(now, time, cost) + self.latency
    }

    /// The longest that a line takes which waits for no other.
    #[inline]
    pub const fn idle(&self) -> u64 {
        self.lone_cost + self.latency
    }

    /// The cost of a line in its bank, if the halves of 128 bytes are cheaper together than alone.
    #[inline]
    fn half(&mut self, bank: usize, line: u64) -> u64 {
        let first = &mut self.firsts[bank];
        if *first == line ^ 1 {
            *first = NONE;
            return 2 * self.line_cost - self.lone_cost;
        }
        *first = line;
        self.lone_cost
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
    fn a_half_of_128_bytes_costs_more_alone_than_beside_the_other() {
        let config = DramConfig {
            banks: 1,
            latency: Cycles(0),
            line_cycles: Cycles(10),
            lone_line_percent: 150,
            interleave: Bytes(128),
            channel_banks: 1,
        };
        let mut dram = Dram::new(&config, 1000);
        let mut at = |line| dram.access(0, 0, line, 1) / 1000;
        assert_eq!([0, 1, 2, 3].map(&mut at), [15, 20, 35, 40], "both together take two cycles of a line");
        assert_eq!([8, 12, 8, 8].map(&mut at), [55, 70, 85, 100], "alone, or the same again, each takes its own time");
    }

    #[test]
    fn a_page_streams_over_all_banks_at_once() {
        let config = DramConfig {
            banks: 16,
            latency: Cycles(100),
            line_cycles: Cycles(1),
            lone_line_percent: 100,
            interleave: Bytes(128),
            channel_banks: 1,
        };
        let mut dram = Dram::new(&config, 1000);
        assert_eq!(dram.stream(0, 0, 0, 64), 104_000, "four lines a bank");
        assert_eq!(dram.stream(0, 1_000_000, 64, 3), 1_102_000, "two lines on one bank, one on the next");
    }
}
