//! Work-groups in flight: the seats that their wavefronts take, their barriers, and their end.

use crate::gpu::units::wave::{Group, State, Wave};
use crate::machine::hardware::Hardware;

const NO_SLOT: u32 = u32::MAX;

impl Hardware<'_> {
    /// The wavefronts of a program's work-group take seats of a unit and begin at `begin`.
    pub fn start_waves(
        &mut self,
        (application, group): (usize, u32),
        (gpu, unit): (usize, usize),
        wavefronts: u32,
        begin: u64,
    ) {
        let simds = self.config.compute.simds_per_unit;
        let leader = self.waves.take();
        let mut slot = leader;
        for number in 0..wavefronts {
            let seat = self.gpus[gpu].units[unit].take_seat();
            let last = number + 1 == wavefronts;
            let next = if last { NO_SLOT } else { self.waves.take() };
            self.waves.waves[slot as usize] = Wave {
                group,
                leader,
                next,
                simd: unit as u32 * simds + u32::from(seat) % simds,
                seat,
                number: number as u16,
                unit: unit as u16,
                gpu: gpu as u8,
                application: application as u8,
                state: State::Scheduled,
                ..Wave::default()
            };
            self.history.begin_wave(slot as usize);
            self.fetch.begin_wave(slot as usize, begin);
            self.schedule_wave(begin, slot as usize);
            slot = next;
        }
        self.waves.groups[leader as usize] = Group { running: wavefronts as u16, ..Group::default() };
    }

    /// A work-group's seats are given back together, as its registers and local memory are.
    pub fn free_group(&mut self, gpu: usize, unit: usize, leader: usize) {
        let state = &mut self.gpus[gpu].units[unit];
        state.groups -= 1;
        let mut slot = leader as u32;
        while slot != NO_SLOT {
            let wave = &self.waves.waves[slot as usize];
            let next = wave.next;
            state.seats |= 1 << wave.seat;
            self.waves.give_back(slot);
            slot = next;
        }
    }

    /// A wavefront reaches a barrier at `time`.
    #[inline(never)]
    pub fn arrive_at_barrier(&mut self, slot: usize, time: u64) {
        let leader = self.waves.waves[slot].leader as usize;
        self.waves.waves[slot].state = State::Barrier;
        let group = &mut self.waves.groups[leader];
        group.arrived += 1;
        group.arrival = group.arrival.max(time);
        self.release_barrier_if_complete(leader);
    }

    pub fn release_barrier_if_complete(&mut self, leader: usize) {
        let group = &mut self.waves.groups[leader];
        if group.arrived == 0 || group.arrived < group.running {
            return;
        }
        group.arrived = 0;
        let release = group.arrival.max(self.now);
        let mut slot = leader as u32;
        while slot != NO_SLOT {
            let wave = &mut self.waves.waves[slot as usize];
            let next = wave.next;
            if wave.state == State::Barrier {
                wave.state = State::Scheduled;
                self.schedule_wave(release, slot as usize);
            }
            slot = next;
        }
    }

    /// GPU and compute unit of the wavefront in `slot`.
    #[inline]
    pub fn place(&self, slot: usize) -> (usize, usize) {
        let wave = &self.waves.waves[slot];
        (wave.gpu as usize, wave.unit as usize)
    }
}
