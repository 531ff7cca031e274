//! Invariants of frames and large pages after any decision, from the manager's view of every page. Slow and obvious:
//! everything is looked at after everything that happens.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{Manager, Mode, PageId, Plan, ProcessorId, Step};

/// A memory system whose frames have numbers.
pub struct FrameLaws {
    gpus: usize,
    /// Base pages of a large frame.
    pub span: u32,
    /// Whether pages of different spaces are kept apart.
    separates: bool,
    /// Whether base pages become large pages.
    coalesces: bool,
    /// Base frames that each memory had at most.
    total: Vec<u32>,
    /// The frame of each page when it was last looked at.
    known: BTreeMap<(ProcessorId, PageId), u32>,
    /// Pages that plans brought or moved since then.
    moved: BTreeSet<(ProcessorId, PageId)>,
    /// Memories that plans compacted since then: unmapped pages there have no step of their own.
    compacted: BTreeSet<ProcessorId>,
    /// Pages that compaction put where they are: their blocks are in order by chance, if at all.
    scattered: BTreeSet<(ProcessorId, PageId)>,
}

impl FrameLaws {
    pub fn new(span: u32, separates: bool, coalesces: bool, total: &[u32]) -> Self {
        Self {
            gpus: total.len(),
            span,
            separates,
            coalesces,
            total: total.to_vec(),
            known: BTreeMap::new(),
            moved: BTreeSet::new(),
            compacted: BTreeSet::new(),
            scattered: BTreeSet::new(),
        }
    }

    pub fn enlarge(&mut self, gpu: usize, pages: u32) {
        self.total[gpu] = self.total[gpu].max(pages);
    }

    /// A plan was made, or was refused.
    pub fn note(&mut self, plan: &Plan) {
        let compacted = plan.steps.iter().find_map(|step| match step {
            Step::Compact { processor, .. } => Some(*processor),
            _ => None,
        });
        self.compacted.extend(compacted);
        for step in &plan.steps {
            match *step {
                Step::Copy { pages, from, to, .. } => {
                    self.moved.extend(pages.iter().flat_map(|page| [(from.processor(), page), (to.processor(), page)]));
                }
                Step::Populate { memory, pages, .. } | Step::Release { memory, pages } => {
                    self.moved.extend(pages.iter().map(|page| (memory.processor(), page)))
                }
                Step::Invalidate { pages, .. } | Step::Map { pages, .. } => {
                    self.moved.extend(compacted.iter().flat_map(|&gpu| pages.iter().map(move |page| (gpu, page))));
                }
                _ => {}
            }
        }
    }

    /// Compares all `pages` and their owners; `quiet` if no plan is unfinished.
    pub fn check(&mut self, manager: &Manager, pages: &BTreeMap<PageId, u16>, quiet: bool) {
        let before = std::mem::take(&mut self.known);
        let (moved, compacted) = (std::mem::take(&mut self.moved), std::mem::take(&mut self.compacted));
        for gpu in (0..self.gpus).map(ProcessorId::gpu) {
            let held = self.frames(manager, gpu, pages);
            for (&frame, &page) in &held {
                let old = before.get(&(gpu, page));
                let stayed = old.is_none_or(|&old| old == frame);
                if !stayed && compacted.contains(&gpu) {
                    self.scattered.insert((gpu, page));
                } else if !stayed || old.is_none() {
                    self.scattered.remove(&(gpu, page));
                }
                let unmapped = compacted.contains(&gpu) && !manager.page(page).mapped.contains(gpu);
                assert!(
                    stayed || unmapped || moved.contains(&(gpu, page)),
                    "page {} moved on {gpu} without a step",
                    page.0
                );
                self.known.insert((gpu, page), frame);
            }
            self.check_spaces(manager, &held, pages);
            self.check_large_pages(manager, gpu, pages, quiet);
        }
    }

    /// Pages by frame: each page that takes up room has a frame, and no frame has two pages.
    fn frames(&self, manager: &Manager, gpu: ProcessorId, pages: &BTreeMap<PageId, u16>) -> BTreeMap<u32, PageId> {
        let mut held = BTreeMap::new();
        for &page in pages.keys() {
            let view = manager.page(page);
            let frame = manager.frame(gpu.memory(), page);
            let takes_room = view.resident.near(gpu) && view.mode != Mode::Everywhere;
            assert_eq!(frame.is_some(), takes_room, "the frame of page {} on {gpu}", page.0);
            let Some(frame) = frame else { continue };
            assert!(frame < self.total[gpu.gpu_index().unwrap()], "frame {frame} of {gpu} is not there");
            assert!(held.insert(frame, page).is_none(), "frame {frame} of {gpu} holds two pages");
        }
        held
    }

    /// The soft guarantee: large frames hold pages of one space, unless it is said that they do not.
    fn check_spaces(&self, manager: &Manager, held: &BTreeMap<u32, PageId>, pages: &BTreeMap<PageId, u16>) {
        if !self.separates || manager.statistics().named("soft_guarantee_broken").unwrap() > 0 {
            return;
        }
        let mut owners: BTreeMap<u32, u16> = BTreeMap::new();
        for (frame, &page) in held {
            let owner = *owners.entry(frame / self.span).or_insert(pages[&page]);
            assert_eq!(owner, pages[&page], "large frame {} holds pages of two spaces", frame / self.span);
        }
    }

    /// A block is a large page exactly if all its pages came to their places in one large frame and are mapped alike;
    /// one that lost pages because they were freed may stay one, and none comes about by compaction.
    fn check_large_pages(&self, manager: &Manager, gpu: ProcessorId, pages: &BTreeMap<PageId, u16>, quiet: bool) {
        let blocks: BTreeSet<u32> = pages.keys().map(|page| page.0 / self.span).collect();
        for block in blocks {
            let all = (block * self.span..(block + 1) * self.span).map(PageId);
            let allocated: Vec<PageId> = all.filter(|page| pages.contains_key(page)).collect();
            let large = allocated.iter().filter(|&&page| manager.coalesced(gpu, page)).count();
            assert!(large == 0 || large == allocated.len(), "block {block} is half a large page on {gpu}");
            let uniform = self.uniform(manager, gpu, &allocated);
            assert!(large == 0 || uniform, "block {block} is a large page on {gpu}, but not in order");
            assert!(large == 0 || self.coalesces);
            let spaces: BTreeSet<u16> = allocated.iter().map(|page| pages[page]).collect();
            let whole = allocated.len() == self.span as usize && spaces.len() == 1;
            let settled = allocated.iter().all(|&page| !self.scattered.contains(&(gpu, page)));
            if quiet && self.coalesces && whole && uniform && settled {
                assert!(large > 0, "block {block} could be a large page on {gpu}");
            }
        }
    }

    fn uniform(&self, manager: &Manager, gpu: ProcessorId, pages: &[PageId]) -> bool {
        let seen = |page: PageId| {
            let view = manager.page(page);
            let here = view.mode == Mode::Plain && view.resident.near(gpu) && view.mapped.contains(gpu);
            let frame = manager.frame(gpu.memory(), page).filter(|frame| frame % self.span == page.0 % self.span);
            frame.filter(|_| here).map(|frame| (frame / self.span, view.writable.contains(gpu)))
        };
        let first = pages.first().and_then(|&page| seen(page));
        first.is_some() && pages.iter().all(|&page| seen(page) == first)
    }
}
