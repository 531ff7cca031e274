//! The host's first memory: one bandwidth for all that read and write it, and how much they did.

use octavo_node::CpuConfig;

use crate::engine::lane::Lane;
use crate::engine::rate::{BUCKET_SHIFT, Rate};

/// Bytes that the host's first memory was read and written so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub read: u64,
    pub written: u64,
}

pub(crate) struct FirstMemory {
    lane: Lane,
    rate: Rate,
    latency: u64,
    passed: Passed,
}

impl FirstMemory {
    pub fn new(config: &CpuConfig) -> Self {
        Self {
            lane: Lane::new(BUCKET_SHIFT),
            rate: Rate::new(config.memory_bandwidth),
            latency: config.memory_latency.0,
            passed: Passed::default(),
        }
    }

    pub const fn passed(&self) -> Passed {
        self.passed
    }

    /// Cores or copies read and write this many bytes from `time` on; returns when the last of them arrive.
    pub fn access(&mut self, now: u64, time: u64, bytes: Passed) -> u64 {
        self.book(now, time, bytes).1 + self.latency
    }

    /// GPUs read or write this many bytes from `time` on; their own links and latencies give the duration: returns when
    /// they can begin, after earlier bookings.
    pub fn begin(&mut self, now: u64, time: u64, bytes: Passed) -> u64 {
        let (cost, end) = self.book(now, time, bytes);
        end - cost
    }

    fn book(&mut self, now: u64, time: u64, bytes: Passed) -> (u64, u64) {
        self.passed.read += bytes.read;
        self.passed.written += bytes.written;
        let cost = self.rate.time_for(bytes.read + bytes.written);
        (cost, self.lane.reserve(now, time, cost))
    }
}

impl Passed {
    pub const fn read(bytes: u64) -> Self {
        Self { read: bytes, written: 0 }
    }

    pub const fn written(bytes: u64) -> Self {
        Self { read: 0, written: bytes }
    }
}

#[cfg(test)]
mod tests {
    use octavo_node::CpuTlbConfig;
    use octavo_units::{Bandwidth, Time};

    use super::*;

    /// 64 GB/s: a line takes 1 ns; 100 ns to its data.
    fn memory() -> FirstMemory {
        FirstMemory::new(&CpuConfig {
            cores: 1,
            lines_in_flight: 8,
            line_issue: Time(1_000),
            memory_latency: Time(100_000),
            memory_bandwidth: Bandwidth(64_000_000_000),
            tlb: CpuTlbConfig { entries: 16, ways: 4, walk: Time(50_000) },
        })
    }

    #[test]
    fn who_comes_alone_waits_for_nobody() {
        let mut memory = memory();
        assert_eq!(memory.begin(0, 5_000, Passed::read(640)), 5_000);
        assert_eq!(memory.access(0, 300_000, Passed::written(64)), 300_000 + 1_000 + 100_000);
        assert_eq!(memory.passed(), Passed { read: 640, written: 64 });
    }

    #[test]
    fn a_gpu_waits_for_what_cores_booked_and_cores_for_a_gpu() {
        let mut memory = memory();
        // 2,048 lines: 2.048 us of the memory's time.
        let cores = memory.access(0, 0, Passed::read(2_048 * 64));
        assert_eq!(cores, 2_048_000 + 100_000);
        assert_eq!(memory.begin(0, 0, Passed::read(64)), 2_048_000);
        assert_eq!(memory.access(0, 0, Passed::written(64)), 2_049_000 + 1_000 + 100_000);
    }
}
