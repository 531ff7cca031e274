//! The second-level cache of a GPU in front of its own memory: write-back, allocates on stores and fetches only for partial ones.

use octavo_units::Bytes;

use super::{Dram, Interleave, LineAccess};
use crate::config::L2Config;
use crate::reserve::{Lane, Slots};
use crate::result::Accesses;
use crate::ways::Sets;

/// Cycles of a bank's input are booked in buckets of 16 ns.
const BANK_BUCKET_SHIFT: u32 = 14;

pub(crate) struct L2Cache {
    /// [`LineState`] by line. Lines are numbered with 32 bits: 256 GiB of address space.
    lines: Sets,
    banks: Vec<Bank>,
    interleave: Interleave,
    latency: u64,
    /// For how long before its answer leaves the bank a line is locked by a store, or by data from memory.
    lock: u64,
    crossbar: u64,
    input_cost: u64,
}

/// When a line's data is there, whether it differs from memory, and whether a store locked it last, in one word.
#[derive(Clone, Copy)]
struct LineState(u64);

const DIRTY: u64 = 1 << 63;
const STORED: u64 = 1 << 62;

impl LineState {
    #[inline]
    const fn new(ready: u64, dirty: bool) -> Self {
        Self(if dirty { ready | DIRTY } else { ready })
    }

    /// Of a line that a store locks until then.
    #[inline]
    const fn stored(ready: u64) -> Self {
        Self(ready | DIRTY | STORED)
    }

    #[inline]
    const fn ready(self) -> u64 {
        self.0 & !(DIRTY | STORED)
    }

    #[inline]
    const fn is_dirty(self) -> bool {
        self.0 & DIRTY != 0
    }

    #[inline]
    const fn is_stored(self) -> bool {
        self.0 & STORED != 0
    }
}

struct Bank {
    input: Lane,
    misses: Slots,
}

impl L2Cache {
    /// `interleave`: consecutive bytes on one bank.
    pub fn new(config: &L2Config, interleave: Bytes, cycle: u64) -> Self {
        let ways = config.ways as usize;
        let sets = config.size.0 / 64 / u64::from(config.ways);
        let bank = |_| Bank { input: Lane::new(BANK_BUCKET_SHIFT), misses: Slots::new(config.miss_registers) };
        Self {
            lines: Sets::new(1, sets as usize, ways),
            banks: (0..config.banks).map(bank).collect(),
            interleave: Interleave::new(interleave.0, config.banks),
            latency: config.latency.0 * cycle,
            lock: config.lock.0 * cycle,
            crossbar: config.crossbar.0 * cycle,
            input_cost: (cycle / u64::from(config.lines_per_cycle)).max(1),
        }
    }

