//! Pages of several sizes: which frame holds each page, which blocks are large pages, and what is compacted. Written
//! from the publication's account and the design page.
//!
//! Each fault ends before the next one begins: the model knows no plans that are refused or that wait for others.

mod choice;
mod emptying;
pub mod rules;
mod store;

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{PageRun, ProcessorId};

use self::choice::{Request, choose, wants_large};
use self::emptying::{Emptying, Moves};
use self::rules::{Allocator, Mosaic, Sizes, Sizing};
use self::store::{Content, Store};
use super::flight::Pending;
use super::model::Model;
use super::page::Page;

/// Counts, under the names of the manager's statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub coalesced: u64,
    pub splintered: u64,
    pub emergency_splinters: u64,
    pub compactions: u64,
    pub pages_compacted: u64,
    pub frames_freed_by_compaction: u64,
    pub faults_on_compaction: u64,
    pub soft_guarantee_broken: u64,
    pub identity_missed: u64,
}

/// The frames of all GPUs.
pub struct Frames {
    rules: Sizes,
    pub counts: Counts,
    gpus: Vec<Store>,
    foreign: Vec<u32>,
    /// Frames that pages left: by which plan, of which GPU.
    left: Vec<(u64, usize, u32)>,
    /// Whether a fault that wants a large frame can wait for one, and the GPU where one did.
    can_wait: bool,
    wanted: Option<ProcessorId>,
}

impl Frames {
    pub fn new(rules: &Sizes, capacity: &[u32], block_pages: u32) -> Self {
        let span = rules.span(block_pages);
        let total = |pages| if rules.allocator == Allocator::Chunks { u32::MAX } else { pages };
        let mut gpus: Vec<Store> = capacity.iter().map(|&pages| Store::new(span, total(pages))).collect();
        let fill = |(gpu, store): (usize, &mut Store)| store.fill(&rules.fragmentation, gpu as u32);
        let foreign = gpus.iter_mut().enumerate().map(fill).collect();
        let (counts, left) = (Counts::default(), Vec::new());
        Self { rules: rules.clone(), counts, gpus, foreign, left, can_wait: false, wanted: None }
    }

    /// The frame of each page of a GPU, and whether the page is part of a large page.
    pub fn places(&self, gpu: usize) -> BTreeMap<u32, (u32, bool)> {
        let store = &self.gpus[gpu];
        let large = |page: u32| store.coalesced(page / store.span).is_some();
        let contents = store.numbers().flat_map(|number| store.contents(number));
        let pages = contents.filter_map(|(frame, content)| match content {
            Content::Page(page) => Some((page, (frame, large(page)))),
            Content::Free | Content::Foreign | Content::Leaving(_) => None,
        });
        pages.collect()
    }

    /// Frames of a GPU that hold foreign data.
    pub fn foreign(&self, gpu: usize) -> u32 {
        self.foreign[gpu]
    }

    /// Frames with pages, or that plans other than this one have yet to give up; nothing where frames are only counted.
    pub fn filled(&self, gpu: usize, but: Option<u64>) -> Option<u32> {
        (self.rules.allocator != Allocator::Chunks).then(|| self.gpus[gpu].filled(but))
    }

    /// A memory is larger than it ever was.
    pub fn enlarge(&mut self, gpu: usize, pages: u32) {
        let store = &mut self.gpus[gpu];
        store.total = store.total.max(pages);
    }

    /// A plan is done.
    pub fn done(&mut self, flight: u64) {
        self.left.retain(|(other, ..)| *other != flight);
        self.gpus.iter_mut().for_each(|store| store.done(flight));
    }

    fn coalesces(&self) -> bool {
        // Blocks of one page are large pages already.
        self.rules.sizing != Sizing::Base && self.gpus[0].span > 1
    }

    fn splinter(&mut self, gpu: usize, block: u32) {
        if let Some(home) = self.gpus[gpu].coalesced(block) {
            self.gpus[gpu].large_mut(home).coalesced = false;
            self.counts.splintered += 1;
        }
    }
}

