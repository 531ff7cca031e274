//! Memory of all kinds, and what programs say: memory that stays, memory that only follows touches, advice, prefetches.

use octavo_manager::{Advice, HOST, Kind, MemoryId, PageId, PageRun, ProcessorId, ProcessorMask};

use super::decide::{Action, Verdict};
use super::flight::Pending;
use super::guard::Told;
use super::model::Model;

impl Model {
    pub(super) fn kind(&self, page: u32) -> Kind {
        self.kinds[&page]
    }

    /// Whether a page is moved by what a memory system does, not by touches alone.
    pub(super) fn is_managed(&self, page: u32) -> bool {
        self.kinds.get(&page) == Some(&Kind::Managed)
    }

    pub(super) fn said(&self, page: u32) -> Advice {
        self.advice.get(&page).copied().unwrap_or_default()
    }

    /// Device memory is dealt out to the GPUs in turn, page by page, and pinned memory fills the host's memories. All
    /// GPUs map it, and the host maps the part that it owns. Tests have room for it.
    pub(super) fn lay_out(&mut self, run: PageRun) {
        let (gpus, flight) = (self.rules.gpus(), self.open_flight());
        for page in run.iter().map(|page| page.0) {
            let home = if self.kind(page) == Kind::Pinned {
                HOST
            } else {
                self.laid_out += 1;
                ProcessorId::gpu((self.laid_out - 1) as usize % gpus)
            };
            let laid = self.change(flight, page, |state| {
                state.move_to(home);
                state.mappings.clear();
                ProcessorMask::all_gpus(gpus).with(home).iter().for_each(|gpu| state.map(gpu));
            });
            assert!(laid, "tests have room for memory that stays");
            self.counts.populated += 1;
        }
        self.close(flight);
    }

    /// What advice decides about a fault, if anything: a reader of a read-mostly page gets a replica, a processor
    /// advised as an accessor gets a mapping, and any other page goes to its preferred memory if the processor can map
    /// that.
    pub(super) fn advised(&self, pending: &Pending) -> Option<Verdict> {
        let (advice, toucher) = (self.said(pending.page()), pending.fault.processor);
        let state = &self.pages[&pending.page()];
        let reaches = |owner: ProcessorId| toucher != HOST || owner == HOST;
        let preferred = advice.preferred.map(MemoryId::processor);
        if advice.read_mostly {
            return Some(if pending.writes() { Verdict::Migrate } else { Verdict::Replicate });
        }
        if preferred == Some(toucher) {
            return Some(Verdict::Migrate);
        }
        if state.populated && advice.accessed_by.contains(toucher) && reaches(state.owner) {
            return Some(Verdict::Map);
        }
        let there = state.populated.then_some(state.owner);
        preferred.filter(|&place| reaches(place) && there != Some(toucher)).map(Verdict::To)
    }

    /// Advised accessors map a page that has come to one place, if they can; but not who should have it and has it not.
    pub(super) fn map_accessors(&mut self, flight: u64, page: u32) {
        let (advice, state) = (self.said(page), &self.pages[&page]);
        if !state.populated || state.replicated() || state.everywhere {
            return;
        }
        let owner = state.owner;
        let away = advice.preferred.map(MemoryId::processor).filter(|&preferred| preferred != owner);
        let able = |&toucher: &ProcessorId| (toucher != HOST || owner == HOST) && Some(toucher) != away;
        let new = |toucher: &ProcessorId| !state.mapped().contains(*toucher);
        let mappers: Vec<ProcessorId> = advice.accessed_by.iter().filter(able).filter(new).collect();
        if mappers.is_empty() {
            return;
        }
        self.counts.remote_maps += mappers.iter().filter(|&&toucher| toucher != owner).count() as u64;
        self.change(flight, page, |state| mappers.iter().for_each(|&toucher| state.map_beside(toucher)));
    }

    /// A program says how it uses pages.
    pub fn advise(&mut self, run: PageRun, advice: Advice) {
        let flight = self.open_flight();
        for page in run.iter().map(|page| page.0) {
            self.advice.insert(page, advice);
            if !self.busy_elsewhere(flight, page) {
                self.map_accessors(flight, page);
            }
        }
        self.close(flight);
        self.work_ahead();
    }

    /// A program wants pages in a memory: block by block, every page that can come does, and read-mostly pages are
    /// replicated.
    pub fn bring_ahead(&mut self, run: PageRun, to: MemoryId) {
        let to = to.processor();
        let mut pages: Vec<u32> = run.iter().map(|page| page.0).collect();
        while let Some(&first) = pages.first() {
            let block = first / self.rules.block_pages();
            let (own, rest): (Vec<u32>, Vec<u32>) =
                pages.into_iter().partition(|page| page / self.rules.block_pages() == block);
            pages = rest;
            self.bring_block(&own, to);
        }
        self.work_ahead();
    }

    fn bring_block(&mut self, pages: &[u32], to: ProcessorId) {
        let copied = |page: &&u32| self.pages[*page].populated && self.said(**page).read_mostly;
        let (read, moved): (Vec<&u32>, Vec<&u32>) = pages.iter().partition(copied);
        let comes = |page: &u32| {
            let state = &self.pages[page];
            !state.replicated() && !state.everywhere && !state.holds(to) && !self.busy(*page)
        };
        let moved: Vec<u32> =
            moved.into_iter().copied().filter(|page| self.kind(*page).moves() && comes(page)).collect();
        let read: Vec<u32> = read.into_iter().copied().collect();
        let flight = self.open_flight();
        self.counts.prefetched += self.move_together(flight, &moved, to);
        for page in read {
            if !self.busy(page) && !self.pages[&page].holds(to) {
                let fault =
                    octavo_manager::Fault { processor: to, page: PageId(page), access: octavo_manager::Access::Read };
                let wish = Pending::new(fault);
                let action = self.action(Verdict::Replicate, &wish);
                self.act(flight, wish, action);
            }
        }
        for told in &mut self.flight(flight).told {
            let (Told::Moved(pages, _) | Told::Overruled(pages)) = told;
            *told = Told::Overruled(std::mem::take(pages));
        }
        self.close(flight);
    }

    pub(super) fn busy_elsewhere(&self, flight: u64, page: u32) -> bool {
        self.flights.iter().any(|(&number, other)| number != flight && other.keeps_busy(page))
    }
}

/// Whether memory of a kind ever moves.
pub(super) trait Moves {
    fn moves(self) -> bool;
}

impl Moves for Kind {
    fn moves(self) -> bool {
        matches!(self, Kind::Managed | Kind::System)
    }
}

/// Whether an action brings a page to a place of its own, where those map it who were said to access it.
pub(super) fn settles(action: Action) -> bool {
    matches!(action, Action::Migrate | Action::Populate(_) | Action::MoveTo(_))
}