    /// A load or store of `line` that leaves the requester at `time`; returns when the answer is back at the requester's
    /// side of the crossbar.
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
        let write = access != LineAccess::Load;
        let bank = self.interleave.bank(line);
        let accepted = self.banks[bank].input.reserve(now, time + self.crossbar, self.input_cost);
        let set = self.lines.set_of(0, line as u32);
        let Some((way, state)) = self.lines.lookup(set, line as u32) else {
            return self.miss(now, accepted + self.latency, (line, bank, set), access, dram, counts);
        };
        counts.l2_hits += 1;
        let state = LineState(state);
        if self.lock > 0 {
            return self.hit_locking(now, (accepted, bank), (set, way), state, write);
        }
        if write {
            self.lines.set_value(set, way, LineState::new(state.ready(), true).0);
        }
        (accepted + self.latency).max(state.ready()) + self.crossbar
    }

    /// A hit where stores and data from memory lock a line.
    #[inline(never)]
    fn hit_locking(
        &mut self,
        now: u64,
        (accepted, bank): (u64, usize),
        (set, way): (usize, usize),
        state: LineState,
        write: bool,
    ) -> u64 {
        let locked = accepted < self.unlocked(state);
        let turn = if locked { self.wait(now, accepted, bank, state, write) } else { accepted };
        if write {
            self.lines.set_value(set, way, self.after_store(turn, state).0);
        }
        (turn + self.latency).max(state.ready()) + self.crossbar
    }

    /// A line that is not there, looked up until `time`.
    #[inline(never)]
    fn miss(
        &mut self,
        now: u64,
        time: u64,
        (line, bank, set): (u64, usize, usize),
        access: LineAccess,
        dram: &mut Dram,
        counts: &mut Accesses,
    ) -> u64 {
        let write = access != LineAccess::Load;
        let (way, wrote_back) = self.make_room(now, time, set, dram);
        let fetched = access != LineAccess::Store;
        let filled = if fetched { self.fetch(now, time, bank, line, dram) } else { time };
        counts.dram_reads += u64::from(fetched);
        counts.store_fetches += u64::from(fetched & write);
        counts.dram_writes += u64::from(wrote_back);
        let stores_at_once = self.lock > 0 && !fetched;
        let new = if stores_at_once { LineState::stored(filled) } else { LineState::new(filled, write) };
        self.lines.enter(set, way, line as u32, new.0);
        filled + self.crossbar
    }

    /// Writes everything back and empties the cache; returns how many lines were dirty.
    pub fn flush(&mut self) -> u64 {
        let mut dirty = 0;
        self.lines.clear_all(|state| dirty += u64::from(LineState(state).is_dirty()));
        dirty
    }

    /// Drops the lines `first..first + count`; returns how many of them were dirty.
    pub fn drop_lines(&mut self, first: u64, count: u64) -> u64 {
        (first..first + count).filter(|&line| self.drop_line(line)).count() as u64
    }

    /// Cleans the lines `first..first + count` in place; returns how many were dirty.
    pub fn clean_lines(&mut self, first: u64, count: u64) -> u64 {
        let mut cleaned = 0;
        for line in first..first + count {
            let Some((set, way)) = self.find(line) else { continue };
            let state = self.state(set, way);
            cleaned += u64::from(state.is_dirty());
            self.lines.set_value(set, way, LineState::new(state.ready(), false).0);
        }
        cleaned
    }

    /// Whether any of the lines `first..first + count` is here.
    pub fn holds_any(&self, first: u64, count: u64) -> bool {
        (first..first + count).any(|line| self.find(line).is_some())
    }

    fn drop_line(&mut self, line: u64) -> bool {
        let Some((set, way)) = self.find(line) else { return false };
        let dirty = self.state(set, way).is_dirty();
        self.lines.clear(set, way);
        dirty
    }

    /// Set and way of a line.
    fn find(&self, line: u64) -> Option<(usize, usize)> {
        let set = self.lines.set_of(0, line as u32);
        self.lines.find(set, line as u32).map(|way| (set, way))
    }

    #[inline]
    fn state(&self, set: usize, way: usize) -> LineState {
        LineState(self.lines.value(set, way))
    }

    /// When the bank can take an access to the line, in terms of its input: so much before the answer that locks it.
    #[inline]
    fn unlocked(&self, state: LineState) -> u64 {
        state.ready().saturating_sub(self.latency - self.lock)
    }

    /// When it is the turn of an access that has come before the end of its line's lock. It joins a line that is still on
    /// its way. Otherwise it waits, and holds up those behind it at the bank.
    ///
    /// Accesses are not booked in order of their times. A load before a store that has been booked already does not wait
    /// for it; a store does, since a line takes one store after another.
    fn wait(&mut self, now: u64, accepted: u64, bank: usize, state: LineState, write: bool) -> u64 {
        let unlocked = self.unlocked(state);
        let is_locked = accepted + self.lock >= unlocked;
        let must_follow = write && state.is_stored();
        if !is_locked && !must_follow {
            return accepted;
        }
        let held_up = (unlocked - accepted).min(self.lock);
        self.banks[bank].input.reserve(now, accepted, held_up);
        unlocked
    }

    /// What becomes of a line by a store whose turn is at `turn`: one that joins a line on its way comes with it.
    #[inline]
    fn after_store(&self, turn: u64, state: LineState) -> LineState {
        let joins = turn < self.unlocked(state);
        if joins { LineState::new(state.ready(), true) } else { LineState::stored(turn + self.latency) }
    }

    #[inline]
    fn fetch(&mut self, now: u64, time: u64, bank: usize, line: u64, dram: &mut Dram) -> u64 {
        let misses = &mut self.banks[bank].misses;
        let done = dram.access(now, misses.available(time), line, 1);
        misses.take(done);
        done
    }

    /// The way to replace in `set`, its old line written back if dirty.
    #[inline]
    fn make_room(&mut self, now: u64, time: u64, set: usize, dram: &mut Dram) -> (usize, bool) {
        let oldest = self.lines.oldest(set);
        let dirty = self.state(set, oldest).is_dirty();
        if dirty {
            dram.access(now, time, u64::from(self.lines.tag(set, oldest)), 1);
        }
        (oldest, dirty)
    }
}

