//! Launches, work-groups and their wavefronts: what starts where and when.

use std::ops::Range;

use octavo_node::LaunchDiscards;

use crate::engine::event::Kind;
use crate::gpu::state::Unit;
use crate::gpu::units::occupancy::Occupancy;
use crate::gpu::units::wave::State;
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;

impl Node<'_> {
    /// Splits the next launch of a program over the GPUs and fills its compute units.
    pub fn begin_launch(&mut self, application: usize) {
        let state = &mut self.applications[application];
        if state.launch == state.program.launches.end {
            return self.end_application(application);
        }
        let launch = state.launch;
        state.shape = self.workload.launch(launch);
        state.launch_began = self.hardware.now;
        state.occupancy = Occupancy::new(&self.hardware.config.compute, self.workload.resources(launch));
        let groups = state.shape.work_groups;
        match self.hardware.config.dispatch.ranges(groups, self.hardware.config.gpus, state.units.len() as u32) {
            Some(ranges) => state.queues = ranges,
            None => state.queues = std::iter::once(0..groups).collect(),
        }
        self.hardware.fetch.begin_launch(application, &state.shape.kernel, self.workload.code_bytes(launch));
        let units = self.applications[application].units.clone();
        self.hardware.empty_caches(&units, self.workload.flushed_before(launch));
        for gpu in 0..self.hardware.gpus.len() {
            let state = &mut self.applications[application];
            if !self.hardware.config.compute.dispatch_goes_on {
                state.next_unit[gpu] = state.units.start;
            }
            self.fill_gpu(application, gpu);
        }
        self.end_launch_if_done(application);
    }

    /// Starts work-groups round robin over the program's units while any has room.
    fn fill_gpu(&mut self, application: usize, gpu: usize) {
        let (mut started, mut count) = (true, 0);
        let state = &self.applications[application];
        let (units, first) = (state.units.clone(), state.next_unit[gpu]);
        while started {
            started = false;
            for unit in (first..units.end).chain(units.start..first) {
                let delay = count / u64::from(self.groups_per_cycle) * self.hardware.costs.cycle;
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
        let state = &mut self.hardware.gpus[gpu].units[unit];
        if running.queues[queue].is_empty() || !fits(state, &running.occupancy, wavefronts) {
            return false;
        }
        running.next_unit[gpu] = if unit + 1 == running.units.end { running.units.start } else { unit + 1 };
        running.groups += 1;
        let group = running.queues[queue].start;
        running.queues[queue].start += 1;
        state.groups += 1;
        let begin = self.hardware.now + delay + self.hardware.costs.group_launch;
        self.hardware.start_waves((application, group), (gpu, unit), wavefronts, begin);
        true
    }

    /// A wavefront is done, and perhaps its work-group and the launch are done too.
    #[inline(never)]
    pub fn end_wave(&mut self, slot: usize) {
        let (gpu, unit) = self.hardware.place(slot);
        let wave = &self.hardware.waves.waves[slot];
        let (leader, application) = (wave.leader as usize, usize::from(wave.application));
        let now = self.hardware.now;
        self.hardware.fetched_ahead((gpu, unit), slot, now);
        self.hardware.waves.waves[slot].state = State::Over;
        let group = &mut self.hardware.waves.groups[leader];
        group.running -= 1;
        if group.running > 0 {
            // Those at the barrier no longer wait for this one.
            self.hardware.release_barrier_if_complete(leader);
            return;
        }
        self.hardware.free_group(gpu, unit, leader);
        self.applications[application].groups -= 1;
        self.groups_done += 1;
        while self.start_group(application, gpu, unit, 0) {}
        self.end_launch_if_done(application);
    }

    fn end_launch_if_done(&mut self, application: usize) {
        let state = &self.applications[application];
        if state.groups > 0 || state.queues.iter().any(|queue| !queue.is_empty()) {
            return;
        }
        let flushed = self.hardware.flush_broadcasts();
        let ended = flushed + self.hardware.costs.kernel_overhead;
        self.ended = self.ended.max(ended);
        let state = &mut self.applications[application];
        if let Some(spans) = &mut self.hardware.spans {
            spans.kernel(&state.shape.kernel, state.launch_began, ended);
        }
        self.hardware.recorder.kernel(state.shape.kernel.clone(), state.launch_began, ended);
        state.launch += 1;
        self.launches_done += 1;
        self.drive(|driver, now, hardware| driver.kernel_end(now, hardware));
        self.hardware.schedule(ended, Kind::Launch, application as u32);
    }
}

impl Hardware<'_> {
    /// Empties what a launch finds empty: the first level of its own units, or all caches.
    fn empty_caches(&mut self, units: &Range<usize>, flushed: bool) {
        if flushed {
            self.flush_caches();
        }
        if !flushed && self.config.launch_discards == LaunchDiscards::None {
            return;
        }
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
}

/// Whether a work-group of so many wavefronts fits `unit`.
fn fits(unit: &Unit, limit: &Occupancy, wavefronts: u32) -> bool {
    (unit.seats & limit.seats).count_ones() >= wavefronts
        && unit.groups < limit.groups
        && (unit.groups + 1).saturating_mul(wavefronts) <= limit.wavefronts
}
