//! The second-level cache of a GPU in front of its own memory: write-back, allocates on stores and fetches only for
//! partial ones.

use octavo_node::L2Config;
use octavo_units::Bytes;

use crate::engine::lane::Lane;
use crate::engine::slots::{Order, Slots};
use crate::gpu::caches::dirty_lines::{STRETCH, Written};
use crate::gpu::caches::dram::Dram;
use crate::gpu::caches::interleave::Interleave;
use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::caches::line_sets::{LineSets, LineState, Place};
use crate::gpu::caches::memory_traffic::{MemoryTraffic, PassedLine};
use crate::gpu::caches::sectors::SECTOR_BYTES;
use crate::gpu::counts::Accesses;

/// Cycles of a bank's input are booked in buckets of 16 ns.
pub(super) const BANK_BUCKET_SHIFT: u32 = 14;

/// A cache whose lines have this many parts of 64 bytes that come one by one: 1 or 2.
pub(crate) struct L2Cache<const SECTORS: usize> {
    /// Lines are numbered with 32 bits: 256 GiB of address space.
    lines: LineSets<SECTORS>,
    /// The places in memory where its lines may be dirty.
    written: Written,
    banks: Vec<Bank>,
    interleave: Interleave,
    latency: u64,
    /// How long before its answer leaves the bank a line is locked by a store, or by data from memory.
    lock: u64,
    crossbar: u64,
    input_cost: u64,
    byte_masks: bool,
    memory_traffic: MemoryTraffic,
}

struct Bank {
    input: Lane,
    misses: Slots,
}

impl<const SECTORS: usize> L2Cache<SECTORS> {
    /// `interleave`: consecutive bytes on one bank.
    pub fn new(config: &L2Config, interleave: Bytes, order: Order, cycle: u64) -> Self {
        let ways = config.ways as usize;
        let sets = config.size.0 / (SECTORS * SECTOR_BYTES) as u64 / u64::from(config.ways);
        let bank = |_| Bank { input: Lane::new(BANK_BUCKET_SHIFT), misses: Slots::new(config.miss_registers, order) };
        Self {
            lines: LineSets::new(sets as usize, ways, config.index),
            written: Written::default(),
            banks: (0..config.banks).map(bank).collect(),
            interleave: Interleave::new(interleave.0, config.banks),
            latency: config.latency.0 * cycle,
            lock: config.lock.0 * cycle,
            crossbar: config.crossbar.0 * cycle,
            input_cost: (cycle / u64::from(config.lines_per_cycle)).max(1),
            byte_masks: config.byte_masks,
            memory_traffic: MemoryTraffic::default(),
        }
    }

    /// A load or store of `line` that leaves the requester at `time`; returns when the answer is back at the
    /// requester's side of the crossbar.
    #[inline(always)]
    pub fn access(
        &mut self,
        now: u64,
        time: u64,
        line: u64,
        access: LineAccess,
        dram: &mut Dram,
        counts: &mut Accesses,
    ) -> u64 {
        debug_assert!(time >= now);
        let write = access != LineAccess::Load;
        if write {
            self.written.note(line);
        }
        let bank = self.interleave.bank(line);
        let arrived = time + self.crossbar;
        let accepted = self.banks[bank].input.reserve(now, arrived, self.input_cost);
        counts.queued += accepted - arrived - self.input_cost;
        let Some(at) = self.lines.look_up(line as u32) else {
            return self.miss(now, accepted + self.latency, (line, bank), access, dram, counts);
        };
        counts.l2_hits += 1;
        if self.lock > 0 && (write || !self.lines.is_settled(at, accepted)) {
            return self.hit_locking(now, (accepted, bank), at, write, counts);
        }
        if write {
            self.lines.make_dirty(at);
        }
        let there = accepted + self.latency;
        let answered = if self.lines.is_settled(at, there) { there } else { there.max(self.lines.state(at).ready) };
        answered + self.crossbar
    }

