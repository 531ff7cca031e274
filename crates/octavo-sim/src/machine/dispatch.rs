//! Launches, work-groups and their wavefronts: which starts where and when.

use octavo_manager::{KernelEnd, SpaceId};
use octavo_node::LaunchDiscards;
use octavo_program::Share;

use crate::engine::event::Kind;
use crate::gpu::units::groups::NewGroup;
use crate::gpu::units::occupancy::Occupancy;
use crate::gpu::units::stalls::Stall;
use crate::gpu::units::wave::Fetcher;
use crate::lot::Lot;
use crate::machine::hardware::Hardware;
use crate::machine::jobs::Running;
use crate::machine::jobs::rounds::BUSY_PAUSE;
use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen, Work};

impl<L: Listen> Node<'_, L> {
    /// Splits the next launch of a program over the GPUs and fills its compute units.
    pub(super) fn begin_launch(&mut self, application: usize) {
        let state = &mut self.jobs.running[application];
        if state.launch == state.program.launches.end {
            return match self.programs.is_whole(application) {
                true => self.end_whole_launch(application),
                false => self.end_launches(application),
            };
        }
        if let Some(again) = self.awaits_memory(application) {
            return self.hardware.clock.schedule(again, Kind::Launch, application as u32);
        }
        if self.synchronises(application) {
            let again = self.hardware.clock.now() + BUSY_PAUSE;
            return self.hardware.clock.schedule(again, Kind::Launch, application as u32);
        }
        let state = &mut self.jobs.running[application];
        let launch = state.launch;
        state.shape = self.workload.launch(launch);
        state.launch_began = self.hardware.clock.now();
        self.hardware.launch_begins(application);
        let state = &mut self.jobs.running[application];
        state.occupancy = Occupancy::new(&self.hardware.config.compute, self.workload.resources(launch));
        let groups = state.shape.work_groups;
        let (gpus, units) = (state.lot.gpus.len() as u32, state.lot.fewest_units() as u32);
        let shares = self.hardware.config.dispatch.shares(groups, gpus, units);
        state.queues = shares.unwrap_or_else(|| vec![Share::contiguous(0..groups)]);
        self.hardware.fetch.begin_launch(application, &state.shape.kernel, self.workload.code_bytes(launch));
        let state = &self.jobs.running[application];
        self.hardware.empty_caches(state, self.workload.flushed_before(launch));
        let starts = self.jobs.starts;
        for place in starts.order(launch, state.lot.gpus.len()) {
            let state = &mut self.jobs.running[application];
            let gpu = state.lot.gpus[place];
            if !self.hardware.config.compute.dispatch_goes_on {
                state.next_unit[gpu] = state.lot.units[gpu].start;
            }
            state.next_unit[gpu] = starts.unit((launch, gpu), &state.lot.units[gpu], state.next_unit[gpu]);
            self.fill_gpu(application, gpu, starts.delay(launch, gpu));
        }
        self.end_launch_if_done(application);
    }

    /// Starts work-groups round robin over the program's units while any has room, `late` by this many picoseconds.
    fn fill_gpu(&mut self, application: usize, gpu: usize, late: u64) {
        let mut started = true;
        let state = &self.jobs.running[application];
        let (units, first) = (state.lot.units[gpu].clone(), state.next_unit[gpu]);
        while started {
            started = false;
            for unit in (first..units.end).chain(units.start..first) {
                started |= self.start_group(application, gpu, unit, late);
            }
        }
    }

    /// Starts the next waiting work-group of a program on `unit`, if there is one and it fits: `late` by this many
    /// picoseconds, or when the GPU has started those before.
    fn start_group(&mut self, application: usize, gpu: usize, unit: usize, late: u64) -> bool {
        let running = &mut self.jobs.running[application];
        let wavefronts = running.shape.wavefronts_per_group;
        // One queue a GPU, or one for all of them.
        let queue = running.queue_of[gpu].min(running.queues.len() - 1);
        let state = self.hardware.gpus[gpu].unit(unit);
        if !state.fits(&running.occupancy, wavefronts) {
            return false;
        }
        let Some(group) = running.queues[queue].next() else { return false };
        let own = &running.lot.units[gpu];
        running.next_unit[gpu] = if unit + 1 == own.end { own.start } else { unit + 1 };
        running.groups += 1;
        let simds = self.hardware.config.compute.simds_per_unit;
        let new = NewGroup { program: application, group, gpu, unit, wavefronts, simds };
        let begins = self.dispatchers[gpu].start(self.hardware.clock.now()) + late;
        let begin = begins + self.hardware.costs.group_launch;
        let work = &mut self.jobs.running[application].work;
        work.wavefronts += u64::from(wavefronts);
        work.resident = work.resident.wrapping_sub(begin * u64::from(wavefronts));
        self.hardware.begin_group(new, begin);
        true
    }

    /// A wavefront is done, and perhaps its work-group and the launch are done too.
    #[inline(never)]
    pub(super) fn end_wave(&mut self, slot: usize) {
        let Fetcher { program: application, gpu, unit, .. } = self.hardware.waves.fetcher(slot);
        let work = &mut self.jobs.running[application].work;
        work.resident = work.resident.wrapping_add(self.hardware.clock.now());
        if !self.hardware.end_wave(slot) {
            return;
        }
        self.jobs.running[application].groups -= 1;
        self.jobs.groups_done += 1;
        while self.start_group(application, gpu, unit, 0) {}
        self.end_launch_if_done(application);
    }

    fn end_launch_if_done(&mut self, application: usize) {
        let state = &self.jobs.running[application];
        if state.groups > 0 || state.queues.iter().any(|queue| !queue.is_empty()) {
            return;
        }
        let stored = self.hardware.flush_broadcasts().max(self.hardware.stores_over(&state.lot));
        let ended = stored + self.hardware.costs.kernel_overhead;
        self.jobs.ended = self.jobs.ended.max(ended);
        let state = &mut self.jobs.running[application];
        let (name, began) = (&state.shape.kernel, state.launch_began);
        let work = Work { ran: stored - began, ..std::mem::take(&mut state.work) };
        self.hardware.say(Happening::Kernel { job: application, name, began, ended, work });
        self.hardware.launch_ends(application);
        state.launch += 1;
        self.jobs.launches_done += 1;
        let kernel = KernelEnd { space: SpaceId(application as u16), gpus: state.lot.gpu_mask() };
        self.drive(|driver, now, hardware| driver.kernel_end(now, kernel, hardware));
        self.hardware.clock.schedule(ended, Kind::Launch, application as u32);
    }
}

