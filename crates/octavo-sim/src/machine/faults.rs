//! A fault on its way: from the access that needs the driver to the host, and from the wake to the replay of everything
//! that waited. In between it is the driver's.

use octavo_driver::{FaultId, Opened, Outstanding};
use octavo_manager::{Access, Fault, HOST, PageId, ProcessorId};

use crate::engine::event::Kind;
use crate::engine::horizon::RESERVED_AHEAD;
use crate::fabric::links::Traffic;
use crate::gpu::fault_buffer::Written;
use crate::gpu::run::Run;
use crate::gpu::units::stalls::Stall;
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen};
use crate::machine::replays::ReplayId;
use crate::machine::waiters::{Queue, Waiter};

impl<L: Listen> Node<'_, L> {
    /// An access of `slot` needs the driver; `walked` is when the GPU knows. A store that comes too late for a load's
    /// fault still waits for it and then faults again.
    #[inline(never)]
    pub fn fault(&mut self, gpu: usize, slot: usize, page: u32, run: Run, time: u64, walked: u64) {
        self.hardware.accesses.faulting_accesses += u64::from(run.count());
        self.hardware.replays.fault_anew();
        self.hardware.waves.begin_pending(slot);
        let waiter = Waiter::new(run, slot, time);
        match self.driver.open_fault(&fault_of(gpu, page, run.is_write())) {
            Opened::Joined(fault) => {
                self.waiters.join(fault, waiter);
                self.hardware.fault_joins(fault, gpu, slot);
            }
            Opened::New(fault) => {
                self.waiters.begin(fault, walked);
                self.waiters.join(fault, waiter);
                self.hardware.fault_begins(fault, slot, (gpu, page, run.is_write()), (time, walked));
            }
        }
    }

    /// An entry of a GPU's faults is written to the buffer that the driver reads. What is mapped by now is tried again.
    pub fn fault_written(&mut self, gpu: usize) {
        let now = self.hardware.clock.now();
        let (written, next) = self.hardware.fault_buffers[gpu].write(now);
        if let Some(time) = next {
            self.hardware.clock.schedule(time, Kind::FaultWritten, gpu as u32);
        }
        match written {
            Some(Written::First(number)) => {
                let Outstanding { page, access, .. } = self.driver.outstanding()[FaultId(number)];
                if self.hardware.gpus[gpu].entry(page.0).allows(access == Access::Write) {
                    self.drive(|driver, now, hardware| driver.fault_withdrawn(now, FaultId(number), hardware));
                } else {
                    self.hardware.send_fault(FaultId(number), (gpu, page.0), now);
                }
            }
            Some(Written::Again) => self.hardware.send_further(gpu, now),
            None => {}
        }
    }

    /// A further entry of a fault is at the host.
    pub fn further_arrives(&mut self, gpu: usize) {
        if self.hardware.fault_buffers[gpu].further_arrives() {
            self.drive(|driver, now, hardware| driver.fault_arrives_again(now, ProcessorId::gpu(gpu), hardware));
        }
    }

    /// The driver sees a fault.
    pub fn fault_arrives(&mut self, number: u32) {
        let id = FaultId(number);
        let Outstanding { processor, page, access, .. } = self.driver.outstanding()[id];
        let write = access == Access::Write;
        self.hardware.say(Happening::FaultArrives { fault: Some(id), gpu: processor, page: page.0, write });
        let early = self.hardware.first_arrives(number, processor);
        self.drive(|driver, now, hardware| {
            driver.fault_arrives(now, id, hardware);
            (0..early).for_each(|_| driver.fault_arrives_again(now, processor, hardware));
        });
    }

    /// A fault's walk ends, and its message leaves.
    pub fn fault_leaves(&mut self, number: u32) {
        let Outstanding { processor, page, .. } = self.driver.outstanding()[FaultId(number)];
        let gpu = processor.gpu_index().unwrap_or_default();
        if !self.hardware.fault_buffers.is_empty() {
            return self.hardware.fault_waits(number, gpu);
        }
        self.hardware.send_fault(FaultId(number), (gpu, page.0), self.hardware.clock.now());
    }

    /// The wake has reached the GPU: everything that waited is replayed.
    pub fn fault_wakes(&mut self, number: u32) {
        let fault = self.driver.wake_arrives(FaultId(number));
        let Queue { walked_at, last_waiter } = self.waiters.of(FaultId(number));
        self.hardware.say(Happening::FaultEnds { fault: FaultId(number) });
        let replay = self.hardware.replays.begin(fault, self.hardware.clock.now());
        // Each is read before the one in front of it is replayed: thousands can wait for a page, and every one lies in
        // another cache line. The records behind it are prefetched meanwhile.
        let mut next = self.waiters.take(last_waiter);
        while let Some(waiter) = next {
            next = self.waiters.take(waiter.next);
            if let Some(next) = &next {
                self.waiters.hint_behind(next);
                self.hardware.waves.hint_record(next.slot as usize);
            }
            let lines = u64::from(waiter.run.count());
            self.hardware.say(Happening::Waited { fault: &fault, since: waiter.since, walked: walked_at, lines });
            self.replay(waiter, replay);
        }
        self.leave_replay(Some(replay));
    }

    fn replay(&mut self, waiter: Waiter, replay: ReplayId) {
        let slot = waiter.slot as usize;
        let (gpu, unit) = self.hardware.waves.place(slot);
        let time = self.hardware.issue_time(gpu, unit);
        self.attempt(Some(replay), waiter.run.count(), |node| {
            if time > node.hardware.clock.now() {
                node.hardware.defer_issue(slot, waiter.run, time);
            } else {
                node.access_again((gpu, unit), slot, waiter.run, time);
            }
        });
        self.hardware.end_pending(slot, (Stall::Fault, self.hardware.page_of(waiter.run.line())));
    }
}

