//! An executor under test, with a machine that repeats its steps and judges them.

use std::collections::BTreeMap;

use octavo_manager::{
    Allocation, Fault, Manager, MemoryId, PageId, PageRun, Plan, ProcessorId, Refusal, Step, Topology,
};
use octavo_units::Time;

use super::machine::{Entry, Machine, Running, pages_of};
use crate::executor::{Begun, Executor, Happening, Ticket, Wake};
use crate::faults::{FaultId, Outstanding};

/// An executor that the suite can look into.
///
/// It completes each step before it answers; an executor whose steps take time, or that reports their ends later, runs
/// the suite through an adaptor that waits ([`Prompt`](super::Prompt) if time can stand still). Where it keeps no
/// record itself (tables of some processors, or the contents of memories), only the machine judges.
pub trait Subject: Executor {
    /// Pages come into being, unmapped, in host memory or not populated.
    fn allocate(&mut self, allocation: &Allocation);

    /// Whether it keeps the table of a processor.
    fn has_table(&self, processor: ProcessorId) -> bool {
        _ = processor;
        true
    }

    /// The mapping of a processor for a page; called only if it [has the table](Self::has_table).
    fn entry(&self, processor: ProcessorId, page: PageId) -> Option<Entry>;

    /// Whether a memory holds a page; `None` if it keeps no copies.
    fn holds(&self, memory: MemoryId, page: PageId) -> Option<bool>;

    /// An entry vanishes behind the driver's back.
    fn take_entry_away(&mut self, processor: ProcessorId, page: PageId);

    /// A fault that was woken, each once.
    fn take_woken(&mut self) -> Option<Fault>;
}

/// A subject whose steps are repeated by a [`Machine`], which holds data and knows the laws. After each step, tables
/// and copies of both are the same.
pub struct Watched<S> {
    subject: S,
    /// The machine.
    pub machine: Machine,
    running: BTreeMap<u32, Running>,
    /// Every plan so far.
    pub made: Vec<Plan>,
    /// The tokens of what was freed.
    pub freed: Vec<u64>,
    /// Faults that can never be served.
    pub killed: Vec<Fault>,
    /// Entries that vanished.
    pub vanished: u64,
}

impl<S: Subject> Watched<S> {
    /// A subject on a node without any page. For `by_decree` see [`Machine::new`].
    pub fn new(subject: S, topology: &Topology, by_decree: bool) -> Self {
        let machine = Machine::new(topology, by_decree);
        let (running, made, freed, killed) = (BTreeMap::new(), Vec::new(), Vec::new(), Vec::new());
        Self { subject, machine, running, made, freed, killed, vanished: 0 }
    }

    /// Pages come into being.
    pub fn allocate(&mut self, allocation: &Allocation) {
        self.subject.allocate(allocation);
        let populated = allocation.populated && !allocation.kind.stays();
        allocation.run.iter().for_each(|page| self.machine.allocate(page, populated));
    }

    /// A fault that was woken, each once.
    pub fn take_woken(&mut self) -> Option<Fault> {
        self.subject.take_woken()
    }

    /// An entry vanishes.
    pub fn take_entry_away(&mut self, processor: ProcessorId, page: PageId) {
        self.subject.take_entry_away(processor, page);
        self.vanished += u64::from(self.machine.tables[processor.index()].remove(&page).is_some());
    }

    /// The machine does what the subject did of a plan.
    fn follow(&mut self, slot: u32, steps: &[Step]) {
        for step in steps {
            let running = self.running.get_mut(&slot).expect("it was admitted");
            let done = match running.next_step() {
                Some(next) if next == step => self.machine.step(running).map(drop),
                _ => {
                    let pages = pages_of(step).map_or(0, |run| run.count as usize);
                    self.machine.step_in_part(running, pages)
                }
            };
            done.unwrap_or_else(|broken| panic!("{broken}, by {step:?}"));
        }
        let pages = steps.iter().filter_map(pages_of).flat_map(PageRun::iter);
        pages.for_each(|page| self.compare(page));
    }

    /// # Panics
    /// If subject and machine differ about a page.
    fn compare(&self, page: PageId) {
        for (index, table) in self.machine.tables.iter().enumerate() {
            let processor = ProcessorId(index as u8);
            if !self.subject.has_table(processor) {
                continue;
            }
            let (found, expected) = (self.subject.entry(processor, page), table.get(&page).copied());
            assert_eq!(found, expected, "{processor} maps page {}: subject, then machine", page.0);
        }
        for (index, held) in self.machine.memories.iter().enumerate() {
            let memory = MemoryId(index as u8);
            if let Some(holds) = self.subject.holds(memory, page) {
                assert_eq!(holds, held.contains_key(&page), "{memory} holds page {}: subject, then machine", page.0);
            }
        }
    }

    fn follow_refused(&mut self, slot: u32, left: &[Step], refusal: Refusal) {
        let (whole, rest) = left.split_at(refusal.done.steps as usize);
        self.follow(slot, whole);
        if let Some(part) = rest.first().and_then(|step| refusal.done.part(step)) {
            self.follow(slot, &[part]);
        }
    }
}

impl<S: Subject> Executor for Watched<S> {
    fn admit(&mut self, now: Time, ticket: Ticket, plan: &Plan) -> Begun {
        self.made.push(plan.clone());
        self.running.insert(ticket.slot, Running::new(plan.clone()));
        let begun = self.subject.admit(now, ticket, plan);
        if let Begun::Done(steps) | Begun::At(steps, _) | Begun::Later(steps) = begun {
            self.follow(ticket.slot, &plan.steps[..steps as usize]);
        }
        begun
    }

    fn begin(&mut self, now: Time, ticket: Ticket, left: &[Step]) -> Begun {
        let begun = self.subject.begin(now, ticket, left);
        match begun {
            Begun::Done(steps) | Begun::At(steps, _) | Begun::Later(steps) => {
                self.follow(ticket.slot, &left[..steps as usize]);
            }
            Begun::Refused(refusal) => self.follow_refused(ticket.slot, left, refusal),
        }
        begun
    }

    fn wake(&mut self, now: Time, id: FaultId, fault: &Outstanding) -> Wake {
        self.machine.wake(fault.processor, fault.page).unwrap();
        self.subject.wake(now, id, fault)
    }

    fn kill(&mut self, now: Time, id: FaultId, fault: &Outstanding) {
        self.machine.wake(fault.processor, fault.page).unwrap();
        self.killed.push(fault.fault());
        self.subject.kill(now, id, fault);
    }

    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager) {
        self.subject.free(now, run, token, manager);
        run.iter().for_each(|page| self.machine.free(page));
        run.iter().for_each(|page| self.compare(page));
        self.freed.push(token);
    }

    fn hear(&mut self, now: Time, happening: Happening<'_>) {
        if let Happening::PlanEnds { slot, .. } = happening {
            self.running.remove(&slot);
        }
        self.subject.hear(now, happening);
    }
}
