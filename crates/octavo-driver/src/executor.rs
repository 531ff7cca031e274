//! The contract of an executor.

use octavo_manager::{Manager, PageRun, Plan, Refusal, Step};
use octavo_units::Time;

use crate::alarm::Alarm;
use crate::batch::Request;
use crate::faults::{FaultId, Faults, Outstanding};

/// The plan, and the first of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    /// The plan's slot: a small number that no other unfinished plan has, and that is used again after its end.
    pub slot: u32,
    /// Index of the step among the plan's.
    pub step: u32,
}

/// The result of steps that an executor was asked to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// This many steps are done; the driver continues at once.
    Done(u32),
    /// This many steps are done at that time, which may be now; the driver continues then, after everything else that
    /// is due at that time. With no step at all, the same ones are begun again then.
    At(u32, Time),
    /// This many steps, at least one, are under way; [`Driver::finished`](crate::Driver::finished) will be called with
    /// the ticket.
    Later(u32),
    /// The rest of the plan is not carried out. The refusal says how much of it is done; finished steps stay done, page
    /// by page.
    Refused(Refusal),
}

/// The result of a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// It has arrived: the waiting processor continues when the driver returns. By then the page may have moved away
    /// again, because others waited for it, too. All processors that were woken before the driver returned must try
    /// again before one of them is handed in as a fault, so that the last one to get the page has it. If each were
    /// handed in before the next one tried, they would take the page from each other for ever.
    Arrived,
    /// It is under way; [`Driver::woken`](crate::Driver::woken) will be called. Until then the pages of its plan are
    /// busy, so that the faulting processor can continue before another one takes the page away.
    UnderWay,
}

/// A report for callers that keep a record.
#[derive(Clone, Copy)]
pub enum Happening<'a> {
    /// A server of the pool serves a request between these times.
    Served(Request, Time, Time),
    /// A batch is taken.
    BatchBegins {
        /// The GPU that owns it, if each has its own.
        gpu: Option<usize>,
        /// What is in it.
        requests: &'a [Request],
        /// All outstanding faults, those of the batch among them.
        faults: &'a Faults,
        /// When it is served.
        served: Time,
    },
    /// The batch and all plans that serve its faults are finished; the GPU that owned it, if each has its own.
    BatchEnds(Option<usize>),
    /// A plan was admitted.
    PlanBegins {
        /// Its slot.
        slot: u32,
        /// The plan.
        plan: &'a Plan,
        /// The time at which its first step can start, if it is known.
        starts: Time,
        /// All outstanding faults, those among them that it will wake.
        faults: &'a Faults,
    },
    /// A plan is finished and about to be acknowledged.
    PlanEnds {
        /// Its slot.
        slot: u32,
        /// The plan.
        plan: &'a Plan,
        /// The manager, before it knows.
        manager: &'a Manager,
    },
}

/// Carries the steps of plans out, and wakes who waits. Called by the [`Driver`](crate::Driver) alone.
///
/// Unfinished plans share no page and no frame: their steps can be done in any order and side by side. The steps of one
/// plan are begun in their order, each when the one before is done.
///
/// None of these methods can call the driver. Consequences (an access that is tried again and faults) are reported to
/// the driver when it has returned.
pub trait Executor {
    /// A plan of the manager's is about to be carried out. An executor can begin with [`Step::Consult`] or with
    /// something of its own: the answer means the same as for [`begin`](Self::begin), and is `Done(0)` if there is
    /// nothing to do. It is never a refusal.
    fn admit(&mut self, now: Time, ticket: Ticket, plan: &Plan) -> Begun {
        _ = (now, ticket, plan);
        Begun::Done(0)
    }

    /// Begins `left[0]`, and any that follow which it can do in one go. `left` is the rest of the plan and not empty.
    ///
    /// Wakes are the driver's: `left[0]` is never one, and the count that is answered goes at most up to the first. An
    /// executor may look at them, for one operation of the system can copy, map and wake.
    fn begin(&mut self, now: Time, ticket: Ticket, left: &[Step]) -> Begun;

    /// All accesses that wait for this fault are to be retried. The fault is closed: the processor's next access to the
    /// page that faults is a new fault. Its number can be used again once the wake has arrived, or earlier.
    fn wake(&mut self, now: Time, id: FaultId, fault: &Outstanding) -> Wake;

    /// This fault can never be served: memory ran out, or is [broken](octavo_manager::Why::Broken). Accesses
    /// that wait for it must not be retried. The fault is closed when this is called, and gone when it returns.
    fn kill(&mut self, now: Time, id: FaultId, fault: &Outstanding);

    /// Pages are freed: mappings of processors and contents of memories for them are removed. No plan holds them.
    /// `manager` still knows where they are. `token` is what [`Driver::free`](crate::Driver::free) was called with.
    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager);

    /// Asks that [`Driver::alarm`](crate::Driver::alarm) be called at a time. Executors that keep a calendar of their
    /// own note it there and answer `true`, so that alarms have their place among everything else that happens at that
    /// time. With `false` the driver keeps it, for [`Driver::deadline`](crate::Driver::deadline) and
    /// [`Driver::tick`](crate::Driver::tick).
    fn remind(&mut self, at: Time, alarm: Alarm) -> bool {
        _ = (at, alarm);
        false
    }

    /// Gets reports of events, for a record. Costs nothing without listeners.
    #[inline]
    fn hear(&mut self, now: Time, happening: Happening<'_>) {
        _ = (now, happening);
    }
}
