//! Faults: from the access that needs the driver to the replay of everything that waited.

use octavo_manager::{Access, Cause, Event as ManagerEvent, Fault as ManagerFault, HOST, PageId, ProcessorId};
use rustc_hash::FxHashMap;

use crate::engine::event::Kind;
use crate::engine::horizon::RESERVED_AHEAD;
use crate::engine::slab::Slab;
use crate::fabric::links::Traffic;
use crate::gpu::run::Run;
use crate::machine::node::Node;
use crate::observe::record::timeline::EventKind;

const NONE: u32 = u32::MAX;

/// One outstanding fault of one GPU on one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub gpu: u8,
    pub page: u32,
    pub write: bool,
    /// The manager has it, so a more demanding access can no longer join.
    served: bool,
    /// When the driver had served it.
    served_at: u64,
    /// When the GPU's walk had found no mapping.
    walked_at: u64,
    first_waiter: u32,
    /// What resolved it and how much of that was eviction.
    cause: Cause,
    evicting: u64,
}

/// Lines that an instruction wants from a faulting page.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    run: Run,
    slot: u32,
    since: u64,
    next: u32,
}

/// All outstanding faults.
#[derive(Default)]
pub(crate) struct Faults {
    faults: Slab<Fault>,
    waiters: Slab<Waiter>,
    /// By (page, GPU). Looked up by accesses that found no usable mapping, never by those that found one. Nobody goes
    /// through it: its order is no one's.
    open: FxHashMap<(u32, u8), u32>,
}

impl Faults {
    /// Whether an outstanding fault of `gpu` on `page` will serve such an access too.
    pub fn pending(&self, gpu: usize, page: u32, write: bool) -> bool {
        self.open.get(&(page, gpu as u8)).is_some_and(|&fault| self.joinable(fault, write))
    }

    /// The outstanding fault of `gpu` on `page`.
    pub fn outstanding(&self, gpu: usize, page: u32) -> Option<u32> {
        self.open.get(&(page, gpu as u8)).copied()
    }

    /// How many faults are outstanding.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// A waiter, which no longer waits.
    fn take_waiter(&mut self, number: u32) -> Option<Waiter> {
        (number != NONE).then(|| self.waiters.remove(number))
    }

    fn hint_waiter(&self, number: u32) {
        self.waiters.hint(number);
    }

    fn joinable(&self, fault: u32, write: bool) -> bool {
        let fault = &self.faults[fault];
        !write || fault.write || !fault.served
    }
}

