//! Turns of the work-groups of one job on one GPU.

use octavo_program::Workload;
use octavo_program::{Op, OpKind};

use crate::functional::counts::Kind;
use crate::functional::group::{Next, Places, Queues};
use crate::functional::machine::Machine;
use crate::machine::occurrence::Listen;

/// The work-groups of one GPU in a launch of a job.
#[derive(Default)]
pub(super) struct Turns {
    pub job: usize,
    gpu: usize,
    /// Its place among the GPUs of the job.
    own: usize,
    places: Places,
    /// Places with a work-group that has not ended, in order.
    order: Vec<u32>,
    /// The next turn, as an index into the order.
    turn: usize,
}

/// What runs: the streams, and the number of memory instructions in a turn of a wavefront.
#[derive(Clone, Copy)]
pub(super) struct Streams<'a> {
    pub workload: &'a dyn Workload,
    pub launch: u32,
    pub turn: u32,
}

impl Turns {
    /// Turns of a job on a GPU; `own` is the GPU's place among the job's GPUs.
    pub fn of(job: usize, gpu: usize, own: usize) -> Self {
        Self { job, gpu, own, ..Self::default() }
    }

    /// Takes work-groups of this many wavefronts, at most `room`, from the queue.
    pub fn begin(&mut self, room: usize, wavefronts: u32, queues: &mut Queues) {
        self.places.clear(wavefronts);
        self.turn = 0;
        while self.places.len() < room
            && let Some(group) = queues.take(self.own)
        {
            self.places.begin(self.places.len(), group);
        }
        self.order.clear();
        self.order.extend(0..self.places.len() as u32);
    }

    /// Whether no work-group is in flight.
    pub fn is_over(&self) -> bool {
        self.order.is_empty()
    }

    /// Whether each work-group in flight has had its turn in this round.
    pub fn has_had_all(&self) -> bool {
        self.turn >= self.order.len()
    }

    /// All work-groups in flight have a turn again.
    pub fn begin_round(&mut self) {
        self.turn = 0;
    }

    /// The next work-group has its turn, which not [all](Self::has_had_all) have had; whether it ended.
    pub fn next<L: Listen>(&mut self, machine: &mut Machine<L>, streams: Streams<'_>, queues: &mut Queues) -> bool {
        let place = self.order[self.turn] as usize;
        for wave in self.places.waves_of(place) {
            if self.places.can_run(wave) {
                self.run(machine, streams, place, wave);
            }
        }
        if !self.places.is_over(place) {
            self.turn += 1;
            self.hint();
            return false;
        }
        match queues.take(self.own) {
            Some(group) => {
                self.places.begin(place, group);
                self.turn += 1;
            }
            None => drop(self.order.remove(self.turn)),
        }
        true
    }

    /// Thousands of wavefronts take turns: what the next ones need has left the caches since their last.
    #[inline]
    fn hint(&self) {
        if let Some(next) = self.order.get(self.turn) {
            self.places.hint_operations(*next as usize);
        }
        if let Some(later) = self.order.get(self.turn + 1) {
            self.places.hint_records(*later as usize);
        }
    }

    /// A wavefront makes its next memory instructions.
    #[inline]
    fn run<L: Listen>(&mut self, machine: &mut Machine<L>, streams: Streams<'_>, place: usize, wave: usize) {
        let stream = (streams.workload, streams.launch);
        let mut left = streams.turn;
        while left > 0 {
            match self.places.next(stream, place, wave) {
                Next::Access(op) => {
                    let kind = kind(op, machine);
                    machine.access(self.gpu, op, kind);
                    left -= u32::from(!op.continues());
                }
                Next::Barrier => return self.places.arrive(place, wave),
                Next::End => return self.places.end(place, wave),
            }
        }
    }
}

#[inline]
fn kind<L>(op: Op, machine: &mut Machine<L>) -> Kind {
    if op.is_store() {
        return Kind::Store;
    }
    if op.kind() == OpKind::ScalarLoad {
        machine.counts.scalar_loads += 1;
        return Kind::ScalarLoad;
    }
    Kind::Load
}
