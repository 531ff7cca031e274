//! From a request to the manager: by a server of the pool, in a batch, or at once.

use octavo_manager::{Event, Fault};
use octavo_units::Time;

use crate::alarm::Alarm;
use crate::batch::{Call, Request};
use crate::driver::Driver;
use crate::executor::{Executor, Happening};
use crate::faults::FaultId;
use crate::service::Model;

impl Driver {
    /// Something happened that needs no service.
    pub(crate) fn event(&mut self, now: Time, event: Event<'_>, to: &mut impl Executor) {
        self.tell(now, event, to);
        self.run(now, to);
    }

    /// The manager reacts, and its plans are begun.
    pub(crate) fn tell(&mut self, now: Time, event: Event<'_>, to: &mut impl Executor) {
        self.manager.handle(now, event, &mut self.made);
        self.admit_made(now, to);
        self.trials.forget_ahead();
        self.work_ahead(now, to);
    }

    /// A request waits for service.
    pub(crate) fn request(&mut self, now: Time, request: Request, to: &mut impl Executor) {
        match &mut self.service.0 {
            Model::AtOnce => match request {
                Request::Fault(fault) => self.fault_served(now, fault, to),
                Request::Counter(number) => self.counter_served(now, number, to),
                Request::Again(_) => {}
            },
            Model::Pool(_) if matches!(request, Request::Again(_)) => {}
            Model::Pool(pool) => {
                let (from, until) = pool.serve(now);
                to.hear(now, Happening::Served(request, from, until));
                let alarm = match request {
                    Request::Fault(FaultId(fault)) => Alarm::FaultServed(fault),
                    Request::Counter(number) => Alarm::CounterServed(number),
                    Request::Again(_) => return,
                };
                self.remind(until, alarm, to);
            }
            Model::Batch(queues) => {
                let queue = queues.of(match request {
                    Request::Fault(fault) => self.faults[fault].processor,
                    Request::Counter(number) => self.notifications[number].processor,
                    Request::Again(processor) => processor,
                });
                match queues[queue].request(request) {
                    Call::Now => self.begin_batch_if_idle(now, queue, to),
                    Call::Interrupt(after) => self.remind(now + after, Alarm::BatchTaken(queue as u32), to),
                    Call::No => {}
                }
            }
        }
    }

    pub(crate) fn remind(&mut self, at: Time, alarm: Alarm, to: &mut impl Executor) {
        if !to.remind(at, alarm) {
            self.agenda.set(at, alarm);
        }
    }

    pub(crate) fn fault_served(&mut self, now: Time, id: FaultId, to: &mut impl Executor) {
        let mut batch = std::mem::take(&mut self.batch);
        batch.extend(self.take_up(now, id, to));
        self.hand_in(now, batch, to);
    }

    /// A fault is about to go to the manager. Faults on pages that are about to be freed wait until then. Faults on
    /// freed pages are woken; their accesses find no page when they are tried again. Faults whose mapping has vanished
    /// go to the manager at once.
    pub(crate) fn take_up(&mut self, now: Time, id: FaultId, to: &mut impl Executor) -> Option<Fault> {
        let fault = self.faults.serve(id, now);
        if self.halted {
            self.close_and_kill(now, &fault, to);
            return None;
        }
        if self.frees.contain(fault.page) {
            return None;
        }
        if !self.manager.page(fault.page).allocated {
            self.close_and_wake(now, &fault, to);
            return None;
        }
        if self.faults[id].vanished {
            self.tell(now, Event::Vanished(fault), to);
            return None;
        }
        Some(fault)
    }

    /// Hands a batch of faults to the manager.
    pub(crate) fn hand_in(&mut self, now: Time, mut batch: Vec<Fault>, to: &mut impl Executor) {
        self.tell(now, Event::Faults(&batch), to);
        batch.clear();
        self.batch = batch;
    }

    pub(crate) fn counter_served(&mut self, now: Time, number: u32, to: &mut impl Executor) {
        let notification = self.notifications.remove(number);
        // It may have been freed since the counter fired.
        if self.manager.page(notification.page).allocated {
            self.tell(now, Event::Counter(notification), to);
        }
    }

