//! `stock-driver`: how the production driver detects thrashing and reacts to it.
//!
//! A page that moves `threshold` times, each time within the lapse of the time before, is fought over. If all competing
//! processors reach its owner by fast links, it is pinned there at once. Otherwise one processor at a time is favoured
//! and gets the page, and the others' faults wait for the nap; after `pin_threshold` such waits the page is pinned with
//! the favoured one. All competing processors map a pinned page where it is; it is unpinned after a time: then remote
//! mappings are removed, and the knowledge about it is forgotten.
//!
//! Differences from the driver. A fault that is throttled waits in the manager until its period ends; there, GPUs fault
//! again with each replay until then. Mappings that can write can
//! do atomics here. So no processor ever loses only its right to atomics, and the driver's second kind of event,
//! revocation, does not exist. Counters do not move a page that is fought over; there, one that is favoured can.

mod choose;
mod lapse;
mod options;
mod page;

use std::collections::BTreeSet;

use octavo_registry::{Entry, typed};
use octavo_units::Time;

use self::choose::{Choice, Situation};
use self::lapse::Lapse;
use self::options::Options;
use self::page::{Fight, Moved, Pin};
use super::contract::kept;
use super::{Hint, ThrashingGuard};
use crate::contract::block::BlockMap;
use crate::contract::counts::NamedCounts;
use crate::contract::event::Fault;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId, PageRun, ProcessorId};
use crate::contract::page::PageView;
use crate::strategies::context::Context;

/// How long the unpinning of a page that is in an unfinished plan waits: the granularity of the driver's timer, 20 us
/// (`uvm_perf_thrashing.c`: `TIMER_GRANULARITY_NS`).
const TIMER_GRANULARITY: Time = Time(20_000_000);

pub(super) static ENTRY: Entry<Box<dyn ThrashingGuard>, Geometry> = Entry {
    name: "stock-driver",
    summary: "throttles processors that fight over a page, and pins it",
    source: "nvidia-uvm 595.45.04, uvm_perf_thrashing.c",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options: Options = typed::parse(options)?;
        options.check()?;
        Ok(Box::new(StockDriver { options, block_pages: geometry.block_pages(), ..StockDriver::default() }))
    },
};

/// The knowledge about a block of 2 MiB in which pages moved.
#[derive(Default)]
struct Block {
    /// The latest move in it.
    last: Option<(Time, ProcessorId)>,
    /// Its pages, from when two processors moved some within the lapse.
    pages: Vec<Fight>,
    /// The time when processors last competed for one of them.
    last_fight: Option<Time>,
    resets: u8,
    ever_pinned: bool,
}

#[derive(Default)]
struct Counts {
    thrashing: u64,
    throttled: u64,
    pinned: u64,
    unpinned: u64,
}

#[derive(Default)]
struct StockDriver {
    options: Options,
    block_pages: u32,
    blocks: Vec<Option<Box<Block>>>,
    /// By address space.
    lapses: Vec<Lapse>,
    /// Pinned pages by when they are unpinned.
    pinned: BTreeSet<(Time, PageId)>,
    counts: Counts,
}

impl ThrashingGuard for StockDriver {
    fn on_fault(&mut self, fault: &Fault, page: &PageView, context: &mut Context<'_>) -> Hint {
        let (now, requester, lapse) = (context.now(), fault.processor, self.lapse(page).time);
        if self.is_forgotten(fault.page, now) {
            return Hint::Pass;
        }
        let Options { threshold, nap, pin_threshold, fast_links: links, .. } = self.options;
        let Some(fight) = self.fight(fault.page).filter(|fight| fight.events >= threshold) else { return Hint::Pass };
        if fight.throttled().contains(requester) {
            if let Some(until) = fight.calm_until.filter(|&until| now < until && fight.favoured != Some(requester)) {
                return Hint::Throttle(wakes(now, until, requester));
            }
            fight.release(requester);
        }
        if fight.pin.is_none() && fight.last().is_some_and(|last| now - last > lapse) {
            return Hint::Pass;
        }
        fight.takes_part(requester);
        fight.choose_favoured(now, requester, nap);
        let preferred = context.advice(fault.page).preferred;
        let situation = Situation { requester, owner: page.owner, preferred, fight, pin_threshold, links, context };
        match situation.choose() {
            Choice::Pass => Hint::Pass,
            Choice::Throttle => self.throttle(fault, now),
            Choice::Pin(at) => self.pin(fault, page, at, now),
        }
    }