    /// A hit where stores and data from memory lock a line, and this one may be locked or become so.
    #[inline(never)]
    fn hit_locking(
        &mut self,
        now: u64,
        (accepted, bank): (u64, usize),
        at: Place,
        write: bool,
        counts: &mut Accesses,
    ) -> u64 {
        let state = self.lines.state(at);
        let locked = accepted < self.unlocked(state);
        let turn = if locked { self.wait(now, accepted, bank, state, write) } else { accepted };
        counts.queued += turn - accepted;
        if write {
            self.lines.set_state(now, at, self.after_store(turn, state));
        }
        (turn + self.latency).max(state.ready) + self.crossbar
    }

    /// A hint to the simulating machine that the set of a line is needed soon.
    #[inline(always)]
    pub fn hint(&self, line: u64) {
        self.lines.hint(line as u32);
    }

    /// A line that the cache does not hold, looked up until `time`.
    #[inline(never)]
    fn miss(
        &mut self,
        now: u64,
        time: u64,
        (line, bank): (u64, usize),
        access: LineAccess,
        dram: &mut Dram,
        counts: &mut Accesses,
    ) -> u64 {
        let write = access != LineAccess::Load;
        let (at, wrote_back) = self.seat(now, time, line, dram);
        let fetched = match access {
            LineAccess::Load => true,
            LineAccess::PartialStore => !self.byte_masks,
            LineAccess::Store => false,
        };
        let ready = if fetched { self.fetch(now, time, bank, line, dram) } else { time };
        counts.queued += if fetched { (ready - time).saturating_sub(dram.idle()) } else { 0 };
        counts.dram_reads += u64::from(fetched);
        counts.store_fetches += u64::from(fetched & write);
        counts.dram_writes += wrote_back;
        let stored = self.lock > 0 && !fetched;
        self.lines.enter(now, line as u32, at, LineState { ready, dirty: write, stored });
        ready + self.crossbar
    }

    /// The place for a missing line: next to its other part, or that of the least recently used line of its set, of
    /// which this many parts are written back.
    #[inline(always)]
    fn seat(&mut self, now: u64, time: u64, line: u64, dram: &mut Dram) -> (Place, u64) {
        if SECTORS > 1
            && let Some(at) = self.lines.seat(line as u32)
        {
            return (at, 0);
        }
        let at = self.lines.oldest(line as u32);
        self.lines.hint_state(at);
        let mut wrote_back = 0;
        for dirty in self.lines.dirty_parts(at) {
            let line = u64::from(self.lines.line(dirty));
            dram.write(now, time, line);
            self.memory_traffic.pass(PassedLine { time, gpu: 0, line, write: true });
            wrote_back += 1;
        }
        self.lines.leave(at);
        (at, wrote_back)
    }

    /// The lines that pass to and from memory, while they are kept; they name no GPU.
    pub fn memory_traffic(&mut self) -> &mut MemoryTraffic {
        &mut self.memory_traffic
    }

    /// A line is written back, or dropped; whether it was dirty.
    fn write_back(&mut self, now: u64, at: Place) -> bool {
        let dirty = self.lines.is_dirty(at);
        if dirty {
            let line = u64::from(self.lines.line(at));
            self.memory_traffic.pass(PassedLine { time: now, gpu: 0, line, write: true });
        }
        dirty
    }

    /// Writes everything back and empties the cache; returns how many lines were dirty.
    pub fn flush(&mut self, now: u64) -> u64 {
        if self.memory_traffic.keeps() {
            let all: Vec<Place> = self.lines.places(0..u64::MAX).collect();
            all.into_iter().for_each(|at| _ = self.write_back(now, at));
        }
        self.written.clear();
        self.lines.clear_all()
    }

    /// Drops the lines `first..first + count`, which are written back at a given time or not at all; returns how many of
    /// them were dirty.
    pub fn drop_lines(&mut self, first: u64, count: u64, written: Option<u64>) -> u64 {
        if let Some(now) = written.filter(|_| self.memory_traffic.keeps()) {
            let held: Vec<Place> = self.lines.places(first..first + count).collect();
            held.into_iter().for_each(|at| _ = self.write_back(now, at));
        }
        if self.lines.sweeping_is_quicker(count) {
            let places: Vec<Place> = self.lines.places(first..first + count).collect();
            return places.into_iter().map(|at| u64::from(self.lines.clear(at))).sum();
        }
        let mut dirty = 0;
        for line in first..first + count {
            let Some(at) = self.lines.find(line as u32) else { continue };
            dirty += u64::from(self.lines.clear(at));
        }
        dirty
    }

