//! Launches, work-groups and their wavefronts: what starts where and when.

use octavo_manager::Event as ManagerEvent;
use octavo_node::LaunchDiscards;

use crate::engine::event::Kind;
use crate::gpu::state::Unit;
use crate::gpu::units::occupancy::Occupancy;
use crate::gpu::units::wave::{Group, State, Wave};
use crate::machine::node::Node;

const NO_SLOT: u32 = u32::MAX;

impl Node<'_> {
    /// Splits the next launch of a program over the GPUs and fills its compute units.
    pub fn begin_launch(&mut self, application: usize) {
        let state = &mut self.applications[application];
        if state.launch == state.program.launches.end {
            return self.end_application(application);
        }
        let launch = state.launch;
        state.shape = self.workload.launch(launch);
        state.launch_began = self.now;
        state.occupancy = Occupancy::new(&self.config.compute, self.workload.resources(launch));
        let groups = state.shape.work_groups;
        match self.config.dispatch.ranges(groups, self.config.gpus, state.units.len() as u32) {
            Some(ranges) => state.queues = ranges,
            None => state.queues = std::iter::once(0..groups).collect(),
        }
        self.fetch.begin_launch(application, &state.shape.kernel, self.workload.code_bytes(launch));
        self.empty_caches(application, self.workload.flushed_before(launch));
        for gpu in 0..self.gpus.len() {
            let state = &mut self.applications[application];
            if !self.config.compute.dispatch_goes_on {
                state.next_unit[gpu] = state.units.start;
            }
            self.fill_gpu(application, gpu);
        }
        self.end_launch_if_done(application);
    }

    /// Empties what a launch finds empty: the first level of its own units, or all caches.
    fn empty_caches(&mut self, application: usize, flushed: bool) {
        if flushed {
            self.flush_caches();
        }
        if !flushed && self.config.launch_discards == LaunchDiscards::None {
            return;
        }
        let units = self.applications[application].units.clone();
        let shared = self.config.scalar.units as usize;
        for gpu in &mut self.gpus {
            units.clone().for_each(|unit| gpu.l1.discard(unit));
            (units.start / shared..units.end.div_ceil(shared)).for_each(|cache| gpu.scalar.discard(cache));
        }
    }

    /// The host has copied between launches: second-level caches are written back and emptied, and so are those of
    /// code. The time of it is the host's.
    fn flush_caches(&mut self) {
        for gpu in &mut self.gpus {
            self.accesses.dram_writes += gpu.l2.flush();
        }
        self.fetch.forget();
    }

    /// Starts work-groups round robin over the program's units while any has room.
    fn fill_gpu(&mut self, application: usize, gpu: usize) {
        let (mut started, mut count) = (true, 0);
        let state = &self.applications[application];
        let (units, first) = (state.units.clone(), state.next_unit[gpu]);
        while started {
            started = false;
            for unit in (first..units.end).chain(units.start..first) {
                let delay = count / u64::from(self.groups_per_cycle) * self.costs.cycle;
                if self.start_group(application, gpu, unit, delay) {
                    (started, count) = (true, count + 1);
                }
            }
        }
    }

    /// Starts the next waiting work-group of a program on `unit` after `delay`, if there is one and it fits.
    fn start_group(&mut self, application: usize, gpu: usize, unit: usize, delay: u64) -> bool {
        let running = &mut self.applications[application];
        let wavefronts = running.shape.wavefronts_per_group;
        // One queue a GPU, or one for all of them.
        let queue = gpu.min(running.queues.len() - 1);
        let state = &mut self.gpus[gpu].units[unit];
        if running.queues[queue].is_empty() || !fits(state, &running.occupancy, wavefronts) {
            return false;
        }
        running.next_unit[gpu] = if unit + 1 == running.units.end { running.units.start } else { unit + 1 };
        running.groups += 1;
        let group = running.queues[queue].start;
        running.queues[queue].start += 1;
        state.groups += 1;
        self.start_waves((application, group), (gpu, unit), wavefronts, self.now + delay + self.costs.group_launch);
        true
    }

    /// The wavefronts of a program's work-group take seats of a unit and begin at `begin`.
    fn start_waves(
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

    /// A wavefront is done, and perhaps its work-group and the launch are done too.
    #[inline(never)]
    pub fn end_wave(&mut self, slot: usize) {
        let (gpu, unit) = self.place(slot);
        let wave = &self.waves.waves[slot];
        let (leader, application) = (wave.leader as usize, usize::from(wave.application));
        self.fetched_ahead((gpu, unit), slot, self.now);
        self.waves.waves[slot].state = State::Over;
        let group = &mut self.waves.groups[leader];
        group.running -= 1;
        if group.running > 0 {
            // Those at the barrier no longer wait for this one.
            self.release_barrier_if_complete(leader);
            return;
        }
        self.free_group(gpu, unit, leader);
        self.applications[application].groups -= 1;
        self.groups_done += 1;
        while self.start_group(application, gpu, unit, 0) {}
        self.end_launch_if_done(application);
    }

    /// A work-group's seats are given back together, as its registers and local memory are.
    fn free_group(&mut self, gpu: usize, unit: usize, leader: usize) {
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

    fn release_barrier_if_complete(&mut self, leader: usize) {
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

    fn end_launch_if_done(&mut self, application: usize) {
        let state = &self.applications[application];
        if state.groups > 0 || state.queues.iter().any(|queue| !queue.is_empty()) {
            return;
        }
        let flushed = self.flush_broadcasts();
        let ended = flushed + self.costs.kernel_overhead;
        self.ended = self.ended.max(ended);
        let state = &mut self.applications[application];
        if let Some(spans) = &mut self.spans {
            spans.kernel(&state.shape.kernel, state.launch_began, ended);
        }
        self.recorder.kernel(state.shape.kernel.clone(), state.launch_began, ended);
        state.launch += 1;
        self.launches_done += 1;
        self.manager.handle(ManagerEvent::KernelEnd, &mut self.made);
        self.start_made_plans();
        self.schedule(ended, Kind::Launch, application as u32);
    }

    /// GPU and compute unit of the wavefront in `slot`.
    #[inline]
    pub fn place(&self, slot: usize) -> (usize, usize) {
        let wave = &self.waves.waves[slot];
        (wave.gpu as usize, wave.unit as usize)
    }
}

/// Whether a work-group of so many wavefronts fits `unit`.
fn fits(unit: &Unit, limit: &Occupancy, wavefronts: u32) -> bool {
    (unit.seats & limit.seats).count_ones() >= wavefronts
        && unit.groups < limit.groups
        && (unit.groups + 1).saturating_mul(wavefronts) <= limit.wavefronts
}