    pub(crate) fn batch_taken(&mut self, now: Time, queue: usize, to: &mut impl Executor) {
        if let Some(queues) = self.service.queues() {
            queues[queue].taken();
        }
        self.begin_batch_if_idle(now, queue, to);
    }

    /// A fault is over without having been served: its accesses are tried again.
    pub(crate) fn discard(&mut self, now: Time, id: FaultId, to: &mut impl Executor) {
        let fault = self.faults.serve(id, now);
        if self.halted { self.close_and_kill(now, &fault, to) } else { self.close_and_wake(now, &fault, to) }
    }

    fn begin_batch_if_idle(&mut self, now: Time, queue: usize, to: &mut impl Executor) {
        let Model::Batch(queues) = &mut self.service.0 else { return };
        let gpu = queues.gpu(queue);
        let batches = &mut queues[queue];
        let counts = batches.counts_blocks();
        let Some(requests) = batches.begin() else { return };
        let pages = self.manager.geometry().block_pages();
        let faults = requests.iter().filter_map(|request| request.fault()).map(|id| &self.faults[id]);
        let blocks = if counts { blocks(faults.map(|fault| (fault.page.0 / pages, fault.processor.0))) } else { 0 };
        let served = now + batches.duration(blocks);
        to.hear(now, Happening::BatchBegins { gpu, requests: batches.serving(), faults: &self.faults, served });
        self.remind(served, Alarm::BatchServed(queue as u32), to);
    }

    /// The whole batch goes to the manager, faults sorted by page as the production driver sorts them.
    pub(crate) fn batch_served(&mut self, now: Time, queue: usize, to: &mut impl Executor) {
        let Some(queues) = self.service.queues() else { return };
        let serving = queues[queue].served();
        let mut batch = std::mem::take(&mut self.batch);
        for request in &serving {
            match *request {
                Request::Fault(id) => batch.extend(self.take_up(now, id, to)),
                Request::Counter(number) => self.counter_served(now, number, to),
                Request::Again(_) => {}
            }
        }
        batch.sort_by_key(|fault| (fault.page, fault.processor));
        self.hand_in(now, batch, to);
        if let Some(queues) = self.service.queues() {
            queues[queue].recycle(serving);
        }
        self.end_batch_if_done(now, queue, to);
    }

    /// A plan is finished, which may end the batches of several queues.
    pub(crate) fn end_batches_if_done(&mut self, now: Time, to: &mut impl Executor) {
        let queues = self.service.queues().map_or(0, |queues| queues.len());
        (0..queues).for_each(|queue| self.end_batch_if_done(now, queue, to));
    }

    /// When the steps of all plans that serve faults of a queue are done, the served ones are replayed together, and
    /// the next batch starts. A fault that waited inside the manager can be served after its batch; it is then replayed
    /// with the next faults that are done.
    fn end_batch_if_done(&mut self, now: Time, queue: usize, to: &mut impl Executor) {
        let Some(queues) = self.service.queues() else { return };
        let gpu = queues.gpu(queue);
        if !self.plans.serve_no_fault(gpu) {
            return;
        }
        let Some(queues) = self.service.queues() else { return };
        let batches = &mut queues[queue];
        let wakes = batches.held();
        let mut flushed = Vec::new();
        let ends = batches.end();
        if ends {
            flushed = batches.flush();
            to.hear(now, Happening::BatchEnds(gpu));
        }
        for &fault in &wakes {
            self.send_kept_wake(now, fault, to);
        }
        flushed.into_iter().for_each(|fault| self.discard(now, fault, to));
        if let Some(queues) = self.service.queues() {
            queues[queue].recycle_wakes(wakes);
            let look = if ends { queues[queue].look_again() } else { None };
            if let Some(after) = look {
                self.remind(now + after, Alarm::BatchTaken(queue as u32), to);
            }
        }
        self.begin_batch_if_idle(now, queue, to);
    }
}

/// The number of different ones.
fn blocks(of_faults: impl Iterator<Item = (u32, u8)>) -> u64 {
    let mut blocks: Vec<(u32, u8)> = of_faults.collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks.len() as u64
}