    fn moved(&mut self, pages: PageRun, to: MemoryId, context: &mut Context<'_>) {
        let (now, to) = (context.now(), to.processor());
        let view = context.page(pages.first);
        if pages.iter().all(|page| self.fight(page).is_some_and(|fight| fight.pin.is_some())) {
            return;
        }
        let (adapts, threshold) = (self.options.adaptive_lapse, self.options.threshold);
        let lapse = self.lapse(&view).time;
        let last = self.block(pages.first).last.replace((now, to));
        if let Some((last, _)) = last.filter(|_| adapts) {
            self.lapse(&view).adapt(now - last);
        }
        let count = self.block_pages as usize;
        let block = self.block(pages.first);
        if block.pages.is_empty() {
            if last.is_none_or(|(last, who)| who == to || now - last > lapse) {
                return;
            }
            block.pages.resize(count, Fight::default());
        }
        for page in pages.iter() {
            let Some(fight) = self.fight(page) else { continue };
            let moved = fight.moved(now, to, lapse, threshold);
            let fought_over = fight.events >= threshold;
            match moved {
                Moved::Over => self.forget(page),
                Moved::Begins | Moved::Nothing if fought_over => self.block(page).last_fight = Some(now),
                Moved::Begins | Moved::Nothing => {}
            }
            self.counts.thrashing += u64::from(moved == Moved::Begins);
        }
    }

    fn overruled(&mut self, pages: PageRun) {
        let fought_over: Vec<PageId> = pages.iter().filter(|&page| self.keeps(page)).collect();
        fought_over.into_iter().for_each(|page| self.forget(page));
    }

    fn freed(&mut self, pages: PageRun) {
        self.overruled(pages);
        for page in pages.iter() {
            if let Some(fight) = self.fight(page) {
                *fight = Fight::default();
            }
        }
    }

    fn keeps(&self, page: PageId) -> bool {
        let fight = self.fights(page).get((page.0 % self.block_pages) as usize);
        fight.is_some_and(|fight| fight.events >= self.options.threshold)
    }

    fn contested(&self, block: PageId, pages: PageRun) -> BlockMap {
        if self.fights(block).is_empty() { BlockMap::EMPTY } else { kept(self, block, pages) }
    }

    fn deadline(&self) -> Option<Time> {
        self.pinned.first().map(|(until, _)| *until)
    }

    fn on_deadline(&mut self, context: &mut Context<'_>, unpinned: &mut Vec<PageId>) {
        let now = context.now();
        while let Some((_, page)) = self.pinned.first().copied().filter(|(until, _)| *until <= now) {
            if context.page(page).busy {
                self.pin_until(page, Some(now + TIMER_GRANULARITY));
            } else {
                self.forget(page);
                unpinned.push(page);
                self.counts.unpinned += 1;
            }
        }
    }

    fn counters(&self) -> NamedCounts {
        let Counts { thrashing, throttled, pinned, unpinned } = self.counts;
        let fights = NamedCounts::default().with("thrashing_pages", thrashing).with("throttled_faults", throttled);
        fights.with("pinned_pages", pinned).with("unpinned_pages", unpinned)
    }

    fn bytes(&self) -> usize {
        let fights =
            self.blocks.iter().flatten().map(|block| size_of::<Block>() + block.pages.capacity() * size_of::<Fight>());
        fights.sum::<usize>() + self.blocks.capacity() * size_of::<usize>()
    }
}

/// When a throttled processor tries again: a GPU at the end of the period, a thread of the host later.
///
/// The driver lets the thread sleep between the rest of the period and half as much again (`uvm_va_space.c`:
/// `usleep_range`). Linux wakes it at the end of that unless another timer comes before: on an H100's host the whole nap
/// of 500 us took 758 us.
fn wakes(now: Time, until: Time, processor: ProcessorId) -> Time {
    if processor.gpu_index().is_some() { until } else { until + Time((until - now).0 / 2) }
}

impl StockDriver {
    /// The faulting processor waits until the period ends.
    fn throttle(&mut self, fault: &Fault, now: Time) -> Hint {
        let Some(fight) = self.fight(fault.page) else { return Hint::Pass };
        let Some(until) = fight.calm_until else { return Hint::Pass };
        if !fight.throttled().contains(fault.processor) {
            fight.throttled = fight.throttled().with(fault.processor).into();
            if fight.pin.is_none() {
                fight.throttles = fight.throttles.saturating_add(1);
            }
            self.counts.throttled += 1;
        }
        Hint::Throttle(wakes(now, until, fault.processor))
    }

    /// The page is pinned there, or stays pinned. Faults that wait for it are woken when it moves for that.
    fn pin(&mut self, fault: &Fault, page: &PageView, at: MemoryId, now: Time) -> Hint {
        let until = Some(now + self.options.pin).filter(|_| self.options.pin > Time::ZERO);
        let Some(fight) = self.fight(fault.page) else { return Hint::Pass };
        let mappers = fight.fighters();
        if fight.pin.is_none() || page.owner != at {
            fight.release_all();
        }
        match &mut fight.pin {
            Some(pin) => pin.at = at,
            None => {
                (fight.pin, fight.throttles) = (Some(Pin { at, until }), 0);
                self.pinned.extend(until.map(|until| (until, fault.page)));
                self.block(fault.page).ever_pinned = true;
                self.counts.pinned += 1;
            }
        }
        Hint::Pin { at, mappers }
    }

