//! Launches, one after another, and the turns of the GPUs in each.

use octavo_manager::{KernelEnd, ProcessorMask, SpaceId};

use crate::functional::group::Queues;
use crate::functional::run::{Running, Stop};
use crate::functional::turns::Streams;
use crate::gpu::units::occupancy::Occupancy;
use crate::machine::happening::{Happening, Listen};

/// Turns between looks at the progress callback: a few milliseconds of work.
const TURNS_BETWEEN_REPORTS: u32 = 1 << 12;

impl<L: Listen> Running<'_, L> {
    /// Runs a launch to its end.
    pub fn launch(&mut self, launch: u32) -> Result<(), Stop> {
        let shape = self.workload.launch(launch);
        let compute = &self.config.compute;
        let ranges = self.config.dispatch.ranges(shape.work_groups, self.config.gpus, compute.units);
        let mut queues = Queues::new(&shape, ranges);
        let occupancy = Occupancy::new(compute, self.workload.resources(launch));
        let room = occupancy.groups_at_once(shape.wavefronts_per_group) as usize * compute.units as usize;
        for turns in &mut self.turns {
            turns.begin(room, shape.wavefronts_per_group, &mut queues);
        }
        let began = self.machine.tables.lines;
        let streams = Streams { workload: self.workload, launch, turn: self.turn };
        self.take_turns(streams, &mut queues)?;
        let ended = self.machine.tables.lines;
        self.machine.tables.say(Happening::Kernel { name: &shape.kernel, began, ended });
        self.end_launch();
        Ok(())
    }

    fn take_turns(&mut self, streams: Streams<'_>, queues: &mut Queues) -> Result<(), Stop> {
        let mut taken = 0;
        while !self.turns.iter().all(|turns| turns.is_over()) {
            for turns in self.turns.iter_mut().filter(|turns| !turns.is_over()) {
                self.groups_done += u64::from(turns.next(&mut self.machine, streams, queues));
                taken += 1;
                if self.machine.halted() {
                    return Err(Stop::Halted);
                }
            }
            if taken >= TURNS_BETWEEN_REPORTS {
                taken = 0;
                self.report()?;
            }
        }
        Ok(())
    }

    fn end_launch(&mut self) {
        self.launches_done += 1;
        let end = KernelEnd { space: SpaceId::default(), gpus: ProcessorMask::all_gpus(self.turns.len()) };
        self.machine.drive(|driver, now, tables| driver.kernel_end(now, end, tables));
        for (gpu, most) in self.most_used.iter_mut().enumerate() {
            let used = self.machine.memory_use(gpu);
            if used.map(|used| used.base_frames) > most.map(|most| most.base_frames) {
                *most = used;
            }
        }
    }
}