impl Node<'_> {
    /// An access of `slot` needs the driver; `walked` is when the GPU knows.
    #[inline(never)]
    pub fn fault(&mut self, gpu: usize, slot: usize, page: u32, run: Run, time: u64, walked: u64) {
        self.accesses.faulting_accesses += u64::from(run.count());
        self.waves.waves[slot].pending += 1;
        let waiter = Waiter { run, slot: slot as u32, since: time, next: NONE };
        let open = self.faults.open.get(&(page, gpu as u8)).copied();
        match open {
            // A store that comes too late for a load's fault waits for it all the same and then faults again.
            Some(fault) => self.join(fault, waiter),
            None => {
                let fault = self.open_fault(gpu, page, run.is_write(), walked);
                self.join(fault, waiter);
                if walked > self.now + RESERVED_AHEAD {
                    self.schedule(walked, Kind::FaultLeaves, fault);
                } else {
                    self.send_fault(fault, walked);
                }
            }
        }
    }

    fn open_fault(&mut self, gpu: usize, page: u32, write: bool, walked_at: u64) -> u32 {
        let number = self.faults.faults.insert(Fault {
            gpu: gpu as u8,
            page,
            write,
            served: false,
            served_at: 0,
            walked_at,
            first_waiter: NONE,
            cause: Cause::Migration,
            evicting: 0,
        });
        self.faults.open.insert((page, gpu as u8), number);
        self.accesses.faults += 1;
        if let Some(spans) = &mut self.spans {
            spans.fault_began(number, gpu, page, write, walked_at.max(self.now));
        }
        number
    }

    fn join(&mut self, number: u32, mut waiter: Waiter) {
        let fault = &mut self.faults.faults[number];
        fault.write |= waiter.run.is_write() && !fault.served;
        waiter.next = fault.first_waiter;
        let waiter = self.faults.waiters.insert(waiter);
        self.faults.faults[number].first_waiter = waiter;
    }

    pub fn fault_leaves(&mut self, number: u32) {
        self.send_fault(number, self.now);
    }

    /// The fault travels to the host, where its walk is done before the driver sees it.
    fn send_fault(&mut self, number: u32, walked: u64) {
        let fault = self.faults.faults[number];
        let own = ProcessorId::gpu(fault.gpu as usize);
        let (left, walk_on_host) = self.forward_walk(fault.gpu as usize, fault.page, walked);
        let at_host = self.links.send(self.now, left, (own, HOST), self.costs.fault_bytes, Traffic::Control);
        let next = if walk_on_host { Kind::FaultAtHost } else { Kind::FaultArrives };
        self.schedule(at_host, next, number);
    }

    pub fn fault_at_host(&mut self, number: u32) {
        let walked = self.service.walk(self.now, self.costs.host_walk);
        self.schedule(walked, Kind::FaultArrives, number);
    }

    /// The driver sees a fault.
    pub fn fault_arrives(&mut self, number: u32) {
        let fault = &self.faults.faults[number];
        let kind = if fault.write { EventKind::WriteFault } else { EventKind::ReadFault };
        self.recorder.fault(self.now, kind, fault.gpu, fault.page);
        self.request_fault_service(number);
    }

    /// The driver hands a served fault to the manager.
    pub fn fault_served(&mut self, number: u32) {
        let fault = self.mark_served(number);
        self.manager.handle(ManagerEvent::Faults(&[fault]), &mut self.made);
        self.start_made_plans();
    }

    /// The fault as the manager sees it; nothing can be merged into it any more.
    pub fn mark_served(&mut self, number: u32) -> ManagerFault {
        let fault = &mut self.faults.faults[number];
        fault.served = true;
        fault.served_at = self.now;
        let access = if fault.write { Access::Write } else { Access::Read };
        ManagerFault { processor: ProcessorId::gpu(fault.gpu as usize), page: PageId(fault.page), access }
    }

    pub fn faulting_page(&self, number: u32) -> u32 {
        self.faults.faults[number].page
    }

    pub fn faulting_gpu(&self, number: u32) -> usize {
        self.faults.faults[number].gpu as usize
    }

    /// A plan resolved the fault of `gpu` on `page`, if there is one: it is closed and its wake is under way.
    pub fn wake_fault(&mut self, gpu: usize, page: u32, cause: Cause, evicting: u64) -> Option<u32> {
        let number = *self.faults.open.get(&(page, gpu as u8))?;
        if !self.faults.faults[number].served {
            return None; // The driver has not seen it yet; it will find the page mapped.
        }
        self.faults.open.remove(&(page, gpu as u8));
        let fault = &mut self.faults.faults[number];
        fault.cause = cause;
        fault.evicting = evicting;
        Some(number)
    }

    /// The wake has reached the GPU: everything that waited is replayed.
    pub fn fault_wakes(&mut self, number: u32) {
        let fault = self.faults.faults.remove(number);
        if let Some(spans) = &mut self.spans {
            spans.fault_ended(number, self.now);
        }
        // Each is read before the one in front of it is replayed: thousands can wait for a page, and every one lies in
        // another cache line. What comes behind it is asked for meanwhile.
        let mut next = self.faults.take_waiter(fault.first_waiter);
        while let Some(waiter) = next {
            next = self.faults.take_waiter(waiter.next);
            if let Some(next) = &next {
                self.faults.hint_waiter(next.next);
                self.waves.hint_record(next.slot as usize);
            }
            self.account_wait(&fault, &waiter);
            self.replay(fault.gpu as usize, waiter);
        }
        self.finish_plan_of_wake(number);
    }

    fn replay(&mut self, gpu: usize, waiter: Waiter) {
        let slot = waiter.slot as usize;
        let unit = self.place(slot).1;
        let time = self.issue_time(gpu, unit);
        self.access_page(gpu, unit, slot, waiter.run, time);
        self.end_pending(slot);
    }

    /// Books the time a waiter waited: GPU walk, host and driver, then what resolved the fault.
    fn account_wait(&mut self, fault: &Fault, waiter: &Waiter) {
        let lines = u64::from(waiter.run.count());
        // An access issued ahead of the clock may join a fault that is resolved before its own time.
        let since = waiter.since.min(self.now);
        let walked = fault.walked_at.clamp(since, self.now);
        let served = fault.served_at.clamp(walked, self.now);
        let resolving = self.now - served;
        let evicting = fault.evicting.min(resolving);
        let breakdown = &mut self.breakdown;
        breakdown.walk_ps += (walked - since) * lines;
        breakdown.host_ps += (served - walked) * lines;
        breakdown.eviction_ps += evicting * lines;
        *match fault.cause {
            Cause::Migration => &mut breakdown.migration_ps,
            Cause::RemoteMap => &mut breakdown.remote_access_ps,
            Cause::Duplication => &mut breakdown.duplication_ps,
            Cause::WriteCollapse => &mut breakdown.write_collapse_ps,
            Cause::Eviction => &mut breakdown.eviction_ps,
            Cause::Prefetch => &mut breakdown.prefetch_ps,
        } += (resolving - evicting) * lines;
    }

    /// Resolves a store fault that costs nothing (`ideal`); `false` if the manager makes it wait for another plan.
    pub fn resolve_for_free(&mut self, gpu: usize, page: u32) -> bool {
        let fault = ManagerFault { processor: ProcessorId::gpu(gpu), page: PageId(page), access: Access::Write };
        self.manager.handle(ManagerEvent::Faults(&[fault]), &mut self.made);
        self.carry_out_made_plans_at_once();
        self.gpus[gpu].table.get(page).allows(true)
    }
}
