//! Plans are carried out step by step, interleaved with others, and can be undone half-way.

use std::collections::BTreeSet;

use octavo_manager::{
    Cause, Fault, HOST, MappingMode, PageId, PageRun, Permission, Plan, ProcessorId, ProcessorMask, Step,
};

use super::{Entry, Machine};

/// A change of the machine that can be taken back. Contents are never restored: what was stored meanwhile stays.
#[derive(Clone, Copy, Debug)]
enum Undo {
    Table(ProcessorId, PageId, Option<Entry>),
    Copied(PageId, ProcessorId),
    Populated(PageId, ProcessorId),
    Released(PageId, ProcessorId),
    Coalesced(ProcessorId, PageId),
}

/// A plan that is being carried out.
#[derive(Debug)]
pub struct Running {
    pub plan: Plan,
    next: usize,
    undo: Vec<Undo>,
    drained: BTreeSet<(ProcessorId, PageId)>,
    /// Who lost the right to write without being drained before.
    undrained: BTreeSet<(ProcessorId, PageId)>,
}

impl Running {
    pub fn new(plan: Plan) -> Self {
        check_room(&plan);
        Self { plan, next: 0, undo: Vec::new(), drained: BTreeSet::new(), undrained: BTreeSet::new() }
    }

    /// Pages that are busy until the plan is acknowledged.
    pub fn pages(&self) -> BTreeSet<PageId> {
        self.plan.steps.iter().filter_map(held).flat_map(PageRun::iter).collect()
    }

    pub fn next_step(&self) -> Option<&Step> {
        self.plan.steps.get(self.next)
    }

    /// Whether the plan does something for an access that it wakes. It does not if it only tells that nothing was to be
    /// done, nor if, serving others together with that one, it takes the page away from under it.
    pub fn serves(&self, access: &Fault) -> bool {
        let taken = |step: &Step| matches!(*step, Step::Release { memory, .. } if memory == access.processor);
        let named = |step: &&Step| held(step).is_some_and(|pages| pages.iter().any(|page| page == access.page));
        let mut steps = self.plan.steps.iter().filter(named).peekable();
        steps.peek().is_some() && !steps.any(taken)
    }

    /// Whether it can still be undone: nobody was woken yet, and nobody can have written a page that was not there
    /// before.
    pub fn can_fail(&self) -> bool {
        let done = &self.plan.steps[..self.next];
        let woken = done.iter().any(|step| matches!(step, Step::Wake { .. }));
        let populated = done.iter().any(|step| matches!(step, Step::Populate { .. }));
        !(woken || populated && done.iter().any(|step| matches!(step, Step::Map { .. })))
    }
}

/// Evictions are among the steps that make room, and what leaves in those is not in the others.
fn check_room(plan: &Plan) {
    let first = usize::from(matches!(plan.steps.first(), Some(Step::Consult { .. })));
    let (room, rest) = plan.steps[first..].split_at(plan.room_steps as usize);
    assert!(room.is_empty() || plan.makes_room(first as u32) && !plan.makes_room(first as u32 + plan.room_steps));
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
        Step::Invalidate { pages, .. }
        | Step::Protect { pages, .. }
        | Step::Populate { pages, .. }
        | Step::Copy { pages, .. }
        | Step::Release { pages, .. }
        | Step::Map { pages, .. } => Some(pages),
        Step::Coalesce { block, .. } => Some(block),
        Step::Consult { .. } | Step::Drain { .. } | Step::Splinter { .. } | Step::Compact { .. } => None,
        Step::ClearCounters { .. } | Step::Wake { .. } => None,
    }
}

impl Machine {
    /// Does the next step of a plan; answers whose accesses are replayed.
    pub fn step(&mut self, running: &mut Running) -> Result<Vec<Fault>, String> {
        let Some(step) = running.next_step().copied() else { return Ok(Vec::new()) };
        running.next += 1;
        self.resize(running, &step)?;
        let mut woken = Vec::new();
        for page in pages_of(&step).into_iter().flat_map(PageRun::iter) {
            match step {
                Step::Drain { processors, .. } => {
                    running.drained.extend(processors.iter().map(|processor| (processor, page)));
                }
                Step::Invalidate { processors, .. } => self.restrict(running, processors, page, true)?,
                Step::Protect { processors, .. } => self.restrict(running, processors, page, false)?,
                Step::Populate { memory, .. } => self.populate(running, page, memory)?,
                Step::Copy { from, to, cause, .. } => self.copy(running, page, from, to, cause)?,
                Step::Release { memory, .. } => self.release(running, page, memory)?,
                Step::Map { processors, .. } => self.map(running, processors, page, &step)?,
                Step::ClearCounters { .. } | Step::Coalesce { .. } | Step::Splinter { .. } => {}
                Step::Consult { .. } | Step::Compact { .. } => {}
                Step::Wake { processor, .. } => woken.push(self.wake(processor, page)?),
            }
            if held(&step).is_some() {
                self.check_page(page)?;
            }
        }
        Ok(woken)
    }