/// An access that needs the driver, as the driver sees it.
pub(crate) const fn fault_of(gpu: usize, page: u32, write: bool) -> Fault {
    let access = if write { Access::Write } else { Access::Read };
    Fault { processor: ProcessorId::gpu(gpu), page: PageId(page), access }
}

impl<L: Listen> Hardware<'_, L> {
    /// A fault that the GPU knows of at `walked`, for an access that came at `since`, begins its way.
    fn fault_begins(
        &mut self,
        fault: FaultId,
        slot: usize,
        (gpu, page, write): (usize, u32, bool),
        (since, walked): (u64, u64),
    ) {
        self.accesses.faults += 1;
        self.say(Happening::FaultBegins { fault, gpu, page, write, at: walked.max(self.clock.now()), since });
        if let Some(buffer) = self.fault_buffers.get_mut(gpu) {
            buffer.begin(fault.0, self.waves.place(slot).1);
            self.clock.schedule(walked.max(self.clock.now()), Kind::FaultLeaves, fault.0);
        } else if walked > self.clock.now() + RESERVED_AHEAD {
            self.clock.schedule(walked, Kind::FaultLeaves, fault.0);
        } else {
            self.send_fault(fault, (gpu, page), walked);
        }
    }

    /// The entries of a fault wait to be written to the buffer.
    fn fault_waits(&mut self, number: u32, gpu: usize) {
        if let Some(time) = self.fault_buffers[gpu].walked(self.clock.now(), number) {
            self.clock.schedule(time, Kind::FaultWritten, gpu as u32);
        }
    }

    /// The unit of a wavefront has a fault, too.
    fn fault_joins(&mut self, fault: FaultId, gpu: usize, slot: usize) {
        let (now, (_, unit)) = (self.clock.now(), self.waves.place(slot));
        if let Some(time) = self.fault_buffers.get_mut(gpu).and_then(|buffer| buffer.join(now, fault.0, unit)) {
            self.clock.schedule(time, Kind::FaultWritten, gpu as u32);
        }
    }

    /// The fault travels to the host, where its walk is done before the driver sees it.
    fn send_fault(&mut self, fault: FaultId, (gpu, page): (usize, u32), walked: u64) {
        let (left, walk_on_host) = self.forward_walk(gpu, page, walked);
        let at_host = self.send_to_host(left, gpu, self.costs.fault_bytes);
        let next = if walk_on_host { Kind::FaultAtHost } else { Kind::FaultArrives };
        self.clock.schedule(at_host, next, fault.0);
    }

    /// A further entry of a fault travels to the host.
    fn send_further(&mut self, gpu: usize, written: u64) {
        let at_host = self.send_to_host(written, gpu, self.costs.fault_bytes);
        self.clock.schedule(at_host, Kind::FurtherArrives, gpu as u32);
    }

    /// The driver gets a fault's first entry: how many further ones wait behind it.
    fn first_arrives(&mut self, number: u32, processor: ProcessorId) -> u32 {
        let buffer = processor.gpu_index().and_then(|gpu| self.fault_buffers.get_mut(gpu));
        buffer.map_or(0, |buffer| buffer.first_arrives(number))
    }

    /// The fault's message has arrived at the host, which walks its page table.
    pub fn fault_at_host(&mut self, number: u32) {
        let walked = self.host_walkers.walk(self.clock.now());
        self.say(Happening::WalkedOnHost { fault: FaultId(number), until: walked });
        self.clock.schedule(walked, Kind::FaultArrives, number);
    }

    /// The wake of a fault travels to its GPU.
    pub fn send_wake(&mut self, id: FaultId, processor: ProcessorId) {
        if let Some(buffer) = processor.gpu_index().and_then(|gpu| self.fault_buffers.get_mut(gpu)) {
            buffer.end(id.0);
        }
        let path = (HOST, processor);
        let arrives =
            self.links.send(self.clock.now(), self.clock.now(), path, self.costs.fault_bytes, Traffic::Control);
        self.clock.schedule(arrives, Kind::FaultWakes, id.0);
        self.say(Happening::WakeLeaves { fault: id, arrives });
    }
}
