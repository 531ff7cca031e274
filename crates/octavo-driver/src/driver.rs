//! The driver's interface: events come in, and calls of an executor go out.

use octavo_manager::{
    AccessCount, Advice, Allocation, CounterNotification, Event, Fault, KernelEnd, Manager, MemoryId, PageId, PageRun,
    Plan, ProcessorId, Refusal, SpaceId,
};
use octavo_units::Time;

use crate::alarm::{Agenda, Alarm};
use crate::batch::Request;
use crate::executor::{Executor, Ticket};
use crate::faults::{FaultId, Faults, Opened, Outstanding};
use crate::frees::Frees;
use crate::plans::Plans;
use crate::ready::Ready;
use crate::service::{Model, Service};
use crate::slab::Slab;
use crate::trials::Trials;

/// Drives one manager: merges and serves faults, has an executor carry plans out step by step, acknowledges them, and
/// wakes who waits.
///
/// It has no clock: its caller gives the time, which never goes back. Every method that can lead to steps takes the
/// executor; when it returns, everything that could be done at once is done. Feed it events, report the end of whatever
/// the executor left under way ([`finished`](Self::finished), [`woken`](Self::woken)), and call it for its alarms
/// ([`alarm`](Self::alarm), or [`deadline`](Self::deadline) and [`tick`](Self::tick)).
///
/// If a strategy failed or memory ran out, plans have no meaning any more: it is [`halted`](Self::halted), starts no
/// further plan, and has all its present and future faults [killed](Executor::kill).
pub struct Driver {
    pub(crate) manager: Manager,
    pub(crate) faults: Faults,
    pub(crate) service: Service,
    /// Counter notifications that wait to be served.
    pub(crate) notifications: Slab<CounterNotification>,
    pub(crate) plans: Plans,
    pub(crate) frees: Frees,
    pub(crate) agenda: Agenda,
    /// Plans that the manager has just made.
    pub(crate) made: Vec<Plan>,
    /// Plans that can continue at once.
    pub(crate) ready: Ready,
    /// Faults about to be handed to the manager, kept for its capacity.
    pub(crate) batch: Vec<Fault>,
    pub(crate) halted: bool,
    /// What was refused, and how many times.
    pub(crate) trials: Trials,
    /// The next time at which a strategy of the manager wants a call.
    pub(crate) reminded: Option<Time>,
}

impl Driver {
    /// A driver of a manager to which nothing has happened yet.
    #[must_use]
    pub fn new(manager: Manager, service: Service) -> Self {
        Self {
            manager,
            service,
            faults: Faults::default(),
            notifications: Slab::default(),
            plans: Plans::default(),
            frees: Frees::default(),
            agenda: Agenda::default(),
            made: Vec::new(),
            ready: Ready::default(),
            batch: Vec::new(),
            halted: false,
            trials: Trials::default(),
            reminded: None,
        }
    }

    /// The manager.
    #[must_use]
    pub fn manager(&self) -> &Manager {
        &self.manager
    }

    /// The manager, for everything except events and acknowledgements: records that it keeps and returns. Events go
    /// through the driver.
    pub fn manager_mut(&mut self) -> &mut Manager {
        &mut self.manager
    }

    /// All outstanding faults.
    #[must_use]
    pub fn outstanding(&self) -> &Faults {
        &self.faults
    }

    /// Batches that were begun; none if requests are not served in batches.
    #[must_use]
    pub fn batches(&self) -> u64 {
        match &self.service.0 {
            Model::Batch(queues) => queues.begun(),
            Model::AtOnce | Model::Pool(_) => 0,
        }
    }

    /// The number of unfinished plans.
    #[must_use]
    pub fn plans_under_way(&self) -> usize {
        self.plans.running.len()
    }

