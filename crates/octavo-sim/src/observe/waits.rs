//! How long faults wait, and for what: from the access that finds no mapping until the wake-up has arrived.
//!
//! A fault counts once, however many lines wait for it. Its parts sum to its total, to the picosecond.

mod histogram;

use octavo_driver::{FaultId, Faults, Happening as Driver, Request};
use octavo_manager::{Plan, Step};

use self::histogram::Histogram;
use crate::machine::occurrence::{Happening, Listen};
use crate::observe::table::{Column, Table};

/// The parts of a fault's wait in order; then the whole.
const PARTS: [&str; 9] = ["walk", "message", "queue", "service", "drain", "copy", "other", "replay", "total"];

/// Times of an outstanding fault, in picoseconds.
#[derive(Clone, Copy, Default)]
struct Waiting {
    is_open: bool,
    /// The first access that found no mapping came then.
    since: u64,
    /// Its GPU had walked then.
    walked: u64,
    /// The durations of the host's walk, and of the queue for its walkers.
    host_walk: u64,
    /// The driver saw it then.
    arrived: u64,
    /// The beginning and the end of its service, unless it took no time.
    served: Option<(u64, u64)>,
    /// Its plan began then.
    begun: Option<u64>,
    /// The slot of that plan, while the fault waits for it.
    plan: Option<u32>,
    /// That plan's time for drains and copies.
    drain: u64,
    copy: u64,
    /// The last step that it waits for ended then.
    resolved: Option<u64>,
}

/// A plan under way.
#[derive(Clone, Default)]
struct UnderWay {
    faults: Vec<u32>,
    drain: u64,
    copy: u64,
}

/// Histograms of the waits of all faults of GPUs.
#[derive(Default)]
pub(crate) struct FaultWaits {
    /// By number of the fault.
    faults: Vec<Waiting>,
    /// By slot.
    plans: Vec<UnderWay>,
    /// By part.
    histograms: [Histogram; PARTS.len()],
}

impl Listen for FaultWaits {
    #[inline(always)]
    fn hear(&mut self, now: u64, what: Happening<'_>) {
        match what {
            Happening::FaultBegins { fault, at, since, .. } => self.begins(fault, since, at),
            Happening::WalkedOnHost { fault, until } => self.waiting(fault.0, |one| one.host_walk = until - now),
            Happening::FaultArrives { fault: Some(fault), .. } => self.waiting(fault.0, |one| one.arrived = now),
            Happening::WakeLeaves { fault, .. } => self.resolved(fault.0, now),
            Happening::FaultEnds { fault } => self.ends(fault, now),
            Happening::Step { slot, step, until, .. } => self.step(slot, step, until - now),
            Happening::Driver(what) => self.driver(now, what),
            _ => {}
        }
    }
}

impl FaultWaits {
    /// One row for each part and range of times that has faults; nothing without faults.
    pub fn table(&self) -> Option<Table> {
        let rows = || PARTS.iter().zip(&self.histograms).flat_map(|(part, one)| one.rows().map(move |row| (part, row)));
        rows().next()?;
        let column =
            |name, value: fn(histogram::Row) -> u64| Column::u64(name, rows().map(|(_, row)| value(row)).collect());
        Some(Table::new(
            "fault_waits",
            vec![
                Column::text("part", rows().map(|(part, _)| (*part).to_owned()).collect()),
                column("from_ps", |row| row.from),
                column("below_ps", |row| row.below),
                column("faults", |row| row.count),
                column("sum_ps", |row| row.sum),
            ],
        ))
    }

    /// Faults that have begun and not ended.
    pub fn open(&self) -> u64 {
        self.faults.iter().filter(|one| one.is_open).count() as u64
    }

    fn begins(&mut self, FaultId(number): FaultId, since: u64, walked: u64) {
        let index = number as usize;
        if self.faults.len() <= index {
            self.faults.resize(index + 1, Waiting::default());
        }
        self.faults[index] = Waiting { is_open: true, since, walked, ..Waiting::default() };
    }

    /// Faults of the host do not count.
    fn waiting(&mut self, number: u32, change: impl FnOnce(&mut Waiting)) {
        if let Some(one) = self.faults.get_mut(number as usize).filter(|one| one.is_open) {
            change(one);
        }
    }