/// How a GPU sees a page: whether it holds it in a frame and alone decides who writes it, and what it may do.
fn seen(page: &Page, gpu: ProcessorId) -> (bool, bool, bool, bool) {
    let plain = !page.everywhere && !page.broadcast;
    (page.fills(gpu), plain, page.mapped().contains(gpu), page.writable().contains(gpu))
}

impl Model {
    fn gpus(&self) -> impl Iterator<Item = (usize, ProcessorId)> + use<> {
        (0..self.rules.gpus()).map(|gpu| (gpu, ProcessorId::gpu(gpu)))
    }

    /// Does something with the frames, if they have numbers.
    fn with_frames<T: Default>(&mut self, change: impl FnOnce(&mut Self, &mut Frames) -> T) -> T {
        let Some(mut frames) = self.frames.take() else { return T::default() };
        let answer = change(self, &mut frames);
        self.frames = Some(frames);
        answer
    }

    /// A page changed as a part of a plan: large pages that it was part of are split, and it comes to frames or leaves
    /// them.
    pub(super) fn follow(&mut self, flight: u64, page: u32, before: &Page) {
        self.with_frames(|model, frames| {
            let after = &model.pages[&page];
            for (index, gpu) in model.gpus() {
                if seen(before, gpu) != seen(after, gpu) {
                    frames.splinter(index, page / frames.gpus[index].span);
                }
                match (before.fills(gpu), after.fills(gpu)) {
                    (false, true) => model.take_frame(frames, flight, index, page),
                    (true, false) => {
                        let frame = frames.gpus[index].place(page).expect("it has a frame");
                        frames.gpus[index].leave(frame, Some(flight));
                        frames.left.push((flight, index, frame));
                    }
                    _ => {}
                }
            }
        });
    }

    fn take_frame(&self, frames: &mut Frames, flight: u64, gpu: usize, page: u32) {
        frames.gpus[gpu].make_empty();
        let taken = self.taken(frames, flight, gpu);
        let request = self.request(frames, flight, gpu, page, &taken);
        let (store, whole) = (&frames.gpus[gpu], request.whole);
        let frame = choose(frames.rules.allocator, store, &request);
        let large = store.large(frame / store.span).clone();
        if let Some(block) = large.home.filter(|_| large.coalesced) {
            frames.splinter(gpu, block);
            frames.counts.emergency_splinters += 1;
        }
        let space = self.spaces[&page];
        let apart = matches!(large.holder, store::Holder::Nobody) || large.holder == store::Holder::Space(space);
        let store = &mut frames.gpus[gpu];
        store.put(page, space, frame, whole);
        if matches!(frames.rules.allocator, Allocator::Cocoa(_)) {
            frames.counts.soft_guarantee_broken += u64::from(!apart);
            frames.counts.identity_missed += u64::from(whole && !store.in_own_place(page));
        }
    }

    fn taken(&self, frames: &Frames, flight: u64, gpu: usize) -> Vec<u32> {
        let own = frames.left.iter().filter(|(other, place, _)| (*other, *place) == (flight, gpu));
        own.map(|(.., frame)| *frame).collect()
    }