    /// Cleans the lines `first..first + count`, whole stretches, in place; returns how many were dirty.
    pub fn clean_lines(&mut self, now: u64, first: u64, count: u64) -> u64 {
        let mut cleaned = 0;
        for stretch in (first..first + count).step_by(STRETCH as usize) {
            if !self.written.take(stretch) {
                continue;
            }
            for line in stretch..stretch + STRETCH {
                let Some(at) = self.lines.find(line as u32) else { continue };
                cleaned += u64::from(self.write_back(now, at));
                self.lines.make_clean(at);
            }
        }
        cleaned
    }

    /// Whether any of the lines `first..first + count` is here.
    pub fn holds_any(&self, first: u64, count: u64) -> bool {
        if self.lines.sweeping_is_quicker(count) {
            return self.lines.places(first..first + count).next().is_some();
        }
        (first..first + count).any(|line| self.lines.find(line as u32).is_some())
    }

    /// The time when the bank can take an access to the line, measured at its input: this long before the answer that
    /// locks it.
    #[inline]
    fn unlocked(&self, state: LineState) -> u64 {
        state.ready.saturating_sub(self.latency - self.lock)
    }

    /// The turn of an access that arrived before the end of its line's lock. It joins a line that is still on its way.
    /// Otherwise it waits, and holds up those behind it at the bank.
    ///
    /// Accesses are not booked in order of their times. A load before a store that has been booked already does not
    /// wait for it; a store does, since a line takes one store after another.
    fn wait(&mut self, now: u64, accepted: u64, bank: usize, state: LineState, write: bool) -> u64 {
        let unlocked = self.unlocked(state);
        let is_locked = accepted + self.lock >= unlocked;
        let must_follow = write && state.stored;
        if !is_locked && !must_follow {
            return accepted;
        }
        let held_up = (unlocked - accepted).min(self.lock);
        self.banks[bank].input.reserve(now, accepted, held_up);
        unlocked
    }

    /// The state of a line after a store that is served at `turn`. A store to a line on its way is done when the line
    /// comes.
    #[inline]
    fn after_store(&self, turn: u64, state: LineState) -> LineState {
        let joins = turn < self.unlocked(state);
        let ready = if joins { state.ready } else { turn + self.latency };
        LineState { ready, dirty: true, stored: !joins }
    }