impl<L: Listen> Hardware<'_, L> {
    /// Empties caches at the launch of a job: the first level of its own units, or all caches of its GPUs.
    fn empty_caches(&mut self, job: &Running, flushed: bool) {
        if flushed {
            self.flush_caches(&job.lot.gpus);
        }
        if !flushed && self.config.launch_discards == LaunchDiscards::None {
            return;
        }
        for &gpu in &job.lot.gpus {
            self.gpus[gpu].discard_first_level(&job.lot.units[gpu]);
        }
    }

    /// The host has copied between launches: second-level caches are written back and emptied, and so are code caches.
    /// The time for this belongs to the host.
    fn flush_caches(&mut self, gpus: &[usize]) {
        let now = self.clock.now();
        for &gpu in gpus {
            self.accesses.dram_writes += self.gpus[gpu].flush(now);
            self.fetch.forget(gpu);
        }
    }

    /// The arrival of the stores of a launch that nothing waited for.
    fn stores_over(&mut self, lot: &Lot) -> u64 {
        if !self.config.compute.posted_stores {
            return 0;
        }
        let units = lot.gpus.iter().flat_map(|&gpu| lot.units[gpu].clone().map(move |unit| (gpu, unit)));
        units.map(|(gpu, unit)| self.gpus[gpu].unit(unit).quiet()).max().unwrap_or(0)
    }

    /// The wavefronts of a work-group begin.
    fn begin_group(&mut self, new: NewGroup, begin: u64) {
        let Self { clock, gpus, waves, fetch, .. } = self;
        let unit = gpus[new.gpu].unit(new.unit);
        unit.begin_group();
        waves.begin_group(new, unit, |slot| {
            fetch.begin_wave(slot, begin);
            clock.schedule_wave(begin, slot, 0);
        });
    }

    /// A wavefront is done; whether its work-group is, too.
    fn end_wave(&mut self, slot: usize) -> bool {
        let who = self.waves.fetcher(slot);
        self.fetch.run_ahead(who, self.clock.now(), &mut self.accesses);
        let (leader, is_over) = self.waves.end(slot);
        if is_over {
            self.waves.end_group(leader, self.gpus[who.gpu].unit(who.unit));
        } else {
            // Wavefronts at the barrier no longer wait for this one.
            self.release_barrier_if_complete(leader);
        }
        is_over
    }

    /// A wavefront reaches a barrier at `time`.
    #[inline(never)]
    pub(super) fn arrive_at_barrier(&mut self, slot: usize, time: u64) {
        let leader = self.waves.arrive_at_barrier(slot, time);
        self.release_barrier_if_complete(leader);
    }

    fn release_barrier_if_complete(&mut self, leader: usize) {
        let Self { clock, costs, waves, listeners, .. } = self;
        let (now, barrier) = (clock.now(), costs.barrier);
        let go_on = |(since, time), (slot, job), op| {
            let wait = time + barrier - since;
            if wait > 0 {
                listeners.hear(now, Happening::Stalled { job, what: Stall::Barrier, page: None, wait });
                listeners.hear(now, Happening::WaitEnds { job, what: Stall::Barrier, page: None });
            }
            clock.schedule_wave(time + barrier, slot, op);
        };
        waves.release_barrier_if_complete(leader, now, go_on);
    }
}
