//! A machine that carries plans out step by step and refuses steps that make no sense: copies from where nothing is,
//! mappings to where nothing is, frames that are not there. It knows no strategy.

use octavo_manager::{
    Access, Cause, Fault, Manager, MappingMode, MemoryId, MemoryMask, Mode, PageId, PageRun, Permission, Plan, PlanId,
    Prefix, ProcessorId, Step,
};

/// A page-table entry of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    target: MemoryId,
    writable: bool,
    broadcast: bool,
}

#[derive(Clone, Debug, Default)]
struct Page {
    allocated: bool,
    copies: MemoryMask,
    mappings: Vec<Option<Mapping>>,
}

/// A plan that is not acknowledged.
struct Unfinished {
    plan: Plan,
    /// Its pages before it.
    before: Vec<(PageId, Page)>,
    /// The most frames of each processor that it has in use at a time, beyond those in use at its start.
    peak: Vec<i64>,
}

pub struct Machine {
    processors: usize,
    capacity: Vec<u32>,
    /// The limit for frames in use: the capacity, or, after it was lowered, the frames in use then that have not left
    /// yet.
    limit: Vec<i64>,
    pages: Vec<Page>,
    unfinished: Vec<Unfinished>,
    /// Faults that no plan has woken yet.
    outstanding: Vec<Fault>,
}

impl Machine {
    pub fn new(gpus: usize, capacity: &[u32], pages: usize) -> Self {
        let capacity = [&[u32::MAX], capacity].concat();
        let page = Page { mappings: vec![None; gpus + 1], ..Page::default() };
        let (unfinished, outstanding) = (Vec::new(), Vec::new());
        let limit = capacity.iter().copied().map(i64::from).collect();
        Self { processors: gpus + 1, capacity, limit, pages: vec![page; pages], unfinished, outstanding }
    }

    pub fn allocate(&mut self, run: PageRun, populated: bool) {
        for page in run.iter() {
            let page = &mut self.pages[page.index()];
            page.allocated = true;
            page.copies = if populated { MemoryMask(1) } else { MemoryMask::EMPTY };
        }
    }

    pub fn free(&mut self, run: PageRun) {
        for page in run.iter() {
            self.pages[page.index()] = Page { mappings: vec![None; self.processors], ..Page::default() };
        }
    }

    pub fn resize(&mut self, processor: ProcessorId, pages: u32) {
        self.capacity[processor.index()] = pages;
        self.limit[processor.index()] = self.used()[processor.index()].max(i64::from(pages));
    }

    /// Notes a fault that is about to be handed in. Faults of a processor on a page merge while they are outstanding.
    pub fn fault(&mut self, fault: Fault) -> bool {
        let known = |other: &Fault| other.processor == fault.processor && other.page == fault.page;
        let new = !self.outstanding.iter().any(known);
        if new {
            self.outstanding.push(fault);
        }
        new
    }

    /// Whether a run has no page in a plan and no fault.
    pub fn idle(&self, run: PageRun) -> bool {
        let held = self.unfinished.iter().flat_map(|unfinished| &unfinished.before).map(|(page, _)| *page);
        let faulted = self.outstanding.iter().map(|fault| fault.page);
        !held.chain(faulted).any(|page| run.iter().any(|other| other == page))
    }

    pub fn unfinished(&self) -> usize {
        self.unfinished.len()
    }

    pub fn outstanding(&self) -> &[Fault] {
        &self.outstanding
    }

    /// Takes the unfinished plan at `index` as done.
    pub fn complete(&mut self, index: usize) -> PlanId {
        self.unfinished.swap_remove(index).plan.id
    }

    /// Refuses the unfinished plan at `index` after this many steps, if it has that many before its wake-ups, and this
    /// many pages of the next. Its faults are outstanding again.
    pub fn fail(&mut self, index: usize, steps: usize, pages: u32) -> (Plan, Prefix) {
        let Unfinished { plan, before, .. } = self.unfinished.swap_remove(index);
        for (page, state) in before {
            self.pages[page.index()] = state;
        }
        let done = self.do_part(&plan, steps, pages);
        for (processor, page) in plan.wakes() {
            self.outstanding.push(Fault { processor, page, access: Access::Read });
        }
        (plan, done)
    }

