//! Plans are carried out step by step, interleaved with others, and can be refused at every page.

use std::collections::BTreeSet;

use octavo_manager::{
    Cause, Fault, HOST, MappingMode, MemoryId, PageId, PageRun, Permission, Plan, Prefix, ProcessorId, ProcessorMask,
    Step,
};

use super::{Entry, Machine};

/// A plan that is being carried out.
#[derive(Debug)]
pub struct Running {
    /// The plan.
    pub plan: Plan,
    next: usize,
    /// Pages of the next step that are done.
    part: usize,
    /// It wakes the faults of a plan that was refused, to be tried again.
    in_vain: bool,
    drained: BTreeSet<(ProcessorId, PageId)>,
    /// Processors that lost the right to write without being drained first.
    undrained: BTreeSet<(ProcessorId, PageId)>,
}

impl Running {
    /// # Panics
    /// If the plan says that steps make room which do not, or the other way round.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        check_room(&plan);
        Self { plan, next: 0, part: 0, in_vain: false, drained: BTreeSet::new(), undrained: BTreeSet::new() }
    }

    /// Pages that are busy until the plan is acknowledged.
    #[must_use]
    pub fn pages(&self) -> BTreeSet<PageId> {
        self.plan.steps.iter().filter_map(held).flat_map(PageRun::iter).collect()
    }

    /// The next step to carry out.
    #[must_use]
    pub fn next_step(&self) -> Option<&Step> {
        self.plan.steps.get(self.next)
    }

    /// Whether the plan does something for an access that it wakes. It does not if it only reports that there was
    /// nothing to do, or if it serves others together with that one and takes the page away to make room for theirs.
    #[must_use]
    pub fn serves(&self, access: &Fault) -> bool {
        let names = |step: &Step| held(step).is_some_and(|pages| pages.iter().any(|page| page == access.page));
        let (room, rest) = split_room(&self.plan);
        !self.in_vain && rest.iter().any(names) && !room.iter().any(names)
    }

    /// The processors that it wakes try again in any case.
    pub fn promises_nothing(&mut self) {
        self.in_vain = true;
    }

    /// The processors whose faults it wakes, and the pages.
    pub fn wakes(&self) -> impl Iterator<Item = (ProcessorId, PageId)> + '_ {
        self.plan.wakes()
    }

    /// How many of its pages are done.
    #[must_use]
    pub fn done(&self) -> Prefix {
        Prefix { steps: self.next as u32, pages: self.part as u32 }
    }
}

/// The steps that make room, and those behind them.
fn split_room(plan: &Plan) -> (&[Step], &[Step]) {
    let first = usize::from(matches!(plan.steps.first(), Some(Step::Consult { .. })));
    plan.steps[first..].split_at(plan.room_steps as usize)
}

/// Evictions are among the steps that make room, and a page that leaves in one is in no other step.
fn check_room(plan: &Plan) {
    let (room, rest) = split_room(plan);
    let first = (plan.steps.len() - room.len() - rest.len()) as u32;
    assert!(room.is_empty() || plan.makes_room(first) && !plan.makes_room(first + plan.room_steps));
    let evicts = |step: &Step| matches!(step, Step::Copy { cause: Cause::Eviction, .. });
    assert!(!rest.iter().any(evicts), "an eviction is not said to make room: {plan:?}");
    // Pages of a block that becomes a large page are held, but nothing is done to them.
    let busy = |step: &&Step| !matches!(step, Step::Coalesce { .. });
    let pages = |steps: &[Step]| {
        steps.iter().filter(busy).filter_map(held).flat_map(PageRun::iter).collect::<BTreeSet<PageId>>()
    };
    assert!(pages(room).is_disjoint(&pages(rest)), "a page makes room and does something else: {plan:?}");
    let for_room = |step: &Step| match step {
        Step::Copy { cause, .. } => *cause == Cause::Eviction,
        Step::Populate { .. } | Step::Protect { .. } | Step::Coalesce { .. } | Step::Compact { .. } => false,
        Step::Consult { .. } | Step::ClearCounters { .. } | Step::Wake { .. } => false,
        Step::Splinter { .. }
        | Step::Drain { .. }
        | Step::Invalidate { .. }
        | Step::Release { .. }
        | Step::Map { .. } => true,
    };
    assert!(room.iter().all(for_room), "makes no room: {plan:?}");
}

fn held(step: &Step) -> Option<PageRun> {
    match *step {
        Step::Coalesce { block, .. } => Some(block),
        _ => step.changed(),
    }
}

impl Machine {
    /// Does the next step of a plan; returns whose accesses are replayed.
    ///
    /// # Errors
    /// Says what the step would lose, corrupt or break.
    pub fn step(&mut self, running: &mut Running) -> Result<Vec<Fault>, String> {
        let Some(step) = running.next_step().copied() else { return Ok(Vec::new()) };
        self.resize(&step)?;
        let woken = self.do_pages(running, &step, usize::MAX)?;
        (running.next, running.part) = (running.next + 1, 0);
        Ok(woken)
    }

