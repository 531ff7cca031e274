//! Work-groups in flight: the seats that their wavefronts take, their barriers, and their end.

use crate::gpu::units::unit::Unit;
use crate::gpu::units::wave::{Group, State, Wave, Waves};

const NO_SLOT: u32 = u32::MAX;

/// A work-group about to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewGroup {
    /// Its program, and its flattened id.
    pub program: usize,
    pub group: u32,
    /// GPU and compute unit.
    pub gpu: usize,
    pub unit: usize,
    pub wavefronts: u32,
    /// SIMDs of a unit.
    pub simds: u32,
}

impl Waves {
    /// The wavefronts of a work-group take seats of their unit; `begin` gets their slots.
    pub fn begin_group(&mut self, new: NewGroup, unit: &mut Unit, mut begin: impl FnMut(usize)) {
        let leader = self.take();
        let mut slot = leader;
        for number in 0..new.wavefronts {
            let seat = unit.take_seat();
            let last = number + 1 == new.wavefronts;
            let next = if last { NO_SLOT } else { self.take() };
            self.waves[slot as usize] = Wave {
                group: new.group,
                leader,
                next,
                simd: new.unit as u32 * new.simds + u32::from(seat) % new.simds,
                seat,
                number: number as u16,
                unit: new.unit as u16,
                gpu: new.gpu as u8,
                application: new.program as u8,
                state: State::Scheduled,
                ..Wave::default()
            };
            self.history.begin_wave(slot as usize);
            begin(slot as usize);
            slot = next;
        }
        self.groups[leader as usize] = Group { running: new.wavefronts as u16, ..Group::default() };
    }

    /// A wavefront ends; returns its work-group, and whether that ends, too.
    pub fn end(&mut self, slot: usize) -> (usize, bool) {
        let leader = self.waves[slot].leader as usize;
        self.waves[slot].state = State::Over;
        let group = &mut self.groups[leader];
        group.running -= 1;
        (leader, group.running == 0)
    }

    /// A work-group's seats are given back together, as its registers and local memory are.
    pub fn end_group(&mut self, leader: usize, unit: &mut Unit) {
        unit.end_group();
        let mut slot = leader as u32;
        while slot != NO_SLOT {
            let wave = &self.waves[slot as usize];
            let next = wave.next;
            unit.give_back(wave.seat);
            self.give_back(slot);
            slot = next;
        }
    }

    /// A wavefront reaches a barrier at `time`; its work-group.
    pub fn arrive_at_barrier(&mut self, slot: usize, time: u64) -> usize {
        let leader = self.waves[slot].leader as usize;
        self.waves[slot].state = State::Barrier;
        self.waits[slot].since = time;
        let group = &mut self.groups[leader];
        group.arrived += 1;
        group.arrival = group.arrival.max(time);
        leader
    }

    /// If all wavefronts that have not ended are at the barrier they continue: `go_on` gets when they arrived and when
    /// they leave, the slot, the program and the operation.
    pub fn release_barrier_if_complete(
        &mut self,
        leader: usize,
        now: u64,
        mut go_on: impl FnMut((u64, u64), (usize, usize), u16),
    ) {
        let group = &mut self.groups[leader];
        if group.arrived == 0 || group.arrived < group.running {
            return;
        }
        group.arrived = 0;
        let release = group.arrival.max(now);
        let mut slot = leader as u32;
        while slot != NO_SLOT {
            let wave = &mut self.waves[slot as usize];
            if wave.state == State::Barrier {
                wave.state = State::Scheduled;
                let since = self.waits[slot as usize].since;
                go_on((since, release), (slot as usize, wave.application.into()), wave.next_op);
            }
            slot = wave.next;
        }
    }
}
