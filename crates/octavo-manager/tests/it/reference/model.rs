//! The model's state and what happens to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use octavo_manager::{
    Accessed, Advice, CounterNotification, Fault, HOST, Kind, MemoryId, PageId, PageRun, ProcessorId, ProcessorMask,
    Random, Scheme,
};

use super::fights::Fights;
use super::flight::{Flight, Pending};
use super::gps::Subscriptions;
use super::griffin::Accesses;
use super::groups::Groups;
use super::kinds::Moves;
use super::leaving::Order;
use super::pa::PageAttributes;
use super::page::Page;
use super::rules::{Eviction, Placement, Prefetch, Remote, Rules};
use super::sizes::Frames;

/// The model's counts, under the names of the manager's statistics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub far_faults: u64,
    pub protection_faults: u64,
    pub cold_faults: u64,
    pub stale_faults: u64,
    pub migrations: u64,
    pub duplications: u64,
    pub collapses: u64,
    pub replicas_left: u64,
    pub remote_maps: u64,
    pub counter_migrations: u64,
    pub prefetched: u64,
    pub populated: u64,
    pub evictions_written: u64,
    pub evictions_dropped: u64,
    pub evictions_for_others: u64,
    pub report_migrations: u64,
    pub unsubscribed: u64,
}

/// The whole node.
pub struct Model {
    pub rules: Rules,
    pub pages: BTreeMap<u32, Page>,
    pub touched: BTreeSet<u32>,
    pub groups: Groups,
    pub attributes: PageAttributes,
    pub counts: Counts,
    pub(super) allocations: Vec<Range<u32>>,
    /// The address space of each page.
    pub(super) spaces: BTreeMap<u32, u16>,
    /// The kind of each page, and the advice on it.
    pub(super) kinds: BTreeMap<u32, Kind>,
    pub(super) advice: BTreeMap<u32, Advice>,
    /// Pages of device memory that were dealt out.
    pub(super) laid_out: u32,
    /// The order of eviction, of all pages or for each address space.
    pub(super) orders: Vec<Order>,
    /// GPS.
    pub(super) subscriptions: Subscriptions,
    /// Griffin.
    pub(super) accesses: Accesses,
    /// `interleaved`: the home of each page, and which GPU is next.
    pub(super) homes: BTreeMap<u32, ProcessorId>,
    pub(super) turn: u32,
    /// The prefetcher's random numbers.
    pub(super) lots: Random,
    /// Which frame holds which page, where frames have numbers.
    pub frames: Option<Frames>,
    pub(super) flights: BTreeMap<u64, Flight>,
    pub(super) next_flight: u64,
    pub(super) starved: BTreeMap<ProcessorId, VecDeque<Pending>>,
    /// The guard against thrashing, if there is one.
    pub fights: Option<Fights>,
    /// Faults that wait until a time, the first first.
    pub(super) throttled: Vec<(u64, Pending)>,
    /// Picoseconds.
    pub now: u64,
    /// Faults of plans that were refused.
    pub(super) refused: BTreeSet<(ProcessorId, u32)>,
}

impl Model {
    pub fn new(rules: &Rules) -> Self {
        let cached = !matches!(rules.placement, Placement::Grit(grit) if !grit.cached);
        Self {
            rules: rules.clone(),
            pages: BTreeMap::new(),
            touched: BTreeSet::new(),
            groups: Groups::default(),
            attributes: PageAttributes::new(cached),
            counts: Counts::default(),
            allocations: Vec::new(),
            spaces: BTreeMap::new(),
            kinds: BTreeMap::new(),
            advice: BTreeMap::new(),
            laid_out: 0,
            orders: vec![Order::new(rules), Order::new(rules)],
            subscriptions: Subscriptions::default(),
            accesses: Accesses::default(),
            homes: BTreeMap::new(),
            turn: 0,
            lots: Random::new(if let Prefetch::RandomPage(seed) = rules.prefetch { seed } else { 0 }),
            frames: rules.sizes.as_ref().map(|sizes| Frames::new(sizes, &rules.capacity, rules.block_pages())),
            flights: BTreeMap::new(),
            next_flight: 0,
            starved: BTreeMap::new(),
            fights: rules.guard.map(|guard| Fights::new(guard, rules.block_pages())),
            throttled: Vec::new(),
            now: 0,
            refused: BTreeSet::new(),
        }
    }

