//! Plans are carried out step by step, and acknowledged when the last step is done and the last wake has arrived.

use octavo_manager::{Event, Fault, HOST, PageRun, Plan, PlanClass, ProcessorId, Step};
use octavo_units::Time;

use crate::alarm::Alarm;
use crate::driver::Driver;
use crate::executor::{Begun, Executor, Happening, Ticket, Wake};
use crate::faults::FaultId;

impl Driver {
    /// Begins the plans that the manager has just made. If a strategy failed, they mean nothing, and the plan ends.
    pub(crate) fn admit_made(&mut self, now: Time, to: &mut impl Executor) {
        if self.halted || self.manager.failure().is_some() || self.manager.out_of_memory().is_some() {
            return self.halt(now, to);
        }
        let mut made = std::mem::take(&mut self.made);
        let mut demand = None;
        for plan in made.drain(..) {
            match (plan.class, demand) {
                (PlanClass::Prefetch, Some(slot)) => self.plans.running[slot].followers.push(plan),
                (PlanClass::Demand, _) => demand = Some(self.admit(now, plan, to)),
                _ => _ = self.admit(now, plan, to),
            }
        }
        self.made = made;
    }

    /// The steps of a plan are done: pages that were prefetched with it come now, and a batch that waited for it may
    /// end.
    fn end_steps(&mut self, now: Time, slot: u32, to: &mut impl Executor) {
        for plan in std::mem::take(&mut self.plans.running[slot].followers) {
            self.admit(now, plan, to);
        }
        self.plans.leave_batch(slot);
        if self.plans.running[slot].is_done() {
            self.end_if_done(now, slot, to);
        } else {
            self.end_batches_if_done(now, to);
        }
    }

    fn admit(&mut self, now: Time, plan: Plan, to: &mut impl Executor) -> u32 {
        let slot = self.plans.insert(plan);
        let progress = &mut self.plans.running[slot];
        let begun = to.admit(now, Ticket { slot, step: 0 }, &progress.plan);
        let starts = if let Begun::At(_, time) = begun { time } else { now };
        to.hear(now, Happening::PlanBegins { slot, plan: &progress.plan, starts, faults: &self.faults });
        match begun {
            Begun::Done(steps) => {
                progress.next += steps;
                self.ready.push(slot);
            }
            Begun::At(steps, time) => {
                progress.next += steps;
                self.remind(time, Alarm::Plan(slot), to);
            }
            Begun::Later(steps) => (progress.later, progress.began) = (Some(steps), now),
            Begun::Refused(refusal) => panic!("nothing was asked for that can be refused: {refusal:?}"),
        }
        slot
    }

    /// Carries out steps until one takes time.
    pub(crate) fn advance(&mut self, now: Time, slot: u32, to: &mut impl Executor) {
        loop {
            let progress = &mut self.plans.running[slot];
            let left = &progress.plan.steps[progress.next as usize..];
            match left.first() {
                None => return self.end_steps(now, slot, to),
                Some(&Step::Wake { processor, pages }) => {
                    progress.next += 1;
                    self.wake(now, slot, processor, pages, to);
                    continue;
                }
                Some(_) => {}
            }
            match to.begin(now, Ticket { slot, step: progress.next }, left) {
                Begun::Done(steps) => progress.next += steps,
                Begun::At(steps, time) => {
                    if progress.makes_room() {
                        progress.evicting += time - now;
                    }
                    progress.next += steps;
                    return self.remind(time, Alarm::Plan(slot), to);
                }
                Begun::Later(steps) => {
                    (progress.later, progress.began) = (Some(steps), now);
                    return;
                }
                Begun::Refused(refusal) => return self.give_up(now, slot, refusal, to),
            }
        }
    }

    /// Steps that were under way have ended.
    pub(crate) fn steps_done(&mut self, now: Time, ticket: Ticket) {
        let (progress, steps) = self.plans.end_steps(now, ticket);
        progress.next += steps;
    }

    /// Faults of `processor` on `pages` end. A batch keeps wakes until its end, except for those of the host, which
    /// belong to no batch.
    fn wake(&mut self, now: Time, slot: u32, processor: ProcessorId, pages: PageRun, to: &mut impl Executor) {
        let progress = &self.plans.running[slot];
        let (cause, evicting) = (progress.plan.cause, progress.evicting);
        for page in pages.iter() {
            let Some(fault) = self.faults.close((processor, page), cause, evicting, Some(slot)) else { continue };
            self.plans.running[slot].wakes += 1;
            if processor != HOST
                && let Some(queues) = self.service.queues().filter(|queues| queues.hold_wakes())
            {
                let queue = queues.of(processor);
                queues[queue].hold(fault);
            } else if self.send_wake(now, fault, to) == Wake::Arrived {
                self.plans.running[slot].wakes -= 1;
            }
        }
    }