    fn do_part(&mut self, plan: &Plan, steps: usize, pages: u32) -> Prefix {
        let mut frames = vec![0i64; self.processors];
        let wakes = plan.steps.iter().position(|step| matches!(step, Step::Wake { .. }));
        let before_wakes = &plan.steps[..wakes.unwrap_or(plan.steps.len())];
        let steps = steps.min(before_wakes.len());
        before_wakes[..steps].iter().for_each(|step| self.step(step, &mut frames));
        let part = before_wakes.get(steps).and_then(|step| cut(*step, pages));
        part.iter().for_each(|step| self.step(step, &mut frames));
        Prefix { steps: steps as u32, pages: part.and(Some(pages)).unwrap_or(0) }
    }

    /// Carries out a plan. `serves` is false for the plan that wakes the faults of a failed one.
    pub fn begin(&mut self, plan: Plan, serves: bool, exempt: bool) {
        let before = self.held(&plan);
        let mut frames = vec![0i64; self.processors];
        let mut peak = frames.clone();
        for step in &plan.steps {
            self.step(step, &mut frames);
            peak.iter_mut().zip(&frames).for_each(|(peak, now)| *peak = (*peak).max(*now));
        }
        for (processor, page) in plan.wakes() {
            let at = self.outstanding.iter().position(|fault| fault.processor == processor && fault.page == page);
            let fault = self.outstanding.swap_remove(at.expect("only outstanding faults are woken"));
            let evicted = plan.steps.iter().any(|step| evicts(step, page));
            assert!(!serves || evicted || self.satisfied(&fault), "{fault:?} is woken in vain by {plan:?}");
        }
        self.unfinished.push(Unfinished { plan, before, peak });
        if !exempt {
            self.check_capacity();
        }
    }

    /// The present pages of the plan, which no other unfinished plan may hold.
    fn held(&self, plan: &Plan) -> Vec<(PageId, Page)> {
        let mut held: Vec<PageId> = plan.steps.iter().filter_map(held_run).flat_map(PageRun::iter).collect();
        held.sort();
        held.dedup();
        for other in &self.unfinished {
            let both = other.before.iter().find(|(page, _)| held.binary_search(page).is_ok());
            assert!(both.is_none(), "{both:?} is in two unfinished plans");
        }
        held.into_iter().map(|page| (page, self.pages[page.index()].clone())).collect()
    }

    fn step(&mut self, step: &Step, frames: &mut [i64]) {
        match *step {
            Step::Drain { processors, .. } => assert!(!processors.is_empty() && !processors.contains(ProcessorId(0))),
            Step::Invalidate { processors, pages } => self.each(pages, |page| {
                for processor in processors.iter() {
                    let removed = page.mappings[processor.index()].take();
                    assert!(removed.is_some(), "{processor} has no translation to invalidate");
                }
            }),
            Step::Protect { processors, pages } => self.each(pages, |page| {
                for processor in processors.iter() {
                    page.mappings[processor.index()].as_mut().expect("protects a mapping").writable = false;
                }
            }),
            Step::Populate { memory, pages, .. } => {
                frames[memory.index()] += i64::from(pages.count);
                self.each(pages, |page| {
                    assert!(page.allocated && page.copies.is_empty(), "{page:?} comes into being again");
                    page.copies = MemoryMask::only(memory);
                });
            }
            Step::Copy { pages, from, to, .. } => {
                frames[to.index()] += i64::from(pages.count);
                self.each(pages, |page| copy(page, from, to));
            }
            Step::Release { memory, pages } => {
                frames[memory.index()] -= i64::from(pages.count);
                self.each(pages, |page| give_up(page, memory));
            }
            Step::Map { processors, pages, target, permission, mode } => {
                let (writable, broadcast) = (permission == Permission::ReadWrite, mode == MappingMode::Broadcast);
                self.each(pages, |page| {
                    for processor in processors.iter() {
                        // `ideal` maps every GPU to itself though one of them has the copy.
                        let target = target.unwrap_or(processor.memory());
                        page.mappings[processor.index()] = Some(Mapping { target, writable, broadcast });
                    }
                });
            }
            Step::Consult { .. } | Step::Coalesce { .. } | Step::Splinter { .. } | Step::Compact { .. } => {}
            Step::ClearCounters { .. } | Step::Wake { .. } => {}
        }
    }

    fn each(&mut self, run: PageRun, mut act: impl FnMut(&mut Page)) {
        run.iter().for_each(|page| act(&mut self.pages[page.index()]));
    }

    fn satisfied(&self, fault: &Fault) -> bool {
        let mapping = self.pages[fault.page.index()].mappings[fault.processor.index()];
        mapping.is_some_and(|mapping| mapping.writable || fault.access == Access::Read)
    }