#[cfg(test)]
mod tests {
    use octavo_units::{Bytes, Cycles};

    use super::LineAccess::{Load, PartialStore, Store};
    use super::*;
    use crate::config::DramConfig;

    /// What one access found.
    struct Answer {
        done: u64,
        hit: bool,
        fetched: bool,
        wrote_back: bool,
    }

    fn ask(l2: &mut L2Cache, now: u64, time: u64, line: u64, access: LineAccess, dram: &mut Dram) -> Answer {
        let mut counts = Accesses::default();
        let done = l2.access(now, time, line, access, dram, &mut counts);
        let (hit, fetched, wrote_back) = (counts.l2_hits > 0, counts.dram_reads > 0, counts.dram_writes > 0);
        Answer { done, hit, fetched, wrote_back }
    }

    fn small() -> (L2Cache, Dram) {
        with_lock(0)
    }

    fn with_lock(lock: u64) -> (L2Cache, Dram) {
        let l2 = L2Config {
            size: Bytes(2048),
            ways: 2,
            banks: 2,
            latency: Cycles(10),
            lock: Cycles(lock),
            crossbar: Cycles(5),
            lines_per_cycle: 1,
            miss_registers: 4,
        };
        let dram = DramConfig {
            banks: 2,
            latency: Cycles(100),
            line_cycles: Cycles(1),
            interleave: Bytes(128),
            channel_banks: 1,
        };
        (L2Cache::new(&l2, Bytes(128), 1000), Dram::new(&dram, 1000))
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
    fn a_flush_writes_dirty_lines_back_and_leaves_nothing() {
        let (mut l2, mut dram) = small();
        ask(&mut l2, 0, 0, 0, Load, &mut dram);
        ask(&mut l2, 0, 0, 1, Store, &mut dram);
        assert_eq!((l2.flush(), l2.flush()), (1, 0));
        assert!(!l2.holds_any(0, 2));
    }

    #[test]
    fn dropping_a_page_reports_its_dirty_lines_once() {
        let (mut l2, mut dram) = small();
        for line in [0, 1, 2] {
            ask(&mut l2, 0, 0, line, if line == 1 { Load } else { Store }, &mut dram);
        }
        assert_eq!(l2.clean_lines(0, 1), 1);
        assert_eq!(l2.drop_lines(0, 4), 1);
        assert_eq!(l2.drop_lines(0, 4), 0);
        assert!(!ask(&mut l2, 0, 0, 1, Load, &mut dram).hit);
    }

    #[test]
    fn a_partial_store_that_misses_fetches_its_line_and_a_whole_one_does_not() {
        let (mut l2, mut dram) = small();
        let whole = ask(&mut l2, 0, 0, 3, Store, &mut dram);
        let partial = ask(&mut l2, 0, 0, 5, PartialStore, &mut dram);
        assert_eq!((whole.done, whole.fetched), ((5 + 1 + 10 + 5) * 1000, false));
        assert_eq!((partial.done, partial.fetched), ((5 + 1 + 10 + 101 + 5) * 1000, true));
        assert_eq!(l2.drop_lines(0, 8), 2, "both are dirty");
    }

    #[test]
    fn stores_to_one_line_follow_one_another_and_hold_up_their_bank() {
        let (mut l2, mut dram) = with_lock(8);
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
        let (mut l2, mut dram) = with_lock(8);
        let back = ask(&mut l2, 0, 0, 0, Load, &mut dram).done;
        assert_eq!(back, (5 + 1 + 10 + 101 + 5) * 1000);
        assert_eq!(ask(&mut l2, 0, 50_000, 0, Load, &mut dram).done, back, "on its way");
        assert_eq!(ask(&mut l2, 0, 50_000, 0, PartialStore, &mut dram).done, back);
        let late = ask(&mut l2, 0, 105_000, 0, Load, &mut dram).done;
        assert_eq!(late, (115 + 10 + 5) * 1000, "at its bank at 111, written until 115");
    }
}