    /// Does the next step for some pages, less than all. Nothing is done for a step without a run of pages.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    pub fn step_in_part(&mut self, running: &mut Running, pages: usize) -> Result<(), String> {
        let Some(step) = running.next_step().copied() else { return Ok(()) };
        let (Some(run), false) = (held(&step), matches!(step, Step::Coalesce { .. })) else { return Ok(()) };
        let pages = pages.min(run.count as usize - 1);
        self.do_pages(running, &step, pages)?;
        running.part = pages;
        Ok(())
    }

    fn do_pages(&mut self, running: &mut Running, step: &Step, pages: usize) -> Result<Vec<Fault>, String> {
        let mut woken = Vec::new();
        for page in pages_of(step).into_iter().flat_map(PageRun::iter).take(pages) {
            match *step {
                Step::Drain { processors, .. } => {
                    running.drained.extend(processors.iter().map(|processor| (processor, page)));
                }
                Step::Invalidate { processors, .. } => self.restrict(running, processors, page, true)?,
                Step::Protect { processors, .. } => self.restrict(running, processors, page, false)?,
                Step::Populate { memory, .. } => self.populate(page, memory)?,
                Step::Copy { from, to, cause, .. } => self.copy(running, page, from, to, cause)?,
                Step::Release { memory, .. } => self.release(page, memory)?,
                Step::Map { processors, .. } => self.map(processors, page, step)?,
                Step::ClearCounters { .. } | Step::Coalesce { .. } | Step::Splinter { .. } => {}
                Step::Consult { .. } | Step::Compact { .. } => {}
                Step::Wake { processor, .. } => woken.push(self.wake(processor, page)?),
            }
            if held(step).is_some() {
                self.check_page(page)?;
            }
        }
        Ok(woken)
    }

    /// Large pages come and go without a change to what they cover.
    fn resize(&mut self, step: &Step) -> Result<(), String> {
        match *step {
            Step::Coalesce { processor, block } => {
                self.check_coalesced(processor, block)?;
                self.large[processor.index()].insert(block.first, block.count);
            }
            Step::Splinter { processor, block } => _ = self.large[processor.index()].remove(&block.first),
            _ => {}
        }
        Ok(())
    }

    /// Unmaps a page, or takes away the right to write it.
    fn restrict(
        &mut self,
        running: &mut Running,
        processors: ProcessorMask,
        page: PageId,
        remove: bool,
    ) -> Result<(), String> {
        for processor in processors.iter() {
            self.check_unlarge(processor, page)?;
            let Some(entry) = self.tables[processor.index()].get(&page).copied() else { continue };
            if remove {
                self.tables[processor.index()].remove(&page);
            } else {
                let entry = Entry { permission: Permission::ReadOnly, ..entry };
                self.tables[processor.index()].insert(page, entry);
            }
            let wrote = entry.permission == Permission::ReadWrite && entry.mode == MappingMode::Direct;
            // A shoot-down on the host waits for the stores of its cores.
            if wrote && processor != HOST && !running.drained.contains(&(processor, page)) {
                running.undrained.insert((processor, page));
            }
        }
        Ok(())
    }

    fn populate(&mut self, page: PageId, memory: MemoryId) -> Result<(), String> {
        if !self.untouched.remove(&page) {
            return Err(format!("page {} comes into being and is there", page.0));
        }
        self.receive(page, memory, 0)
    }

    fn copy(
        &mut self,
        running: &mut Running,
        page: PageId,
        from: MemoryId,
        to: MemoryId,
        cause: Cause,
    ) -> Result<(), String> {
        let undrained = running.undrained.iter().find(|(_, undrained)| *undrained == page);
        if let Some((who, _)) = undrained.filter(|_| cause != Cause::Duplication) {
            return Err(format!("page {} moves while stores of {who} are under way", page.0));
        }
        let version = self.memories[from.index()].get(&page).copied();
        let version = version.ok_or_else(|| format!("page {} is copied from {from}, which lacks it", page.0))?;
        self.receive(page, to, version)
    }

    fn receive(&mut self, page: PageId, to: MemoryId, version: u64) -> Result<(), String> {
        if self.memories[to.index()].insert(page, version).is_some() {
            return Err(format!("{to} gets page {} and has it", page.0));
        }
        self.check_capacity(to.index())
    }

    fn release(&mut self, page: PageId, memory: MemoryId) -> Result<(), String> {
        self.check_unlarge(memory.processor(), page)?;
        if self.memories[memory.index()].remove(&page).is_none() {
            return Err(format!("{memory} gives up page {} and lacks it", page.0));
        }
        Ok(())
    }

    fn map(&mut self, who: ProcessorMask, page: PageId, step: &Step) -> Result<(), String> {
        let Step::Map { target, permission, mode, .. } = *step else { unreachable!("called for maps") };
        for processor in who.iter() {
            let entry = Entry { target: target.unwrap_or(processor.memory()), permission, mode };
            if !self.reach.can_map(processor, entry.target) {
                return Err(format!("{processor} maps page {} at {}, out of its reach", page.0, entry.target));
            }
            if self.tables[processor.index()].get(&page) != Some(&entry) {
                self.check_unlarge(processor, page)?;
            }
            self.tables[processor.index()].insert(page, entry);
        }
        Ok(())
    }

    /// An access waits no longer.
    ///
    /// # Errors
    /// If it does not wait.
    pub fn wake(&mut self, processor: ProcessorId, page: PageId) -> Result<Fault, String> {
        let access = self.outstanding.remove(&(processor, page));
        let access = access.ok_or_else(|| format!("{processor} is woken for page {} and does not wait", page.0))?;
        Ok(Fault { processor, page, access })
    }
}

/// The pages that a step is about.
pub(crate) fn pages_of(step: &Step) -> Option<PageRun> {
    match *step {
        Step::Drain { pages, .. }
        | Step::Invalidate { pages, .. }
        | Step::Protect { pages, .. }
        | Step::Populate { pages, .. }
        | Step::Copy { pages, .. }
        | Step::Release { pages, .. }
        | Step::Map { pages, .. }
        | Step::ClearCounters { pages }
        | Step::Wake { pages, .. } => Some(pages),
        Step::Coalesce { block, .. } | Step::Splinter { block, .. } => Some(block),
        Step::Consult { .. } | Step::Compact { .. } => None,
    }
}