    pub fn allocate(&mut self, run: PageRun, space: u16, populated: bool, kind: Kind, advice: Advice) {
        self.allocations.push(run.first.0..run.first.0 + run.count);
        for page in run.iter() {
            let mut new = Page::allocated(populated);
            if populated {
                new.host = self.nearest_with_room().expect("tests have room on the host");
            }
            self.pages.insert(page.0, new);
            self.spaces.insert(page.0, space);
            self.kinds.insert(page.0, kind);
            self.advice.insert(page.0, advice);
            if kind != Kind::Managed {
                continue;
            }
            if let Placement::Interleaved(first) = self.placement(page.0) {
                self.deal(page.0, first);
            }
            if matches!(self.placement(page.0), Placement::Grit(_)) {
                // A group may have been formed around places where no pages were, or noted at one.
                self.groups.sizes.remove(&page.0);
                self.groups.isolate(page.0);
                self.groups.schemes.insert(page.0, Scheme::OnTouch);
            }
        }
        if !kind.moves() {
            self.lay_out(run);
        }
        self.split_reused(run);
        self.work_ahead();
    }

    /// Everything about the pages is forgotten; a group that loses one of its pages is split.
    pub fn free(&mut self, run: PageRun) {
        let thinned = self.free_frames(run);
        self.cut_allocations(run.first.0..run.first.0 + run.count);
        for page in run.iter().map(|page| page.0) {
            assert!(!self.busy(page), "page {page} is freed in the middle of a plan");
            // A group keeps places where pages of another placement were.
            if matches!(self.placement(page), Placement::Grit(_)) {
                self.groups.isolate(page);
            }
            self.pages.remove(&page);
            self.touched.remove(&page);
            self.spaces.remove(&page);
            self.kinds.remove(&page);
            self.advice.remove(&page);
            self.subscriptions.forget(page);
            self.accesses.forget(page);
            self.refused.retain(|(_, refused)| *refused != page);
            self.fights.iter_mut().for_each(|fights| fights.freed(page));
            self.throttled.retain(|(_, pending)| pending.page() != page);
            self.starved.values_mut().for_each(|queue| queue.retain(|pending| pending.page() != page));
            self.groups.schemes.remove(&page);
            self.attributes.forget(page, false);
        }
        self.thin_out(run, &thinned);
        self.retry_starved();
        self.work_ahead();
    }

    /// What remains before and after freed pages becomes allocations of its own.
    fn cut_allocations(&mut self, freed: Range<u32>) {
        let left = |all: &Range<u32>| {
            let [before, behind] = [all.start..all.end.min(freed.start), all.start.max(freed.end)..all.end];
            [before, behind].into_iter().filter(|part| part.start < part.end)
        };
        self.allocations = self.allocations.iter().flat_map(left).collect();
    }

    /// The next GPU in turn is the page's home.
    fn deal(&mut self, page: u32, first: u32) {
        let gpus = self.rules.gpus() as u32;
        let first = if first == 0 { gpus - 1 } else { first - 1 };
        self.homes.insert(page, ProcessorId::gpu(((first + self.turn) % gpus) as usize));
        self.turn += 1;
    }

    pub fn faults(&mut self, faults: &[Fault]) {
        self.serve(faults.iter().copied().map(Pending::new).collect());
        self.work_ahead();
    }

    /// The page an access counter names moves to the GPU that accessed it. Under GRIT too, whatever its scheme is by
    /// now: prediction touches no mapping, so the page may still be mapped as its former scheme left it.
    pub fn counter(&mut self, notification: CounterNotification) {
        self.follow_counter(notification);
        self.work_ahead();
    }