    /// Whether no plan is under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.plans.running.is_empty()
    }

    /// Whether it has stopped, because a strategy failed ([`Manager::failure`]) or memory ran out
    /// ([`Manager::out_of_memory`]), or because the end of a refused plan was [refused for
    /// good](Self::refused_for_good).
    #[must_use]
    pub fn halted(&self) -> bool {
        self.halted
    }

    /// Whether the executor refused a thousand times in a row to end what refused plans had started.
    #[must_use]
    pub fn refused_for_good(&self) -> bool {
        self.trials.ends_are_vain()
    }

    /// Whether an unfinished plan holds one of these pages.
    #[must_use]
    pub fn is_busy(&self, run: PageRun) -> bool {
        self.first_busy(run).is_some()
    }

    /// Whether a page is [to be freed](Self::free) as soon as no plan holds it.
    #[must_use]
    pub fn is_freeing(&self, page: PageId) -> bool {
        self.frees.contain(page)
    }

    /// Whether pages are still [to be freed](Self::free).
    #[must_use]
    pub fn has_frees(&self) -> bool {
        self.frees.any()
    }

    pub(crate) fn first_busy(&self, run: PageRun) -> Option<PageId> {
        run.iter().find(|page| self.manager.page(*page).busy)
    }

    /// Pages come into being.
    pub fn allocate(&mut self, now: Time, allocation: Allocation, to: &mut impl Executor) {
        self.event(now, Event::Allocate(allocation), to);
    }

    /// A periodic report: see [`Event::Report`].
    pub fn report(&mut self, now: Time, counts: &[AccessCount], to: &mut impl Executor) {
        self.event(now, Event::Report(counts), to);
    }

    /// A program says how it uses pages: see [`Event::Advise`].
    pub fn advise(&mut self, now: Time, pages: PageRun, advice: Advice, to: &mut impl Executor) {
        self.event(now, Event::Advise { pages, advice }, to);
    }

    /// Frames are set aside for pages: see [`Event::SetAside`].
    pub fn set_aside(&mut self, now: Time, pages: PageRun, memory: MemoryId, to: &mut impl Executor) {
        self.event(now, Event::SetAside { pages, to: memory }, to);
    }

    /// A program wants pages in a memory: see [`Event::Prefetch`].
    pub fn prefetch(&mut self, now: Time, pages: PageRun, memory: MemoryId, to: &mut impl Executor) {
        self.event(now, Event::Prefetch { pages, to: memory }, to);
    }

    /// A program no longer needs what is in pages: see [`Event::Discard`].
    pub fn discard_pages(&mut self, now: Time, pages: PageRun, to: &mut impl Executor) {
        self.event(now, Event::Discard(pages), to);
    }

    /// A kernel ended: see [`Event::KernelEnd`].
    pub fn kernel_end(&mut self, now: Time, end: KernelEnd, to: &mut impl Executor) {
        self.event(now, Event::KernelEnd(end), to);
    }

    /// The host waits for the GPUs between launches: see [`Event::Synchronise`].
    pub fn synchronise(&mut self, now: Time, space: SpaceId, to: &mut impl Executor) {
        self.event(now, Event::Synchronise(space), to);
    }

    /// A memory now holds this many pages: see [`Event::Capacity`].
    pub fn capacity(&mut self, now: Time, memory: MemoryId, pages: u32, to: &mut impl Executor) {
        self.event(now, Event::Capacity { memory, pages }, to);
    }

    /// An access faults. A new fault has yet to arrive at the driver ([`fault_arrives`](Self::fault_arrives)). Later
    /// accesses join it until it is served.
    #[inline]
    pub fn open_fault(&mut self, fault: &Fault) -> Opened {
        let opened = self.faults.open(fault);
        // No plan is about to map the page: if the manager believes it mapped, the mapping has vanished.
        if let Opened::New(id) = opened
            && self.manager.believes_mapped(fault)
        {
            self.faults.vanished(id);
        }
        opened
    }

    /// The driver sees a fault that was [opened](Self::open_fault).
    pub fn fault_arrives(&mut self, now: Time, id: FaultId, to: &mut impl Executor) {
        self.request(now, Request::Fault(id), to);
        self.run(now, to);
    }

    /// Another entry of a fault that has arrived, which takes up room in a batch.
    pub fn fault_arrives_again(&mut self, now: Time, processor: ProcessorId, to: &mut impl Executor) {
        self.request(now, Request::Again(processor), to);
        self.run(now, to);
    }

    /// A fault that was [opened](Self::open_fault) does not reach the driver: its accesses are tried again.
    pub fn fault_withdrawn(&mut self, now: Time, id: FaultId, to: &mut impl Executor) {
        self.discard(now, id, to);
        self.run(now, to);
    }

    /// A fault that was [opened](Self::open_fault) is served in place, in no time: the host's kernel serves faults of
    /// its own cores in the faulting thread, apart from the queue of faults from GPUs.
    pub fn serve_in_kernel(&mut self, now: Time, id: FaultId, to: &mut impl Executor) {
        self.fault_served(now, id, to);
        self.run(now, to);
    }

    /// Accesses fault where nothing lies between processor and driver: those that are new are opened and have arrived.
    pub fn faults(&mut self, now: Time, seen: &[Fault], to: &mut impl Executor) {
        if matches!(self.service.0, Model::AtOnce) {
            let mut batch = std::mem::take(&mut self.batch);
            for fault in seen {
                if let Opened::New(id) = self.open_fault(fault) {
                    batch.extend(self.take_up(now, id, to));
                }
            }
            self.hand_in(now, batch, to);
        } else {
            for fault in seen {
                if let Opened::New(id) = self.open_fault(fault) {
                    self.request(now, Request::Fault(id), to);
                }
            }
        }
        self.run(now, to);
    }

    /// The driver sees a counter notification.
    pub fn counter(&mut self, now: Time, notification: CounterNotification, to: &mut impl Executor) {
        let number = self.notifications.insert(notification);
        self.request(now, Request::Counter(number), to);
        self.run(now, to);
    }

    /// A time that the executor was asked to [remind](Executor::remind) of has come.
    pub fn alarm(&mut self, now: Time, alarm: Alarm, to: &mut impl Executor) {
        match alarm {
            Alarm::FaultServed(fault) => self.fault_served(now, FaultId(fault), to),
            Alarm::CounterServed(number) => self.counter_served(now, number, to),
            Alarm::BatchTaken(queue) => self.batch_taken(now, queue as usize, to),
            Alarm::BatchServed(queue) => self.batch_served(now, queue as usize, to),
            Alarm::Plan(slot) => self.advance(now, slot, to),
            Alarm::Strategies => self.strategies_are_due(now, to),
        }
        self.run(now, to);
    }

    /// The next time at which the driver has to be [called](Self::tick), apart from the times of which the executor
    /// reminds it.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.agenda.deadline()
    }

    /// Continues with everything whose time has come.
    pub fn tick(&mut self, now: Time, to: &mut impl Executor) {
        while let Some((at, alarm)) = self.agenda.due(now) {
            self.alarm(at, alarm, to);
        }
    }

    /// The steps that were begun under this ticket are done, or as many as the refusal says.
    ///
    /// # Panics
    /// If nothing is under way under this ticket.
    pub fn finished(&mut self, now: Time, ticket: Ticket, how: Result<(), Refusal>, to: &mut impl Executor) {
        match how {
            Ok(()) => {
                self.steps_done(now, ticket);
                self.advance(now, ticket.slot, to);
            }
            Err(refusal) => self.refused(now, ticket, refusal, to),
        }
        self.run(now, to);
    }

    /// A wake-up has arrived, and the waiting processor continues by itself.
    pub fn woken(&mut self, now: Time, id: FaultId, to: &mut impl Executor) {
        let fault = self.wake_arrives(id);
        self.replayed(now, &fault, to);
    }

    /// A wake-up has arrived: the fault no longer exists, and its number is free. The wake-up ends when every waiting
    /// access was served or has faulted again; then call [`replayed`](Self::replayed). Until then the pages of its plan
    /// are busy.
    pub fn wake_arrives(&mut self, id: FaultId) -> Outstanding {
        self.faults.remove(id)
    }

    /// Every access that waited for a fault whose [wake has arrived](Self::wake_arrives) was served or has faulted
    /// again: the wake-up ends. Its plan may be, too.
    pub fn replayed(&mut self, now: Time, fault: &Outstanding, to: &mut impl Executor) {
        let Some(slot) = fault.plan else { return };
        self.plans.running[slot].wakes -= 1;
        self.end_if_done(now, slot, to);
        self.run(now, to);
    }

    /// Ends every call from outside: continues with everything that can start at once.
    #[inline]
    pub(crate) fn run(&mut self, now: Time, to: &mut impl Executor) {
        while let Some(slot) = self.ready.pop() {
            self.advance(now, slot, to);
        }
        if let Some(deadline) = self.manager.deadline() {
            self.keep(now, deadline, to);
        }
    }
}
