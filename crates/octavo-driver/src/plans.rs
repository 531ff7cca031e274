//! Plans under way, and how far each of them is.

use octavo_manager::{Plan, Step};
use octavo_units::Time;

use crate::executor::Ticket;
use crate::slab::Slab;

/// A plan being carried out.
pub(crate) struct Progress {
    pub plan: Plan,
    /// Steps that are done, or will be at the next alarm.
    pub next: u32,
    /// Steps that have started and whose end the executor reports.
    pub later: Option<u32>,
    /// When those began.
    pub began: Time,
    /// Time spent on making room.
    pub evicting: Time,
    /// Plans that begin when the steps of this one are done.
    pub followers: Vec<Plan>,
    /// Wake-ups that a batch keeps or that are on their way; the plan is acknowledged when the last one is done.
    pub wakes: u32,
    /// A batch ends only after the plan's steps.
    in_batch: bool,
}

impl Progress {
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            next: 0,
            later: None,
            began: Time::ZERO,
            evicting: Time::ZERO,
            followers: Vec::new(),
            wakes: 0,
            in_batch: true,
        }
    }

    /// Whether the next step is among those that make room.
    pub fn makes_room(&self) -> bool {
        self.plan.makes_room(self.next)
    }

    /// Whether all its work is done.
    pub fn is_done(&self) -> bool {
        self.wakes == 0 && self.later.is_none() && self.next as usize >= self.plan.steps.len()
    }
}

/// Plans under way, by slot.
#[derive(Default)]
pub(crate) struct Plans {
    pub running: Slab<Progress>,
    /// Plans that wake faults of GPUs and whose steps are not done; a batch of all GPUs ends when there are none. What
    /// the host waits for belongs to no batch.
    serving: usize,
    /// Those that wake faults of a GPU; a batch of that GPU ends when there are none.
    serving_gpu: Vec<usize>,
}

impl Plans {
    pub fn insert(&mut self, plan: Plan) -> u32 {
        self.serving += usize::from(serves_gpus(&plan));
        for gpu in woken_gpus(&plan) {
            if self.serving_gpu.len() <= gpu {
                self.serving_gpu.resize(gpu + 1, 0);
            }
            self.serving_gpu[gpu] += 1;
        }
        self.running.insert(Progress::new(plan))
    }

    pub fn remove(&mut self, slot: u32) -> Plan {
        self.leave_batch(slot);
        self.running.remove(slot).plan
    }

    /// The steps of a plan are done, or the plan is finished: no batch waits for it any more.
    pub fn leave_batch(&mut self, slot: u32) {
        let Progress { plan, in_batch, .. } = &mut self.running[slot];
        if std::mem::take(in_batch) {
            self.serving -= usize::from(serves_gpus(plan));
            woken_gpus(plan).for_each(|gpu| self.serving_gpu[gpu] -= 1);
        }
    }

    /// The steps in progress under this ticket are done. Gives their plan and their number.
    ///
    /// # Panics
    /// If nothing was.
    pub fn end_steps(&mut self, now: Time, ticket: Ticket) -> (&mut Progress, u32) {
        let progress = self.running.get_mut(ticket.slot).filter(|progress| progress.next == ticket.step);
        let (progress, steps) = progress
            .and_then(|progress| progress.later.take().map(|steps| (progress, steps)))
            .expect("what is finished was under way");
        if progress.makes_room() {
            progress.evicting += now - progress.began;
        }
        (progress, steps)
    }

    /// Whether the steps of all plans that wake faults of a GPU, or of any GPU, are done.
    pub fn serve_no_fault(&self, gpu: Option<usize>) -> bool {
        gpu.map_or(self.serving, |gpu| self.serving_gpu.get(gpu).copied().unwrap_or_default()) == 0
    }
}

/// GPUs whose faults a plan wakes, each once or several times.
fn woken_gpus(plan: &Plan) -> impl Iterator<Item = usize> + '_ {
    plan.steps.iter().filter_map(|step| match step {
        Step::Wake { processor, .. } => processor.gpu_index(),
        _ => None,
    })
}

fn serves_gpus(plan: &Plan) -> bool {
    woken_gpus(plan).next().is_some()
}