    /// The wake of a closed fault that a batch kept leaves.
    pub(crate) fn send_kept_wake(&mut self, now: Time, id: FaultId, to: &mut impl Executor) {
        let plan = self.faults[id].plan;
        if self.send_wake(now, id, to) == Wake::Arrived
            && let Some(slot) = plan
        {
            let progress = &mut self.plans.running[slot];
            progress.wakes -= 1;
            if progress.is_done() {
                self.ready.push(slot);
            }
        }
    }

    /// The wake of a closed fault leaves.
    pub(crate) fn send_wake(&mut self, now: Time, id: FaultId, to: &mut impl Executor) -> Wake {
        let wake = to.wake(now, id, &self.faults[id]);
        if wake == Wake::Arrived {
            self.faults.remove(id);
        }
        wake
    }

    /// Ends a fault without a plan; its accesses try again.
    pub(crate) fn close_and_wake(&mut self, now: Time, fault: &Fault, to: &mut impl Executor) {
        let place = (fault.processor, fault.page);
        if let Some(id) = self.faults.close(place, octavo_manager::Cause::Migration, Time::ZERO, None) {
            _ = self.send_wake(now, id, to);
        }
    }

    /// Ends a fault of a driver that has halted; its accesses are killed.
    pub(crate) fn close_and_kill(&mut self, now: Time, fault: &Fault, to: &mut impl Executor) {
        let place = (fault.processor, fault.page);
        if let Some(id) = self.faults.close(place, octavo_manager::Cause::Migration, Time::ZERO, None) {
            self.kill(now, id, to);
        }
    }

    /// Acknowledges a plan whose steps and wake-ups are done; work that waited for its pages continues.
    pub(crate) fn end_if_done(&mut self, now: Time, slot: u32, to: &mut impl Executor) {
        let progress = &self.plans.running[slot];
        if !progress.is_done() {
            return;
        }
        to.hear(now, Happening::PlanEnds { slot, plan: &progress.plan, manager: &self.manager });
        let plan = self.plans.remove(slot);
        self.acknowledge(now, plan);
        self.admit_made(now, to);
        self.after_plan(now, to);
    }

    fn acknowledge(&mut self, now: Time, plan: Plan) {
        self.trials.done(&plan);
        self.manager.complete(now, plan.id, &mut self.made);
        self.manager.recycle(plan);
    }

    /// Faults that cost nothing, and that no processor has to wait for: the manager's plans are carried out at once by
    /// `free`, which answers `Done` to everything and is not asked to admit. Plans that follow from their ends are
    /// begun by the call of [`go_on`](Self::go_on) that has to come next. A fault on a page that a plan holds is not
    /// one of them: it has to take the path of the others.
    ///
    /// # Panics
    /// If `free` takes time.
    pub fn resolve_at_once(&mut self, now: Time, fault: &Fault, free: &mut impl Executor) {
        debug_assert!(self.made.is_empty(), "plans are begun when they are made");
        if self.is_busy(PageRun::one(fault.page)) {
            return;
        }
        self.manager.handle(now, Event::Faults(std::slice::from_ref(fault)), &mut self.made);
        for plan in std::mem::take(&mut self.made) {
            let mut next = 0;
            while let Some(&step) = plan.steps.get(next) {
                if let Step::Wake { processor, pages } = step {
                    pages.iter().for_each(|page| self.wake_at_once(now, (processor, page), &plan, free));
                    next += 1;
                    continue;
                }
                let ticket = Ticket { slot: u32::MAX, step: next as u32 };
                let Begun::Done(steps) = free.begin(now, ticket, &plan.steps[next..]) else {
                    panic!("{step:?} takes time");
                };
                next += steps as usize;
            }
            self.acknowledge(now, plan);
        }
    }

    fn wake_at_once(
        &mut self,
        now: Time,
        place: (ProcessorId, octavo_manager::PageId),
        plan: &Plan,
        free: &mut impl Executor,
    ) {
        if let Some(id) = self.faults.close(place, plan.cause, Time::ZERO, None) {
            _ = self.send_wake(now, id, free);
        }
    }

    /// Begins what followed from faults that were [resolved at once](Self::resolve_at_once).
    pub fn go_on(&mut self, now: Time, to: &mut impl Executor) {
        self.admit_made(now, to);
        self.work_ahead(now, to);
        self.run(now, to);
    }
}
