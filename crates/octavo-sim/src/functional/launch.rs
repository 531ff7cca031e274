//! Launches: which work-groups belong to which GPU, and how many of them are in flight.

use octavo_manager::{KernelEnd, SpaceId};

use crate::functional::group::Queues;
use crate::functional::job::Doing;
use crate::functional::run::Run;
use crate::gpu::units::occupancy::Occupancy;
use crate::machine::occurrence::{Happening, Listen, Work};

impl<L: Listen> Run<'_, L> {
    /// Splits a launch of a job over its GPUs and fills their compute units.
    pub fn begin_launch(&mut self, job: usize, launch: u32) {
        let (state, compute) = (&mut self.jobs[job], &self.config.compute);
        let shape = self.workload.launch(launch);
        let (gpus, units) = (state.lot.gpus.len() as u32, state.lot.fewest_units() as u32);
        state.queues = Queues::new(&shape, self.config.dispatch.shares(shape.work_groups, gpus, units));
        let occupancy = Occupancy::new(compute, self.workload.resources(launch));
        let groups = occupancy.groups_at_once(shape.wavefronts_per_group) as usize;
        for (ring, units) in self.rings.iter_mut().zip(&state.lot.units) {
            if let Some(turns) = ring.of(job) {
                turns.begin(groups * units.len(), shape.wavefronts_per_group, &mut state.queues);
            }
        }
        state.launch_began = state.lines;
        (state.launch, state.shape, state.doing) = (launch, shape, Doing::Launch);
    }

    /// All work-groups of a job's launch have ended.
    pub fn end_launch(&mut self, job: usize) {
        let state = &mut self.jobs[job];
        let (name, began, ended) = (&state.shape.kernel, state.launch_began, state.lines);
        let work = Work::default();
        self.machine.tables.say(Happening::Kernel { job, name, began, ended, work });
        state.launch += 1;
        let next = state.launch;
        self.launches_done += 1;
        let end = KernelEnd { space: SpaceId(job as u16), gpus: state.lot.gpu_mask() };
        self.machine.drive(|driver, now, tables| driver.kernel_end(now, end, tables));
        if self.synchronised.contains(&next) {
            self.machine.drive(|driver, now, tables| driver.synchronise(now, end.space, tables));
        }
        for (gpu, most) in self.most_used.iter_mut().enumerate() {
            let used = self.machine.memory_use(gpu);
            if used.map(|used| used.base_frames) > most.map(|most| most.base_frames) {
                *most = used;
            }
        }
    }
}
