//! A second-level cache without tags, for fidelity `page`: a constant share of requests hits. All its banks are one
//! wide bank, and so are the banks of the memory behind it.

use octavo_node::{L2Config, SettledConfig};

use crate::engine::lane::Lane;
use crate::engine::share::Share;
use crate::gpu::caches::dram::Dram;
use crate::gpu::caches::l2::BANK_BUCKET_SHIFT;
use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::counts::Accesses;

/// log2 of the lines of the smallest page, 4 KiB: the unit in which stores are counted.
const STRETCH_SHIFT: u32 = 6;

/// Lines of a wavefront that go the same way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Together {
    pub line: u64,
    pub count: u32,
    pub access: LineAccess,
}

pub(crate) struct SettledL2 {
    /// For all banks together: the lines of one wavefront are spread over them as over addresses.
    input: Lane,
    latency: u64,
    crossbar: u64,
    input_cost: u64,
    misses: Share,
    /// The stored lines that are still here when they are queried.
    kept: u32,
    /// Lines stored to since they were written back, by 4 KiB; at most all of them.
    stored: Vec<u8>,
}

impl SettledL2 {
    pub fn new(config: &L2Config, settled: &SettledConfig, cycle: u64) -> Self {
        Self {
            input: Lane::new(BANK_BUCKET_SHIFT),
            latency: config.latency.0 * cycle,
            crossbar: config.crossbar.0 * cycle,
            input_cost: (cycle / u64::from(config.lines_per_cycle * config.banks)).max(1),
            misses: Share::new(100 - settled.l2_hits_percent),
            kept: settled.l2_hits_percent,
            stored: Vec::new(),
        }
    }

    /// One line, from any requester: see [`Self::access`].
    pub fn access_one(
        &mut self,
        now: u64,
        time: u64,
        line: u64,
        access: LineAccess,
        dram: &mut Dram,
        counts: &mut Accesses,
    ) -> u64 {
        if access != LineAccess::Load {
            self.note_stored(line, 1);
        }
        self.access(now, time, Together { line, count: 1, access }, dram, counts)
    }

    /// Loads or stores of lines that leave the requester at `time`; returns when the last answer is back at the
    /// requester's side of the crossbar.
    pub fn access(&mut self, now: u64, time: u64, lines: Together, dram: &mut Dram, counts: &mut Accesses) -> u64 {
        let Together { line, count, access } = lines;
        let accepted = self.input.reserve(now, time + self.crossbar, self.input_cost * u64::from(count));
        let there = accepted + self.latency;
        let missed = self.misses.of(count);
        counts.l2_hits += u64::from(count - missed);
        if missed == 0 {
            return there + self.crossbar;
        }
        let passed = dram.access(now, there, line, missed.into());
        if access == LineAccess::Store {
            // Nothing is fetched. Lines that leave for them are written back, and nothing waits for that.
            counts.dram_writes += u64::from(missed);
            return there + self.crossbar;
        }
        counts.dram_reads += u64::from(missed);
        counts.store_fetches += if access == LineAccess::Load { 0 } else { u64::from(missed) };
        passed + self.crossbar
    }

    /// Stores to lines of a page, which are dirty until they are taken.
    #[inline]
    pub fn note_stored(&mut self, line: u64, count: u32) {
        let stretch = (line >> STRETCH_SHIFT) as usize;
        if stretch >= self.stored.len() {
            self.stored.resize((stretch + 1).next_power_of_two(), 0);
        }
        let stored = u32::from(self.stored[stretch]) + count;
        self.stored[stretch] = stored.min(1 << STRETCH_SHIFT) as u8;
    }

    /// The lines `first..first + count` are written back or dropped; about how many were dirty.
    pub fn take_stored(&mut self, first: u64, count: u64) -> u64 {
        let end = ((first + count) >> STRETCH_SHIFT).min(self.stored.len() as u64) as usize;
        let begin = ((first >> STRETCH_SHIFT) as usize).min(end);
        let stored: u64 = self.stored[begin..end].iter_mut().map(|lines| u64::from(std::mem::take(lines))).sum();
        stored * u64::from(self.kept) / 100
    }

    /// Everything is written back; about how many lines were dirty.
    pub fn flush(&mut self) -> u64 {
        self.take_stored(0, (self.stored.len() as u64) << STRETCH_SHIFT)
    }
}
