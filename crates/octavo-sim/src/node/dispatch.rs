//! Launches, work-groups and their wavefronts: what starts where and when.

use octavo_manager::Event as ManagerEvent;

use super::Node;
use super::event::Kind;
use super::gpu::Unit;
use super::occupancy::Occupancy;
use super::wave::{Group, NO_CHUNK, State, Wave};
use crate::config::LaunchDiscards;

const NO_SLOT: u32 = u32::MAX;

impl Node<'_> {
    /// Splits the next launch over the GPUs and fills their compute units.
    pub fn begin_launch(&mut self) {
        if self.launch == self.workload.launches() {
            self.finished = true;
            return;
        }
        self.launch_shape = self.workload.launch(self.launch);
        self.launch_began = self.now;
        self.occupancy = Occupancy::new(&self.config.compute, self.workload.resources(self.launch));
        let groups = self.launch_shape.work_groups;
        match self.config.dispatch.ranges(groups, self.config.gpus, self.config.compute.units) {
            Some(ranges) => self.queues = ranges,
            None => self.queues = std::iter::once(0..groups).collect(),
        }
        let flushed = self.workload.flushed_before(self.launch);
        if flushed {
            self.flush_caches();
        }
        self.fetch.begin_launch(&self.launch_shape.kernel, self.workload.code_bytes(self.launch));
        if flushed || self.config.launch_discards == LaunchDiscards::FirstLevel {
            for gpu in &mut self.gpus {
                gpu.l1.discard_all();
                gpu.scalar.discard_all();
            }
        }
        for gpu in 0..self.gpus.len() {
            if !self.config.compute.dispatch_goes_on {
                self.gpus[gpu].next_unit = 0;
            }
            self.fill_gpu(gpu);
        }
        self.end_launch_if_done();
    }

    /// The host has copied between launches: second-level caches are written back and emptied, and so are those of
    /// code. The time of it is the host's.
    fn flush_caches(&mut self) {
        for gpu in &mut self.gpus {
            self.accesses.dram_writes += gpu.l2.flush();
        }
        self.fetch.forget();
    }

    /// Starts work-groups round robin over the units while any unit has room.
    fn fill_gpu(&mut self, gpu: usize) {
        let (mut started, mut count) = (true, 0);
        let first = self.gpus[gpu].next_unit;
        while started {
            started = false;
            for unit in (first..self.units).chain(0..first) {
                let delay = count / u64::from(self.groups_per_cycle) * self.costs.cycle;
                if self.start_group(gpu, unit, delay) {
                    (started, count) = (true, count + 1);
                }
            }
        }
    }

    /// Whether a work-group of the running launch fits `unit`.
    fn fits(&self, unit: &Unit) -> bool {
        let (wavefronts, limit) = (self.launch_shape.wavefronts_per_group, &self.occupancy);
        (unit.free & limit.slots).count_ones() >= wavefronts
            && unit.groups < limit.groups
            && (unit.groups + 1).saturating_mul(wavefronts) <= limit.wavefronts
    }

    /// Starts the next waiting work-group of `gpu` on `unit` after `delay`, if there is one and it fits.
    fn start_group(&mut self, gpu: usize, unit: usize, delay: u64) -> bool {
        let wavefronts = self.launch_shape.wavefronts_per_group;
        // One queue a GPU, or one for all of them.
        let queue = gpu.min(self.queues.len() - 1);
        if self.queues[queue].is_empty() || !self.fits(&self.gpus[gpu].units[unit]) {
            return false;
        }
        let state = &mut self.gpus[gpu];
        state.next_unit = (unit + 1) % self.units;
        state.units[unit].groups += 1;
        let group = self.queues[queue].start;
        self.queues[queue].start += 1;
        state.running += 1;
        let first_slot = (gpu * self.units + unit) * self.slots_per_unit;
        let simds = self.config.compute.simds_per_unit as usize;
        let mut free = state.units[unit].free;
        let leader = first_slot as u32 + free.trailing_zeros();
        for number in 0..wavefronts {
            let slot = first_slot as u32 + free.trailing_zeros();
            free &= free - 1;
            let last = number + 1 == wavefronts;
            let next = if last { NO_SLOT } else { first_slot as u32 + free.trailing_zeros() };
            self.waves.waves[slot as usize] = Wave {
                group,
                leader,
                next,
                chunk: NO_CHUNK,
                simd: (unit * simds) as u32 + (slot - first_slot as u32) % simds as u32,
                number: number as u16,
                unit: unit as u16,
                gpu: gpu as u8,
                state: State::Scheduled,
                ..Wave::default()
            };
            let begin = self.now + delay + self.costs.group_launch;
            self.history.clear(slot as usize);
            self.fetch.begin_wave(slot as usize, begin);
            self.calendar.push(begin, super::event::Event::new(Kind::Wave, slot).pack());
        }
        self.gpus[gpu].units[unit].free = free;
        self.waves.groups[leader as usize] = Group { running: wavefronts as u16, ..Group::default() };
        true
    }

    /// A wavefront is done: its slot is free, and perhaps its work-group and the launch are done too.
    pub fn end_wave(&mut self, slot: usize) {
        let (gpu, unit) = self.place(slot);
        let leader = self.waves.waves[slot].leader as usize;
        self.fetched_ahead((gpu, unit), slot, self.now);
        self.waves.end(slot);
        let group = &mut self.waves.groups[leader];
        group.running -= 1;
        if group.running > 0 {
            // Those at the barrier no longer wait for this one.
            self.release_barrier_if_complete(leader);
            return;
        }
        self.free_group(gpu, unit, leader);
        self.gpus[gpu].running -= 1;
        self.groups_done += 1;
        while self.start_group(gpu, unit, 0) {}
        self.end_launch_if_done();
    }

    /// A work-group's slots are given back together, as its registers and local memory are.
    fn free_group(&mut self, gpu: usize, unit: usize, leader: usize) {
        let first_slot = (gpu * self.units + unit) * self.slots_per_unit;
        self.gpus[gpu].units[unit].groups -= 1;
        let mut slot = leader as u32;
        while slot != NO_SLOT {
            self.gpus[gpu].units[unit].free |= 1 << (slot as usize - first_slot);
            slot = self.waves.waves[slot as usize].next;
        }
    }

    /// A wavefront reaches a barrier at `time`.
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
                self.schedule(release, Kind::Wave, slot);
            }
            slot = next;
        }
    }

    fn end_launch_if_done(&mut self) {
        if self.gpus.iter().any(|gpu| gpu.running > 0) || self.queues.iter().any(|queue| !queue.is_empty()) {
            return;
        }
        let flushed = self.flush_broadcasts();
        self.ended = flushed + self.costs.kernel_overhead;
        if let Some(spans) = &mut self.spans {
            spans.kernel(&self.launch_shape.kernel, self.launch_began, self.ended);
        }
        self.recorder.kernel(self.launch_shape.kernel.clone(), self.launch_began, self.ended);
        self.launch += 1;
        self.manager.handle(ManagerEvent::KernelEnd, &mut self.made);
        self.start_made_plans();
        self.schedule(self.ended, Kind::Launch, 0);
    }

    /// GPU and compute unit of a wavefront slot.
    #[inline]
    pub fn place(&self, slot: usize) -> (usize, usize) {
        let wave = &self.waves.waves[slot];
        (wave.gpu as usize, wave.unit as usize)
    }
}