    /// Whether a block that has been quiet for an epoch is forgotten now.
    fn is_forgotten(&mut self, page: PageId, now: Time) -> bool {
        let Options { epoch, max_resets, .. } = self.options;
        let index = (page.0 / self.block_pages) as usize;
        let Some(block) = self.blocks.get_mut(index).and_then(Option::as_mut) else { return false };
        let quiet = block.last_fight.is_some_and(|last| now - last > epoch);
        let forgotten = quiet && !block.ever_pinned && block.resets < max_resets;
        if forgotten {
            **block = Block { resets: block.resets + 1, ..Block::default() };
        }
        forgotten
    }

    /// The page no longer thrashes, and it is not pinned.
    fn forget(&mut self, page: PageId) {
        self.pin_until(page, None);
        if let Some(fight) = self.fight(page) {
            fight.forget();
        }
    }

    /// The time when the page is unpinned, if it is pinned; never if there is none.
    fn pin_until(&mut self, page: PageId, later: Option<Time>) {
        let Some(pin) = self.fight(page).and_then(|fight| fight.pin.as_mut()) else { return };
        if let Some(before) = std::mem::replace(&mut pin.until, later) {
            self.pinned.remove(&(before, page));
        }
        self.pinned.extend(later.map(|later| (later, page)));
    }

    fn lapse(&mut self, page: &PageView) -> &mut Lapse {
        let space = usize::from(page.space.0);
        if space >= self.lapses.len() {
            self.lapses.resize(space + 1, Lapse::new(self.options.lapse));
        }
        &mut self.lapses[space]
    }

    fn block(&mut self, page: PageId) -> &mut Block {
        let index = (page.0 / self.block_pages) as usize;
        if index >= self.blocks.len() {
            self.blocks.resize_with(index + 1, || None);
        }
        self.blocks[index].get_or_insert_default()
    }

    /// The knowledge about each page of a page's block; empty without competition in it.
    fn fights(&self, page: PageId) -> &[Fight] {
        let block = self.blocks.get((page.0 / self.block_pages) as usize).and_then(Option::as_ref);
        block.map_or(&[], |block| &block.pages)
    }

    /// The knowledge about a page, if processors competed for anything in its block.
    fn fight(&mut self, page: PageId) -> Option<&mut Fight> {
        let (block, index) = ((page.0 / self.block_pages) as usize, (page.0 % self.block_pages) as usize);
        self.blocks.get_mut(block)?.as_mut()?.pages.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::Access;
    use crate::contract::masks::ProcessorMask;

    /// The page of [`PageView::on_a_gpu_alone`].
    const PAGE: PageId = PageId(5);

    fn driver(options: Options) -> StockDriver {
        StockDriver { options, block_pages: 512, ..StockDriver::default() }
    }

    #[test]
    fn nobody_waits_any_more_when_the_page_is_pinned_or_moves() {
        for (pinned, from, to, waits) in [(false, 0, 0, 0), (false, 0, 1, 0), (true, 0, 0, 1), (true, 0, 1, 0)] {
            let mut driver = driver(Options::default());
            let pin = pinned.then_some(Pin { at: MemoryId::gpu(from), until: None });
            let throttled = ProcessorMask::only(ProcessorId::gpu(1)).into();
            driver.block(PAGE).pages.resize(512, Fight { pin, throttled, ..Fight::default() });
            let fault = Fault { processor: ProcessorId::gpu(0), page: PAGE, access: Access::Write };
            driver.pin(&fault, &PageView::on_a_gpu_alone(from), MemoryId::gpu(to), Time(1));
            let waiting = driver.fight(PAGE).unwrap().throttled().len();
            assert_eq!(waiting, waits, "pinned before: {pinned}, from GPU {from} to GPU {to}");
        }
    }

    #[test]
    fn a_block_is_forgotten_when_an_epoch_is_over_and_only_so_often() {
        let mut driver = driver(Options { epoch: Time(1000), max_resets: 2, ..Options::default() });
        let mut forgotten = |last, now| {
            driver.block(PAGE).last_fight = Some(Time(last));
            driver.is_forgotten(PAGE, Time(now))
        };
        assert!(!forgotten(900, 1900), "the epoch ends now");
        assert!(forgotten(900, 1901));
        assert!(forgotten(2000, 3001), "the second time");
        assert!(!forgotten(4000, 9000), "no third time");
    }
}