    #[inline]
    fn fetch(&mut self, now: u64, time: u64, bank: usize, line: u64, dram: &mut Dram) -> u64 {
        let misses = &mut self.banks[bank].misses;
        let start = misses.available(now, time);
        let done = dram.read(now, start, line);
        misses.take(now, start, done);
        self.memory_traffic.pass(PassedLine { time: start, gpu: 0, line, write: false });
        done
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use octavo_units::{Bytes, Cycles};
    use proptest::prelude::*;

    use super::LineAccess::{Load, PartialStore, Store};
    use super::*;
    use octavo_node::{DramConfig, LineSize, SetIndex};

    /// What one access found.
    struct Answer {
        done: u64,
        hit: bool,
        fetched: bool,
        wrote_back: bool,
    }

    fn ask<const SECTORS: usize>(
        l2: &mut L2Cache<SECTORS>,
        now: u64,
        time: u64,
        line: u64,
        access: LineAccess,
        dram: &mut Dram,
    ) -> Answer {
        let mut counts = Accesses::default();
        let done = l2.access(now, time, line, access, dram, &mut counts);
        let (hit, fetched, wrote_back) = (counts.l2_hits > 0, counts.dram_reads > 0, counts.dram_writes > 0);
        Answer { done, hit, fetched, wrote_back }
    }

    fn small() -> (L2Cache<1>, Dram) {
        with_lock(0)
    }

    /// 32 lines of 64 bytes or 16 of 128, two to a set.
    fn with_lock<const SECTORS: usize>(lock: u64) -> (L2Cache<SECTORS>, Dram) {
        let l2 = L2Config {
            size: Bytes(2048),
            line: if SECTORS == 1 { LineSize::Bytes64 } else { LineSize::Bytes128 },
            ways: 2,
            index: SetIndex::LowBits,
            banks: 2,
            latency: Cycles(10),
            lock: Cycles(lock),
            crossbar: Cycles(5),
            lines_per_cycle: 1,
            miss_registers: 4,
            byte_masks: false,
        };
        let dram = DramConfig {
            banks: 2,
            latency: Cycles(100),
            line_cycles: Cycles(1),
            lone_line_percent: 100,
            lone_write_percent: 100,
            interleave: Bytes(128),
            channel_banks: 1,
        };
        (L2Cache::new(&l2, Bytes(128), Order::Requests, 1000), Dram::new(&dram, 1000))
    }

    #[test]
    fn an_idle_miss_pays_crossbar_bank_and_memory_and_a_hit_does_not_pay_memory() {
        let (mut l2, mut dram) = small();
        let miss = ask(&mut l2, 0, 0, 7, Load, &mut dram);
        assert_eq!((miss.done, miss.hit), ((5 + 1 + 10 + 101 + 5) * 1000, false));
        let hit = ask(&mut l2, 1_000_000, 1_000_000, 7, Load, &mut dram);
        assert_eq!((hit.done - 1_000_000, hit.hit), (21_000, true));
    }

    #[test]
    fn only_dirty_victims_are_written_back() {
        let (mut l2, mut dram) = small();
        ask(&mut l2, 0, 0, 0, Store, &mut dram);
        ask(&mut l2, 0, 0, 16, Load, &mut dram);
        assert!(ask(&mut l2, 0, 0, 32, Load, &mut dram).wrote_back, "line 0 was dirty and oldest");
        assert!(!ask(&mut l2, 0, 0, 48, Load, &mut dram).wrote_back, "line 16 was clean");
    }

    #[test]
    fn halves_of_a_line_are_fetched_one_by_one_and_written_back_where_they_are_dirty() {
        let (mut l2, mut dram) = with_lock::<2>(0);
        assert!(ask(&mut l2, 0, 0, 0, Load, &mut dram).fetched);
        let other = ask(&mut l2, 0, 0, 1, Load, &mut dram);
        assert!(!other.hit && other.fetched && !other.wrote_back, "the other half comes by itself");
        assert!(ask(&mut l2, 0, 0, 1, Store, &mut dram).hit);
        ask(&mut l2, 0, 0, 16, Store, &mut dram);
        ask(&mut l2, 0, 0, 17, Store, &mut dram);
        let mut counts = Accesses::default();
        l2.access(0, 0, 32, Load, &mut dram, &mut counts);
        assert_eq!(counts.dram_writes, 1, "half of the first line was dirty");
        let mut counts = Accesses::default();
        l2.access(0, 0, 48, Load, &mut dram, &mut counts);
        assert_eq!(counts.dram_writes, 2, "both halves of the second were");
        assert!(!l2.holds_any(0, 2) && !l2.holds_any(16, 2));
    }

    #[test]
    fn a_flush_writes_dirty_lines_back_and_leaves_nothing() {
        let (mut l2, mut dram) = small();
        ask(&mut l2, 0, 0, 0, Load, &mut dram);
        ask(&mut l2, 0, 0, 1, Store, &mut dram);
        assert_eq!((l2.flush(0), l2.flush(0)), (1, 0));
        assert!(!l2.holds_any(0, 2));
    }

    #[test]
    fn dropping_a_page_reports_its_dirty_lines_once() {
        let (mut l2, mut dram) = small();
        for line in [0, 1, STRETCH + 2] {
            ask(&mut l2, 0, 0, line, if line == 1 { Load } else { Store }, &mut dram);
        }
        assert_eq!(l2.clean_lines(0, 0, STRETCH), 1);
        assert_eq!(l2.drop_lines(0, 2 * STRETCH, None), 1);
        assert_eq!(l2.drop_lines(0, 2 * STRETCH, None), 0);
        assert!(!ask(&mut l2, 0, 0, 1, Load, &mut dram).hit);
    }

    #[test]
    fn a_partial_store_that_misses_fetches_its_line_and_a_whole_one_does_not() {
        let (mut l2, mut dram) = small();
        let whole = ask(&mut l2, 0, 0, 3, Store, &mut dram);
        let partial = ask(&mut l2, 0, 0, 5, PartialStore, &mut dram);
        assert_eq!((whole.done, whole.fetched), ((5 + 1 + 10 + 5) * 1000, false));
        assert_eq!((partial.done, partial.fetched), ((5 + 1 + 10 + 101 + 5) * 1000, true));
        assert_eq!(l2.drop_lines(0, 8, None), 2, "both are dirty");
    }

    #[test]
    fn stores_to_one_line_follow_one_another_and_hold_up_their_bank() {
        let (mut l2, mut dram) = with_lock::<1>(8);
        let idle = (5 + 1 + 10 + 5) * 1000;
        assert_eq!(ask(&mut l2, 0, 0, 0, Store, &mut dram).done, idle);
        let stores: Vec<u64> = (0..4).map(|_| ask(&mut l2, 0, 0, 0, Store, &mut dram).done).collect();
        assert_eq!(stores, [8, 16, 24, 32].map(|waited| idle + waited * 1000));
        assert!(ask(&mut l2, 0, 0, 1, Load, &mut dram).done > idle + 30_000, "another line of the bank");
        assert_eq!(ask(&mut l2, 0, 0, 2, Store, &mut dram).done, idle, "another bank");
        assert_eq!(ask(&mut l2, 0, 100_000, 0, Store, &mut dram).done, 100_000 + idle, "the lock is over");
    }

    #[test]
    fn accesses_join_a_line_on_its_way_and_wait_while_it_is_written() {
        let (mut l2, mut dram) = with_lock::<1>(8);
        let back = ask(&mut l2, 0, 0, 0, Load, &mut dram).done;
        assert_eq!(back, (5 + 1 + 10 + 101 + 5) * 1000);
        assert_eq!(ask(&mut l2, 0, 50_000, 0, Load, &mut dram).done, back, "on its way");
        assert_eq!(ask(&mut l2, 0, 50_000, 0, PartialStore, &mut dram).done, back);
        let late = ask(&mut l2, 0, 105_000, 0, Load, &mut dram).done;
        assert_eq!(late, (115 + 10 + 5) * 1000, "at its bank at 111, written until 115");
    }

    /// Removes the lines of a page; returns how many there were.
    fn take_page(lines: &mut BTreeSet<u64>, page: u64) -> u64 {
        let before = lines.len();
        lines.retain(|line| !(page..page + STRETCH).contains(line));
        (before - lines.len()) as u64
    }

    /// For two pages, one after the other: lines are dirty by stores, whether they hit, miss or wait, and until they
    /// are cleaned, dropped, evicted or written back with everything else.
    fn check_cleaning<const SECTORS: usize>(steps: &[(u32, u64)], lock: u64) -> Result<(), TestCaseError> {
        let (mut l2, mut dram) = with_lock::<SECTORS>(lock);
        let mut dirty = BTreeSet::new();
        for (number, &(step, line)) in steps.iter().enumerate() {
            let (now, page) = (number as u64 * 20_000, line - line % STRETCH);
            match step {
                0 => prop_assert_eq!(l2.clean_lines(0, page, STRETCH), take_page(&mut dirty, page)),
                1 if number % 2 == 0 => {
                    // More lines than the cache has places.
                    prop_assert_eq!(l2.drop_lines(0, 16 * STRETCH, None), dirty.len() as u64);
                    prop_assert!(!l2.holds_any(0, 16 * STRETCH));
                    dirty.clear();
                }
                1 => prop_assert_eq!(l2.drop_lines(page, STRETCH, None), take_page(&mut dirty, page)),
                2 => {
                    prop_assert_eq!(l2.flush(0), dirty.len() as u64);
                    dirty.clear();
                }
                _ => {
                    let access = [Load, Store, PartialStore][step as usize % 3];
                    ask(&mut l2, now, now, line, access, &mut dram);
                    dirty.retain(|&other| l2.holds_any(other, 1));
                    if access != Load {
                        dirty.insert(line);
                    }
                }
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn cleaning_finds_every_dirty_line(
            steps in prop::collection::vec((0u32..20, 0..2 * STRETCH), 1..200), lock in prop::sample::select(vec![0, 8]),
        ) {
            check_cleaning::<1>(&steps, lock)?;
            check_cleaning::<2>(&steps, lock)?;
        }
    }
}
