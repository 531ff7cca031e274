//! Memory of a GPU: banks with a budget of lines, a fixed latency, a price for halves of 128 bytes that come alone, and
//! one for such halves that are written between reads.

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
    /// What such a line costs beside that if it is written and reads came before it.
    turn_cost: u64,
    lone: Vec<Lone>,
}

/// Lines of a bank whose other half has not followed. Reads and writes wait in queues of their own, so that each find
/// their halves.
#[derive(Clone, Copy)]
struct Lone {
    read: u64,
    written: u64,
    /// Reads that no write has turned the bus from, up to [`QUEUE`].
    reads: u32,
}

impl Lone {
    const NONE: Self = Self { read: NONE, written: NONE, reads: 0 };
}

/// Reads that wait for a bank at most: those of Ramulator 2's controller.
const QUEUE: u32 = 32;

/// No line.
const NONE: u64 = u64::MAX;

impl Dram {
    pub fn new(config: &DramConfig, cycle: u64) -> Self {
        let line_cost = config.line_cycles.0 * cycle;
        let lone_cost = line_cost * u64::from(config.lone_line_percent) / 100;
        Self {
            banks: (0..config.banks).map(|_| Lane::new(BUCKET_SHIFT)).collect(),
            interleave: Interleave::new(config.interleave.0, config.banks),
            latency: config.latency.0 * cycle,
            line_cost,
            lone_cost,
            turn_cost: lone_cost * u64::from(config.lone_write_percent - 100) / 100,
            lone: vec![Lone::NONE; config.banks as usize],
        }
    }

    /// All banks as one that is as fast as all of them: where addresses of single lines are not known.
    pub fn merged(config: &DramConfig, cycle: u64) -> Self {
        let line_cost = (config.line_cycles.0 * cycle / u64::from(config.banks)).max(1);
        Self {
            banks: vec![Lane::new(BUCKET_SHIFT)],
            interleave: Interleave::new(config.interleave.0, 1),
            latency: config.latency.0 * cycle,
            line_cost,
            lone_cost: line_cost,
            turn_cost: 0,
            lone: vec![Lone::NONE],
        }
    }

    /// Reads or writes `lines` lines that lie on one bank, a single one as a read; returns when the last has arrived.
    #[inline]
    pub fn access(&mut self, now: u64, time: u64, line: u64, lines: u64) -> u64 {
        if lines == 1 {
            return self.read(now, time, line);
        }
        let bank = self.interleave.bank(line);
        self.banks[bank].reserve(now, time, self.line_cost * lines) + self.latency
    }

    /// Reads a line; returns when it has arrived.
    #[inline]
    pub fn read(&mut self, now: u64, time: u64, line: u64) -> u64 {
        let bank = self.interleave.bank(line);
        let lone = &mut self.lone[bank];
        lone.reads = (lone.reads + 1).min(QUEUE);
        let cost = half(&mut lone.read, line, (self.line_cost, self.lone_cost));
        self.banks[bank].reserve(now, time, cost) + self.latency
    }

    /// Writes a line. That one was alone, and turned the bus, is known when the next is written: it takes the longer.
    #[inline]
    pub fn write(&mut self, now: u64, time: u64, line: u64) {
        let bank = self.interleave.bank(line);
        let lone = &mut self.lone[bank];
        let before = lone.written;
        let mut cost = half(&mut lone.written, line, (self.line_cost, self.lone_cost));
        if before != NONE && lone.written != NONE && lone.reads > 0 {
            lone.reads -= 1;
            cost += self.turn_cost;
        }
        self.banks[bank].reserve(now, time, cost);
    }

    /// The longest that a line takes which waits for no other.
    #[inline]
    pub const fn idle(&self) -> u64 {
        self.lone_cost + self.latency
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

/// The cost of a line in its bank after `first`, if the halves of 128 bytes are cheaper together than alone.
#[inline]
fn half(first: &mut u64, line: u64, (line_cost, lone_cost): (u64, u64)) -> u64 {
    if *first == line ^ 1 {
        *first = NONE;
        return 2 * line_cost - lone_cost;
    }
    *first = line;
    lone_cost
}

#[cfg(test)]
mod tests {
    use octavo_units::{Bytes, Cycles};

    use super::*;

    fn one_bank() -> DramConfig {
        DramConfig {
            banks: 1,
            latency: Cycles(0),
            line_cycles: Cycles(10),
            lone_line_percent: 150,
            lone_write_percent: 200,
            interleave: Bytes(128),
            channel_banks: 1,
        }
    }

    #[test]
    fn a_half_of_128_bytes_costs_more_alone_than_beside_the_other() {
        let mut dram = Dram::new(&one_bank(), 1000);
        let mut at = |line| dram.access(0, 0, line, 1) / 1000;
        assert_eq!([0, 1, 2, 3].map(&mut at), [15, 20, 35, 40], "both together take two cycles of a line");
        assert_eq!([8, 12, 8, 8].map(&mut at), [55, 70, 85, 100], "alone, or the same again, each takes its own time");
    }

    #[test]
    fn a_half_that_is_written_alone_between_reads_turns_the_bus() {
        let taken = |lines: &[(char, u64)]| {
            let mut dram = Dram::new(&one_bank(), 1000);
            for &(kind, line) in lines {
                match kind {
                    'w' => dram.write(0, 0, line),
                    _ => assert!(dram.read(0, 0, line) > 0),
                }
            }
            dram.read(0, 0, 1000) / 1000 - 15
        };
        assert_eq!(taken(&[('w', 0), ('w', 8), ('w', 16)]), 45, "no read came between");
        assert_eq!(taken(&[('r', 4), ('w', 0), ('r', 12), ('w', 8), ('w', 16)]), 75 + 30, "two turned the bus");
        assert_eq!(taken(&[('r', 4), ('w', 0), ('r', 5), ('w', 1), ('w', 8)]), 55, "halves find each other");
    }

    #[test]
    fn a_page_streams_over_all_banks_at_once() {
        let latency = Cycles(100);
        let config = DramConfig { banks: 16, latency, line_cycles: Cycles(1), lone_line_percent: 100, ..one_bank() };
        let mut dram = Dram::new(&config, 1000);
        assert_eq!(dram.stream(0, 0, 0, 64), 104_000, "four lines a bank");
        assert_eq!(dram.stream(0, 1_000_000, 64, 3), 1_102_000, "two lines on one bank, one on the next");
    }
}
