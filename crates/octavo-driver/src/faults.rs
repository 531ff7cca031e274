//! Outstanding faults: opened, merged, served, closed.

use octavo_manager::{Access, Cause, Fault, PageId, PageRun, ProcessorId};
use octavo_units::Time;
use rustc_hash::FxHashMap;

use crate::slab::Slab;

/// Number of a fault from when it is opened until its wake has arrived; then it is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaultId(pub u32);

/// One fault of one processor on one page, for all accesses that wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outstanding {
    /// The faulting processor.
    pub processor: ProcessorId,
    /// The page that it faulted on.
    pub page: PageId,
    /// The most demanding access that joined before it was served.
    pub access: Access,
    /// The manager has it, so that a more demanding access can no longer join.
    pub served: bool,
    /// The time when the manager got it.
    pub served_at: Time,
    /// The plan or mapping that resolved it; has no meaning before it is woken.
    pub cause: Cause,
    /// The part of that time for making room; has no meaning before it is woken.
    pub evicting: Time,
    /// Whether the page was believed to be mapped when it was opened.
    pub(crate) vanished: bool,
    /// The plan that its wake belongs to, by its slot.
    pub(crate) plan: Option<u32>,
}

impl Outstanding {
    fn new(fault: &Fault) -> Self {
        Self {
            processor: fault.processor,
            page: fault.page,
            access: fault.access,
            served: false,
            served_at: Time::ZERO,
            cause: Cause::Migration,
            evicting: Time::ZERO,
            vanished: false,
            plan: None,
        }
    }

    /// The fault in the manager's form.
    #[must_use]
    pub fn fault(&self) -> Fault {
        Fault { processor: self.processor, page: self.page, access: self.access }
    }
}

/// The result of an access that faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// A new fault: it is now to be brought to the driver, see [`Driver::fault_arrives`](crate::Driver::fault_arrives).
    New(FaultId),
    /// The processor has one on this page already. A joining access is woken with it; a store that came too late to be
    /// served with it then faults again.
    Joined(FaultId),
}

impl Opened {
    /// The fault, new or not.
    #[must_use]
    pub fn fault(self) -> FaultId {
        match self {
            Self::New(fault) | Self::Joined(fault) => fault,
        }
    }
}

/// All outstanding faults. A processor has at most one open fault on a page; in addition there can be one whose wake-up
/// is on its way.
#[derive(Default)]
pub struct Faults {
    faults: Slab<Outstanding>,
    /// By page and processor. Looked up by accesses that found no usable mapping, never by those that found one.
    /// Never iterated, so hash order cannot leak.
    open: FxHashMap<(PageId, ProcessorId), FaultId>,
}

impl Faults {
    /// The open fault of `processor` on `page`.
    #[must_use]
    pub fn outstanding(&self, processor: ProcessorId, page: PageId) -> Option<FaultId> {
        self.open.get(&(page, processor)).copied()
    }

    /// Whether an open fault will serve such an access too.
    #[must_use]
    #[inline]
    pub fn will_serve(&self, processor: ProcessorId, page: PageId, access: Access) -> bool {
        self.outstanding(processor, page).is_some_and(|FaultId(number)| {
            let fault = &self.faults[number];
            access <= fault.access || !fault.served
        })
    }