    /// Whatever the order in which unfinished plans progress, and whichever of them fail, there are enough frames.
    fn check_capacity(&mut self) {
        let used = self.used();
        for processor in 1..self.processors {
            let (used, limit) = (used[processor], &mut self.limit[processor]);
            assert!(used <= *limit, "processor {processor} has {used} pages in {limit} frames");
            *limit = used.max(i64::from(self.capacity[processor]));
        }
    }

    /// Frames of each processor that were in use before the unfinished plans, or that these use beyond them.
    fn used(&self) -> Vec<i64> {
        let mut used = vec![0i64; self.processors];
        let mut pages: Vec<&Page> = self.pages.iter().collect();
        for unfinished in &self.unfinished {
            used.iter_mut().zip(&unfinished.peak).for_each(|(used, peak)| *used += peak);
            unfinished.before.iter().for_each(|(page, before)| pages[page.index()] = before);
        }
        for processor in pages.iter().flat_map(|page| page.copies.iter()) {
            used[processor.index()] += 1;
        }
        used
    }

    /// The manager's belief matches the machine.
    pub fn compare(&self, manager: &Manager) {
        let all = PageRun { first: PageId(0), count: self.pages.len() as u32 };
        for ((index, page), view) in self.pages.iter().enumerate().zip(manager.pages(all)) {
            assert_eq!(view.resident, page.copies, "copies of page {index}");
            assert_eq!(view.allocated, page.allocated, "page {index}");
            if view.allocated {
                self.compare_mappings(index, page, &view);
            }
        }
    }

    fn compare_mappings(&self, index: usize, page: &Page, view: &octavo_manager::PageView) {
        for (processor, mapping) in page.mappings.iter().enumerate() {
            let processor = ProcessorId(processor as u8);
            let Some(mapping) = mapping else {
                assert!(!view.mapped.contains(processor), "page {index} is not mapped on {processor}");
                continue;
            };
            assert!(view.mapped.contains(processor), "page {index} is mapped on {processor}");
            assert_eq!(view.writable.contains(processor), mapping.writable, "page {index} on {processor}");
            assert_eq!(mapping.broadcast, view.mode == Mode::Broadcast, "page {index} on {processor}");
            let local = page.copies.near(processor) || view.mode == Mode::Everywhere && processor.0 > 0;
            assert_eq!(
                mapping.target,
                if local { processor.memory() } else { view.owner },
                "page {index} on {processor}"
            );
            let exempt = view.mode == Mode::Everywhere;
            assert!(exempt || page.copies.contains(mapping.target), "page {index} is mapped to nothing");
        }
    }
}

/// A step for the first pages of its run, if it has more.
fn cut(mut step: Step, count: u32) -> Option<Step> {
    match &mut step {
        Step::Invalidate { pages, .. }
        | Step::Protect { pages, .. }
        | Step::Populate { pages, .. }
        | Step::Copy { pages, .. }
        | Step::Release { pages, .. }
        | Step::Map { pages, .. }
            if (1..pages.count).contains(&count) =>
        {
            pages.count = count;
        }
        _ => return None,
    }
    Some(step)
}

fn copy(page: &mut Page, from: MemoryId, to: MemoryId) {
    assert!(page.copies.contains(from) && !page.copies.contains(to), "copy {from} to {to} of {page:?}");
    let writers = page.mappings.iter().flatten().any(|mapping| mapping.writable);
    assert!(!writers, "someone writes while {page:?} is copied");
    page.copies = page.copies.with(to);
}

fn give_up(page: &mut Page, holder: MemoryId) {
    assert!(page.copies.contains(holder), "{holder} has no copy of {page:?}");
    assert!(page.mappings.iter().flatten().all(|mapping| mapping.target != holder), "{page:?} is mapped to {holder}");
    page.copies = page.copies.without(holder);
    assert!(!page.copies.is_empty(), "the last copy is lost");
}

fn held_run(step: &Step) -> Option<PageRun> {
    match *step {
        Step::Drain { pages, .. } => Some(pages),
        Step::Coalesce { block, .. } => Some(block),
        _ => step.changed(),
    }
}

fn evicts(step: &Step, page: PageId) -> bool {
    let run = match *step {
        Step::Copy { pages, cause: Cause::Eviction, .. } => pages,
        Step::Release { pages, .. } => pages,
        _ => return false,
    };
    run.iter().any(|other| other == page)
}