    fn follow_counter(&mut self, notification: CounterNotification) {
        let (to, page) = (notification.processor, notification.page.0);
        let group = page - page % self.rules.big_page();
        let moves_group = self.remote(page).is_some_and(|remote| remote.moves_group);
        let candidates = if moves_group { group..group + self.rules.big_page() } else { page..page + 1 };
        if self.busy(page) || self.pages[&page].holds(to) {
            return;
        }
        let alike = |other: &u32| self.pages.contains_key(other) && self.decider(*other) == self.decider(page);
        let wishes = candidates.filter(alike).map(|page| (page, self.preferred(page, to).unwrap_or(to)));
        let moving: Vec<(u32, ProcessorId)> =
            wishes.filter(|&(page, place)| self.may_move_for_counter(place, page)).collect();
        let flight = self.open_flight();
        for together in moving.chunk_by(|one, next| one.1 == next.1) {
            let pages: Vec<u32> = together.iter().map(|(page, _)| *page).collect();
            let moved = self.move_together(flight, &pages, together[0].1);
            self.counts.migrations += moved;
            self.counts.counter_migrations += moved;
        }
        self.close(flight);
    }

    /// Where advice wants a page that `user` uses, if `user` can map it there: only the host cannot map all.
    pub(super) fn preferred(&self, page: u32, user: ProcessorId) -> Option<ProcessorId> {
        let wanted = self.said(page).preferred.filter(|_| self.is_managed(page)).map(MemoryId::processor);
        wanted.filter(|&place| user != HOST || place == HOST)
    }

    fn may_move_for_counter(&self, to: ProcessorId, page: u32) -> bool {
        let state = &self.pages[&page];
        self.kind(page).moves()
            && self.remote(page).is_some()
            && !self.busy(page)
            && !self.keeps(page)
            && state.populated
            && !state.replicated()
            && state.owner != to
    }

    /// Mapped pages were accessed: those of the own memory, or else of another GPU's that owns them.
    pub fn accessed(&mut self, accesses: &[Accessed]) {
        if !self.rules.sees_accesses && self.rules.eviction != Eviction::LfuBlock {
            return;
        }
        for &Accessed { processor, page: PageId(page), times, .. } in accesses {
            let Some(state) = self.pages.get(&page) else { continue };
            let holder = if state.fills(processor) { processor } else { state.owner };
            if holder != HOST && state.fills(holder) && self.kind(page).moves() {
                self.order(page).accessed(holder, page, times);
            }
        }
    }

    pub fn resize(&mut self, processor: ProcessorId, pages: u32) {
        let gpu = processor.gpu_index().expect("only GPUs have a limit");
        self.rules.capacity[gpu] = pages;
        self.frames.iter_mut().for_each(|frames| frames.enlarge(gpu, pages));
        self.retry_starved();
        self.work_ahead();
    }

    /// The plan that names exactly `pages` was carried out.
    pub fn complete(&mut self, pages: &BTreeSet<u32>) {
        let waiting = self.take_flights(pages).into_iter().flat_map(|flight| flight.waiting).collect();
        self.retry_starved();
        self.serve(waiting);
        self.work_ahead();
    }

    /// The plan failed as a whole: its pages are where they were, and waiting processors will fault again. Faults that
    /// it served are then served one by one.
    pub fn fail(&mut self, pages: &BTreeSet<u32>, served: impl Iterator<Item = (ProcessorId, PageId)>) {
        self.refused.extend(served.map(|(processor, page)| (processor, page.0)));
        for flight in self.take_flights(pages) {
            for page in flight.order.iter().rev() {
                self.restore(*page, flight.before[page].clone());
            }
        }
        self.retry_starved();
        self.work_ahead();
    }

    /// Wherever a page is restored, it was leaving: to make room, or because it moved elsewhere.
    fn restore(&mut self, page: u32, before: Page) {
        let planned = self.pages.insert(page, before.clone()).expect("it is allocated");
        let back = |gpu: &ProcessorId| before.fills(*gpu) && !planned.fills(*gpu);
        ProcessorMask::all_gpus(self.rules.gpus())
            .iter()
            .filter(back)
            .for_each(|gpu| self.order(page).restored(gpu, page));
    }