    /// The faults that are open, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Outstanding> {
        let open =
            |number: u32, fault: &Outstanding| self.outstanding(fault.processor, fault.page) == Some(FaultId(number));
        self.faults.iter().filter(move |(number, fault)| open(*number, fault)).map(|(_, fault)| fault)
    }

    /// The number of open faults: those whose wake-up is on its way do not count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether no fault is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// An access faults: a new fault is opened, or it joins the open one.
    pub(crate) fn open(&mut self, fault: &Fault) -> Opened {
        if let Some(id) = self.outstanding(fault.processor, fault.page) {
            let known = &mut self.faults[id.0];
            if !known.served {
                known.access = known.access.max(fault.access);
            }
            return Opened::Joined(id);
        }
        let id = FaultId(self.faults.insert(Outstanding::new(fault)));
        self.open.insert((fault.page, fault.processor), id);
        Opened::New(id)
    }

    /// The mapping that should have served the fault has vanished.
    pub(crate) fn vanished(&mut self, id: FaultId) {
        self.faults[id.0].vanished = true;
    }

    /// The manager gets the fault now.
    pub(crate) fn serve(&mut self, id: FaultId, now: Time) -> Fault {
        let fault = &mut self.faults[id.0];
        fault.served = true;
        fault.served_at = now;
        fault.fault()
    }

    /// Closes the fault of `processor` on `page`, whose wake-up is about to leave. `None` if there is none, or none
    /// that the manager has had: that one will find the page mapped.
    pub(crate) fn close(
        &mut self,
        (processor, page): (ProcessorId, PageId),
        cause: Cause,
        evicting: Time,
        plan: Option<u32>,
    ) -> Option<FaultId> {
        let id = self.outstanding(processor, page).filter(|id| self.faults[id.0].served)?;
        self.open.remove(&(page, processor));
        let fault = &mut self.faults[id.0];
        (fault.cause, fault.evicting, fault.plan) = (cause, evicting, plan);
        Some(id)
    }

    /// Closes one open fault with the manager that is on a page of `run`, the one with the lowest number.
    pub(crate) fn close_in(&mut self, run: PageRun) -> Option<FaultId> {
        self.close_first(|page| page.0.wrapping_sub(run.first.0) < run.count)
    }

    /// Closes one open fault with the manager, the one with the lowest number.
    pub(crate) fn close_any(&mut self) -> Option<FaultId> {
        self.close_first(|_| true)
    }

    fn close_first(&mut self, concerned: impl Fn(PageId) -> bool) -> Option<FaultId> {
        let on = |fault: &Outstanding| fault.served && concerned(fault.page);
        let open =
            |number: u32, fault: &Outstanding| self.outstanding(fault.processor, fault.page) == Some(FaultId(number));
        let found = self.faults.iter().find(|(number, fault)| on(fault) && open(*number, fault));
        let (processor, page) = found.map(|(_, fault)| (fault.processor, fault.page))?;
        self.close((processor, page), Cause::Migration, Time::ZERO, None)
    }

    /// The wake-up has arrived: the fault no longer exists.
    pub(crate) fn remove(&mut self, id: FaultId) -> Outstanding {
        self.faults.remove(id.0)
    }
}

impl std::ops::Index<FaultId> for Faults {
    type Output = Outstanding;
    /// # Panics If the fault no longer exists.
    #[inline]
    fn index(&self, id: FaultId) -> &Outstanding {
        &self.faults[id.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: ProcessorId = ProcessorId::gpu(0);

    fn fault(access: Access) -> Fault {
        Fault { processor: GPU, page: PageId(7), access }
    }

    #[test]
    fn accesses_join_until_the_manager_has_the_fault() {
        let mut faults = Faults::default();
        let Opened::New(id) = faults.open(&fault(Access::Read)) else { panic!("the first is new") };
        assert!(faults.will_serve(GPU, PageId(7), Access::Write), "a store can still join");
        assert_eq!(faults.close((GPU, PageId(7)), Cause::Migration, Time::ZERO, None), None, "nobody had it");
        assert_eq!(faults.serve(id, Time(5)).access, Access::Read);
        assert_eq!(faults.open(&fault(Access::Write)), Opened::Joined(id));
        assert!(!faults.will_serve(GPU, PageId(7), Access::Write), "the store came too late");
        assert!(faults.will_serve(GPU, PageId(7), Access::Read));
        assert_eq!(faults[id].access, Access::Read);
    }

    #[test]
    fn a_page_can_fault_again_while_its_wake_is_under_way() {
        let mut faults = Faults::default();
        let first = faults.open(&fault(Access::Write)).fault();
        faults.serve(first, Time(1));
        assert_eq!(faults.close((GPU, PageId(7)), Cause::RemoteMap, Time(3), Some(2)), Some(first));
        assert!(matches!(faults.open(&fault(Access::Read)), Opened::New(second) if second != first));
        let woken = faults.remove(first);
        assert_eq!((woken.cause, woken.evicting, woken.plan), (Cause::RemoteMap, Time(3), Some(2)));
        assert_eq!(faults.len(), 1);
    }

    #[test]
    fn faults_of_a_run_are_closed_one_by_one() {
        let mut faults = Faults::default();
        for page in [4, 9, 5] {
            let id = faults.open(&Fault { page: PageId(page), ..fault(Access::Read) }).fault();
            faults.serve(id, Time::ZERO);
        }
        let run = PageRun { first: PageId(4), count: 2 };
        let closed = [0, 1].map(|_| faults.close_in(run).map(|id| faults[id].page.0));
        assert_eq!(closed, [Some(4), Some(5)]);
        assert_eq!(faults.close_in(run), None);
        assert_eq!(faults.len(), 1);
    }
}