    fn request<'a>(&self, frames: &Frames, flight: u64, gpu: usize, page: u32, taken: &'a [u32]) -> Request<'a> {
        let (store, space) = (&frames.gpus[gpu], self.spaces[&page]);
        let whole = frames.rules.allocator == Allocator::Chunks || self.of_one_space(page / store.span, store.span);
        let may_take = self.spare(frames, gpu) > 0;
        Request { page, space, whole, may_take, flight, taken }
    }

    /// Frames that can be had.
    fn spare(&self, frames: &Frames, gpu: usize) -> u32 {
        let capacity = self.rules.capacity[gpu].saturating_sub(frames.foreign[gpu]);
        capacity.saturating_sub(frames.gpus[gpu].filled(None))
    }

    /// Whether all of a block is allocated, to one application.
    fn of_one_space(&self, block: u32, span: u32) -> bool {
        let whose = |page: u32| self.spaces.get(&page);
        let first = whose(block * span);
        first.is_some() && (block * span..(block + 1) * span).all(|page| whose(page) == first)
    }

    /// A plan is whole: blocks that are in order on a GPU, and of which it changed something, become large pages.
    pub(super) fn coalesce(&mut self, flight: u64) {
        self.with_frames(|model, frames| {
            let changed = model.flights[&flight].pages();
            let coalesces = frames.coalesces();
            for (index, gpu) in model.gpus().filter(|_| coalesces) {
                let here = changed.iter().filter(|page| model.pages[*page].holds(gpu));
                let blocks: BTreeSet<u32> = here.map(|page| page / frames.gpus[index].span).collect();
                for block in blocks {
                    if model.in_order(frames, index, block) {
                        model.make_large(frames, flight, index, block);
                    }
                }
            }
        });
    }

    fn make_large(&mut self, frames: &mut Frames, flight: u64, gpu: usize, block: u32) {
        let store = &mut frames.gpus[gpu];
        let (home, span) = (store.home(block).expect("it is in order"), store.span);
        store.large_mut(home).coalesced = true;
        frames.counts.coalesced += 1;
        for page in block * span..(block + 1) * span {
            assert!(!self.busy_elsewhere(flight, page), "one thing after another");
            let state = self.pages[&page].clone();
            self.flight(flight).changes(page, state);
        }
    }

    /// Whether all pages of a block lie in their own places of one large frame and are mapped alike, and it is no large
    /// page yet.
    fn in_order(&self, frames: &Frames, gpu: usize, block: u32) -> bool {
        let store = &frames.gpus[gpu];
        let Some(home) = store.home(block) else { return false };
        let rights = |page: u32| seen(&self.pages[&page], ProcessorId::gpu(gpu));
        let mut pages = block * store.span..(block + 1) * store.span;
        let alike =
            |page: u32| matches!(rights(page), (true, true, true, _)) && rights(page) == rights(block * store.span);
        store.matching(home) == store.span
            && !store.large(home).coalesced
            && self.of_one_space(block, store.span)
            && pages.all(alike)
    }

    /// Whether the fault that is served now may wait for a large frame.
    pub(super) fn let_wait(&mut self, may: bool) {
        self.frames.iter_mut().for_each(|frames| (frames.can_wait, frames.wanted) = (may, None));
    }

    /// Where that fault wanted a large frame, if it did. Nothing else waits for a large frame.
    pub(super) fn wanted_large_frame(&mut self) -> Option<ProcessorId> {
        self.with_frames(|_, frames| {
            frames.can_wait = false;
            frames.wanted.take()
        })
    }

    /// Whether a fault shall wait for a large frame before its page comes to this GPU.
    pub(super) fn waits_for_large_frame(&mut self, flight: u64, gpu: ProcessorId, page: u32) -> bool {
        self.with_frames(|model, frames| {
            let Some(index) = gpu.gpu_index().filter(|_| frames.can_wait && frames.rules.compacts()) else {
                return false;
            };
            frames.gpus[index].make_empty();
            let taken = model.taken(frames, flight, index);
            let request = model.request(frames, flight, index, page, &taken);
            let wants = wants_large(frames.rules.allocator, &frames.gpus[index], &request);
            frames.wanted = wants.then_some(gpu);
            wants
        })
    }

    /// The fault waits until a large frame was emptied for it. If none can be, the answer is the fault.
    pub(super) fn wait_for_compaction(&mut self, gpu: ProcessorId, pending: Pending) -> Option<Pending> {
        let index = gpu.gpu_index().expect("the host's frames have no numbers");
        let moves = self.with_frames(|model, frames| model.emptying(frames, index, |emptying| emptying.emptiest()));
        let Some(moves) = moves else { return Some(pending) };
        let flight = self.open_flight();
        self.with_frames(|model, frames| {
            model.compact(frames, flight, index, &moves);
            frames.counts.faults_on_compaction += 1;
        });
        self.coalesce(flight);
        self.flight(flight).waiting.push(pending);
        None
    }

    fn emptying(&self, frames: &Frames, gpu: usize, ask: impl Fn(&Emptying<'_>) -> Option<Moves>) -> Option<Moves> {
        let plain = |page: &u32| !self.pages[page].everywhere && !self.pages[page].broadcast;
        let movable = |page| !self.busy(page) && plain(&page);
        let (store, channels, spare) = (&frames.gpus[gpu], frames.rules.channels(), self.spare(frames, gpu));
        ask(&Emptying { store, channels, spare, movable: &movable })
    }

    /// Moves the contents of frames to others; pages that are mapped are busy until that is done.
    fn compact(&mut self, frames: &mut Frames, flight: u64, gpu: usize, moves: &Moves) {
        for &(from, to) in moves {
            let store = &mut frames.gpus[gpu];
            let content = store.content(from);
            store.leave(from, Some(flight));
            let Content::Page(page) = content else {
                store.put_foreign(to);
                continue;
            };
            store.put(page, self.spaces[&page], to, false);
            let state = self.pages[&page].clone();
            let own = ProcessorId::gpu(gpu);
            let through = state.mappings.values().any(|(target, _)| *target == own);
            match through {
                true => self.flight(flight).changes(page, state),
                false => _ = self.flight(flight).held.insert(page),
            }
        }
        frames.counts.compactions += 1;
        frames.counts.pages_compacted += moves.len() as u64;
        frames.counts.frames_freed_by_compaction += 1;
    }

    /// New pages in blocks that were large pages: these are split, and the pages are busy until that is done.
    pub(super) fn split_reused(&mut self, run: PageRun) {
        self.with_frames(|model, frames| {
            let before = frames.counts.splintered;
            for (gpu, block) in blocks_of(frames, run) {
                frames.splinter(gpu, block);
            }
            if frames.counts.splintered > before {
                let flight = model.open_flight();
                model.flight(flight).held.extend(run.iter().map(|page| page.0));
            }
        });
    }

    /// Large pages that pages are part of which are about to be freed, and the frames of these pages become free.
    pub(super) fn free_frames(&mut self, run: PageRun) -> Vec<(usize, u32)> {
        self.with_frames(|_, frames| {
            let large = |&(gpu, block): &(usize, u32)| frames.gpus[gpu].coalesced(block).is_some();
            let thinned = blocks_of(frames, run).into_iter().filter(large).collect();
            for page in run.iter().map(|page| page.0) {
                for store in &mut frames.gpus {
                    store.place(page).into_iter().for_each(|frame| store.leave(frame, None));
                }
            }
            thinned
        })
    }

    /// The remaining part of a large page stays one, or is split and moves elsewhere. Other blocks that lost pages lose
    /// their claim to a large frame.
    pub(super) fn thin_out(&mut self, run: PageRun, thinned: &[(usize, u32)]) {
        self.with_frames(|model, frames| {
            thinned.iter().for_each(|&(gpu, block)| model.thin_out_one(frames, gpu, block));
            for (gpu, block) in blocks_of(frames, run) {
                let home = frames.gpus[gpu].home(block).filter(|&home| !frames.gpus[gpu].large(home).coalesced);
                home.into_iter().for_each(|home| frames.gpus[gpu].large_mut(home).home = None);
            }
        });
    }

    fn thin_out_one(&mut self, frames: &mut Frames, gpu: usize, block: u32) {
        let home = frames.gpus[gpu].coalesced(block);
        let left = home.map_or(0, |home| frames.gpus[gpu].matching(home));
        let (threshold, compacts) = match frames.rules.sizing {
            Sizing::Mosaic(Mosaic { threshold, compaction, .. }) => (threshold, compaction.is_some()),
            Sizing::Base | Sizing::WholeBlocks => (0, false),
        };
        if left > 0 && (left >= threshold || !compacts) {
            return;
        }
        let flight = self.open_flight();
        match home {
            Some(_) => frames.splinter(gpu, block),
            None => frames.counts.splintered += 1,
        }
        let Some(home) = home.filter(|_| compacts) else { return };
        if let Some(moves) = self.emptying(frames, gpu, |emptying| emptying.of(home)) {
            self.compact(frames, flight, gpu, &moves);
        }
    }
}

/// The blocks that pages are part of, on each GPU.
fn blocks_of(frames: &Frames, run: PageRun) -> Vec<(usize, u32)> {
    let span = frames.gpus[0].span;
    let blocks = run.first.0 / span..=(run.first.0 + run.count - 1) / span;
    (0..frames.gpus.len()).flat_map(|gpu| blocks.clone().map(move |block| (gpu, block))).collect()
}