    /// Evicts what no longer fits, and frees the frames that are kept free.
    pub(super) fn work_ahead(&mut self) {
        self.shrink();
    }

    pub fn busy(&self, page: u32) -> bool {
        self.flights.values().any(|flight| flight.keeps_busy(page))
    }

    /// Frames of `memory` in use, or not free before a plan is done.
    pub fn held(&self, memory: MemoryId) -> u32 {
        self.held_beside(memory, None)
    }

    /// The same without what `flight` itself uses only for a while.
    pub(super) fn held_beside(&self, memory: MemoryId, flight: Option<u64>) -> u32 {
        let numbered = self.frames.as_ref().zip(memory.gpu_index());
        if let Some(filled) = numbered.and_then(|(frames, gpu)| frames.filled(gpu, flight)) {
            return filled;
        }
        let others = self.flights.iter().filter(|(number, _)| Some(**number) != flight);
        self.resident(memory) + others.map(|(_, other)| other.extra(memory)).sum::<u32>()
    }

    /// Frames that were held before `flight`.
    pub(super) fn held_before(&self, memory: MemoryId, flight: u64) -> u32 {
        let net = self.flights[&flight].net(memory);
        (i64::from(self.held_beside(memory, Some(flight))) - net) as u32
    }

    /// Frames of `memory` that pages have, or will have once all plans are done.
    pub(super) fn resident(&self, memory: MemoryId) -> u32 {
        self.pages.values().filter(|page| page.takes(memory)).count() as u32
    }

    pub(super) fn capacity(&self, processor: ProcessorId) -> u32 {
        let Some(gpu) = processor.gpu_index() else { return u32::MAX };
        let foreign = self.frames.as_ref().map_or(0, |frames| frames.foreign(gpu));
        let capacity = self.rules.capacity[gpu];
        if capacity == u32::MAX { capacity } else { capacity.saturating_sub(foreign) }
    }

    /// The strategy that decides where a page moves.
    pub fn placement(&self, page: u32) -> Placement {
        let own = self.rules.second_placement.filter(|_| self.spaces[&page] == 1);
        if self.is_managed(page) { own.unwrap_or(self.rules.placement) } else { self.rules.system }
    }

    /// Which of the placements that is: of managed memory, of that of the second application, or of the operating system's.
    fn decider(&self, page: u32) -> usize {
        match self.is_managed(page) {
            true => usize::from(self.rules.second_placement.is_some() && self.spaces[&page] == 1),
            false => 2,
        }
    }

    fn remote(&self, page: u32) -> Option<Remote> {
        match self.placement(page) {
            Placement::AccessCounter(remote) | Placement::Grit(super::Grit { remote, .. }) => Some(remote),
            _ => None,
        }
    }

    fn take_flights(&mut self, pages: &BTreeSet<u32>) -> Vec<Flight> {
        let named = |flight: &Flight| flight.before.keys().any(|page| pages.contains(page));
        // One that names none is the first of those that name none.
        let own = |flight: &Flight| if pages.is_empty() { flight.before.is_empty() } else { named(flight) };
        let most = if pages.is_empty() { 1 } else { usize::MAX };
        let numbers: Vec<_> =
            self.flights.iter().filter(|(_, flight)| own(flight)).map(|(&n, _)| n).take(most).collect();
        numbers.iter().for_each(|&number| self.frames.iter_mut().for_each(|frames| frames.done(number)));
        let flights: Vec<_> = numbers.iter().filter_map(|number| self.flights.remove(number)).collect();
        let changed: BTreeSet<u32> = flights.iter().flat_map(Flight::pages).collect();
        assert_eq!(&changed, pages, "a plan names other pages than the model's decision changed");
        flights
    }

    pub(super) fn on_host(&self, page: u32) -> bool {
        self.pages[&page].owner == HOST
    }
}