    fn driver(&mut self, now: u64, what: Driver<'_>) {
        match what {
            Driver::Served(Request::Fault(fault), from, until) => {
                self.waiting(fault.0, |one| one.served = Some((from.0, until.0)));
            }
            Driver::BatchBegins { requests, served, .. } => {
                for fault in requests.iter().filter_map(|request| request.fault()) {
                    self.waiting(fault.0, |one| one.served = Some((now, served.0)));
                }
            }
            Driver::PlanBegins { slot, plan, faults, .. } => self.plan_begins(slot, plan, faults, now),
            Driver::PlanEnds { slot, .. } => self.plan_ends(slot, now),
            Driver::Served(..) | Driver::BatchEnds(_) => {}
        }
    }

    /// A plan will wake the faults it names that the manager has.
    fn plan_begins(&mut self, slot: u32, plan: &Plan, faults: &Faults, now: u64) {
        let index = slot as usize;
        if self.plans.len() <= index {
            self.plans.resize(index + 1, UnderWay::default());
        }
        let under_way = &mut self.plans[index];
        (under_way.drain, under_way.copy) = (0, 0);
        let woken = plan.wakes().filter_map(|(processor, page)| faults.outstanding(processor, page));
        for FaultId(fault) in woken.filter(|fault| faults[*fault].served) {
            under_way.faults.push(fault);
            if let Some(one) = self.faults.get_mut(fault as usize).filter(|one| one.is_open) {
                (one.begun, one.plan) = (Some(now), Some(slot));
            }
        }
    }

    /// Its wakes have arrived, or wait for the end of their batch.
    fn plan_ends(&mut self, slot: u32, now: u64) {
        while let Some(fault) = self.plans[slot as usize].faults.pop() {
            self.waiting_for(slot, fault, now);
        }
    }

    fn step(&mut self, slot: u32, step: &Step, took: u64) {
        let plan = &mut self.plans[slot as usize];
        match step {
            Step::Drain { .. } => plan.drain += took,
            Step::Copy { .. } => plan.copy += took,
            _ => {}
        }
    }

    /// The wake-up of a fault leaves: for a plan in progress, or for a batch that ended.
    fn resolved(&mut self, fault: u32, now: u64) {
        let Some(one) = self.faults.get_mut(fault as usize).filter(|one| one.is_open) else { return };
        match one.plan {
            Some(slot) => self.waiting_for(slot, fault, now),
            None => one.resolved = one.resolved.or(Some(now)),
        }
    }

    /// Charges the plan's time so far to this fault, if the fault still waits for the plan.
    fn waiting_for(&mut self, slot: u32, fault: u32, now: u64) {
        let UnderWay { drain, copy, .. } = self.plans[slot as usize];
        self.waiting(fault, |one| {
            if one.plan.take_if(|plan| *plan == slot).is_some() {
                (one.drain, one.copy, one.resolved) = (drain, copy, Some(now));
            }
        });
    }

    fn ends(&mut self, FaultId(number): FaultId, now: u64) {
        let Some(one) = self.faults.get_mut(number as usize).filter(|one| one.is_open) else { return };
        one.is_open = false;
        for (histogram, part) in self.histograms.iter_mut().zip(one.parts(now)) {
            histogram.add(part);
        }
    }
}

impl Waiting {
    /// Splits the wait that ends now as [`PARTS`] has it.
    fn parts(&self, now: u64) -> [u64; PARTS.len()] {
        let since = self.since.min(now);
        let walked = self.walked.clamp(since, now);
        let arrived = self.arrived.clamp(walked, now);
        let (from, until) = self.served.unwrap_or((arrived, arrived));
        let from = from.clamp(arrived, now);
        let until = until.clamp(from, now);
        let resolved = self.resolved.unwrap_or(now).clamp(until, now);
        let begun = self.begun.unwrap_or(resolved).clamp(until, resolved);
        let host_walk = self.host_walk.min(arrived - walked);
        let drain = self.drain.min(resolved - begun);
        let copy = self.copy.min(resolved - begun - drain);
        [
            walked - since + host_walk,
            arrived - walked - host_walk,
            from - arrived + begun - until,
            until - from,
            drain,
            copy,
            resolved - begun - drain - copy,
            now - resolved,
            now - since,
        ]
    }
}