    /// Large pages come and go; what is under one does not change.
    fn resize(&mut self, running: &mut Running, step: &Step) -> Result<(), String> {
        match *step {
            Step::Coalesce { processor, block } => {
                self.check_coalesced(processor, block)?;
                self.large[processor.index()].insert(block.first, block.count);
                running.undo.push(Undo::Coalesced(processor, block.first));
            }
            Step::Splinter { processor, block } => _ = self.large[processor.index()].remove(&block.first),
            _ => {}
        }
        Ok(())
    }

    /// Takes back what was done of a plan.
    pub fn undo(&mut self, mut running: Running) -> Result<(), String> {
        while let Some(undo) = running.undo.pop() {
            match undo {
                Undo::Table(processor, page, Some(entry)) => {
                    self.tables[processor.index()].insert(page, entry);
                }
                Undo::Table(processor, page, None) => {
                    self.tables[processor.index()].remove(&page);
                }
                Undo::Populated(page, memory) => {
                    self.memories[memory.index()].remove(&page);
                    self.untouched.insert(page);
                }
                Undo::Copied(page, to) => {
                    self.memories[to.index()].remove(&page);
                }
                Undo::Coalesced(processor, first) => {
                    self.large[processor.index()].remove(&first).ok_or("a large page of an unfinished plan is gone")?;
                }
                Undo::Released(page, processor) => {
                    let version = self.latest[&page];
                    self.memories[processor.index()].insert(page, version);
                }
            }
        }
        running.pages().into_iter().try_for_each(|page| self.check_page(page))
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
            running.undo.push(Undo::Table(processor, page, Some(entry)));
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

    fn populate(&mut self, running: &mut Running, page: PageId, memory: ProcessorId) -> Result<(), String> {
        if !self.untouched.remove(&page) {
            return Err(format!("page {} comes into being and is there", page.0));
        }
        running.undo.push(Undo::Populated(page, memory));
        self.receive(page, memory, 0)
    }

    fn copy(
        &mut self,
        running: &mut Running,
        page: PageId,
        from: ProcessorId,
        to: ProcessorId,
        cause: Cause,
    ) -> Result<(), String> {
        let undrained = running.undrained.iter().find(|(_, undrained)| *undrained == page);
        if let Some((who, _)) = undrained.filter(|_| cause != Cause::Duplication) {
            return Err(format!("page {} moves while stores of {who} are under way", page.0));
        }
        let version = self.memories[from.index()].get(&page).copied();
        let version = version.ok_or_else(|| format!("page {} is copied from {from}, which lacks it", page.0))?;
        self.receive(page, to, version)?;
        running.undo.push(Undo::Copied(page, to));
        Ok(())
    }

    fn receive(&mut self, page: PageId, to: ProcessorId, version: u64) -> Result<(), String> {
        if self.memories[to.index()].insert(page, version).is_some() {
            return Err(format!("{to} gets page {} and has it", page.0));
        }
        self.check_capacity(to.index())
    }

    fn release(&mut self, running: &mut Running, page: PageId, processor: ProcessorId) -> Result<(), String> {
        self.check_unlarge(processor, page)?;
        if self.memories[processor.index()].remove(&page).is_none() {
            return Err(format!("{processor} gives up page {} and lacks it", page.0));
        }
        running.undo.push(Undo::Released(page, processor));
        Ok(())
    }

    fn map(&mut self, running: &mut Running, who: ProcessorMask, page: PageId, step: &Step) -> Result<(), String> {
        let Step::Map { target, permission, mode, .. } = *step else { unreachable!("called for maps") };
        for processor in who.iter() {
            let entry = Entry { target: target.unwrap_or(processor), permission, mode };
            if !self.reach.can_map(processor, entry.target) {
                return Err(format!("{processor} maps page {} at {}, out of its reach", page.0, entry.target));
            }
            if self.tables[processor.index()].get(&page) != Some(&entry) {
                self.check_unlarge(processor, page)?;
            }
            let old = self.tables[processor.index()].insert(page, entry);
            running.undo.push(Undo::Table(processor, page, old));
        }
        Ok(())
    }

    fn wake(&mut self, processor: ProcessorId, page: PageId) -> Result<Fault, String> {
        let access = self.outstanding.remove(&(processor, page));
        let access = access.ok_or_else(|| format!("{processor} is woken for page {} and does not wait", page.0))?;
        Ok(Fault { processor, page, access })
    }
}

fn pages_of(step: &Step) -> Option<PageRun> {
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
