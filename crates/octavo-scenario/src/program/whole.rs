//! Whole programs: of workloads, in strips where they do not fit, and as they were recorded.

use std::ops::Range;

use octavo_manager::Kind;
use octavo_node::{NodeConfig, SystemMemory};
use octavo_program::{
    Action, Buffer, Frames, Look, Lowering, Program, Stripped, StripsRefused, Workload, lower, lower_in_strips,
    most_at_once, pages_of,
};

use super::{ProgramChoice, ProgramRefused, RunKind};
use crate::Scenario;

/// The place of a program and its resources.
pub(crate) struct Place<'a> {
    /// The beginning of its keys.
    pub key: &'a str,
    /// The node, with the memories that programs of this scale have.
    pub node: &'a NodeConfig,
    /// The number of GPUs that it runs on.
    pub gpus: u32,
    /// Whether it is the only program of an only GPU.
    pub alone: bool,
    /// Pages of all programs of the scenario, which shares of the footprint are of.
    pub footprint: u64,
}

impl Scenario {
    /// The parts of a workload that run: itself, and the whole program made from it by `choice`, none if its launches
    /// run alone. An explicit program that does not fit its only GPU runs in strips, and so does the workload.
    pub(crate) fn whole_program(
        &self,
        choice: &ProgramChoice,
        place: &Place<'_>,
        workload: Box<dyn Workload>,
        look: &mut Look<'_>,
    ) -> Result<(Box<dyn Workload>, Option<Program>), ProgramRefused> {
        if choice.kind == RunKind::Recorded {
            let program = self.recorded(choice, place, workload.as_ref())?;
            return Ok((workload, Some(program)));
        }
        let Some(kind) = choice.kind.memory() else {
            if choice.frames == Frames::Allocation {
                self.check_room((workload.buffers(), &[]), |_| Kind::Device, choice, place)?;
            }
            return Ok((workload, None));
        };
        let lowering = choice.lowering(kind, workload.as_ref());
        match self.check_room((workload.buffers(), workload.lives()), |index| lowering.kind_of(index), choice, place) {
            Ok(()) => {
                let program = lower(workload.as_ref(), &lowering)?;
                Ok((workload, Some(program)))
            }
            Err(refused) if place.alone && choice.kind == RunKind::Explicit => {
                in_strips(workload, &lowering, refused, look)
            }
            Err(refused) => Err(refused),
        }
    }

    fn recorded(
        &self,
        choice: &ProgramChoice,
        place: &Place<'_>,
        workload: &dyn Workload,
    ) -> Result<Program, ProgramRefused> {
        let program = workload.program().ok_or(ProgramRefused::NotRecorded)?;
        let system = program.buffers().iter().find(|buffer| buffer.kind == Kind::System);
        if let (Some(system), SystemMemory::None) = (system, self.node.system_memory) {
            return Err(ProgramRefused::NotOffered { place: place.key.into(), buffer: system.buffer.name.clone() });
        }
        let buffers: Vec<Buffer> = program.buffers().iter().map(|buffer| buffer.buffer.clone()).collect();
        self.check_room((&buffers, &[]), |index| program.buffers()[index].kind, choice, place)?;
        let cores = self.node.host.cpu.cores;
        for ordered in program.actions() {
            if let Action::Host(phase) = &ordered.action
                && phase.threads > cores
            {
                let (name, threads) = (phase.name.clone().into_owned(), phase.threads);
                return Err(ProgramRefused::TooManyThreads { name, threads, cores });
            }
        }
        Ok(program.clone())
    }

    /// Device memory stays where it is, so all of it must fit. The executor checks all other limits of the node's
    /// memory.
    fn check_room(
        &self,
        (buffers, lives): (&[Buffer], &[Range<u32>]),
        kind_of: impl Fn(usize) -> Kind,
        choice: &ProgramChoice,
        place: &Place<'_>,
    ) -> Result<(), ProgramRefused> {
        let page_bytes = self.memory.decision_size().map_or(u64::MAX, |size| size.0);
        let Ok(Some(room)) = place.node.capacity_pages(page_bytes, place.footprint) else { return Ok(()) };
        let expected = u64::from(room) * u64::from(place.gpus) * page_bytes;
        let pages = pages_of(buffers, page_bytes).map(|pages| (pages.end - pages.start) * page_bytes);
        let sizes: Vec<u64> =
            pages.enumerate().map(|(index, size)| if kind_of(index) == Kind::Device { size } else { 0 }).collect();
        let with = |last: usize| most_at_once(sizes[..=last].iter().copied(), lives);
        let places: Vec<usize> = (0..buffers.len()).collect();
        let beyond = places.partition_point(|&last| with(last) <= expected);
        if beyond == buffers.len() {
            return Ok(());
        }
        let buffer = buffers[beyond].name.clone();
        let own = choice.buffers.get(&buffer).is_some_and(|own| own.kind.is_some());
        let key = match choice.frames {
            _ if own => format!("program.buffers.{buffer}.kind"),
            Frames::Allocation => "program.frames".to_owned(),
            Frames::Touch => "program.kind".to_owned(),
        };
        Err(ProgramRefused::TooLarge { key: format!("{}{key}", place.key), buffer, found: with(beyond), expected })
    }
}

/// A workload in strips, as it was refused whole.
fn in_strips(
    workload: Box<dyn Workload>,
    lowering: &Lowering,
    refused: ProgramRefused,
    look: &mut Look<'_>,
) -> Result<(Box<dyn Workload>, Option<Program>), ProgramRefused> {
    let ProgramRefused::TooLarge { expected: room, .. } = refused else { return Err(refused) };
    if workload.applications().len() > 1 {
        return Err(refused);
    }
    let (strips, program) =
        lower_in_strips(workload.as_ref(), lowering, room, look).map_err(|reason| match reason {
            StripsRefused::Stopped => ProgramRefused::Stopped,
            reason => ProgramRefused::NoStrips { too_large: Box::new(refused), reason },
        })?;
    Ok((Box::new(Stripped::new(workload, strips, &program)), Some(program)))
}
