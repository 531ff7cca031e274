//! `[program]`: what is around the launches of a workload, and which memory its buffers are in.

use std::collections::BTreeMap;

use octavo_manager::{Advice, Kind, ProcessorId, ProcessorMask, Spread};
use octavo_node::SystemMemory;
use octavo_program::{
    Action, Before, Bring, Buffer, Exception, Lowering, Program, ProgramError, ProgramKind, Stripped, StripsRefused,
    Workload, lower, lower_in_strips, pages_of,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Scenario;

/// What is around the launches of a workload, and which memory its buffers are in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProgramChoice {
    /// What runs: the launches alone, on managed memory that the host has filled before time zero, or the whole
    /// program, with all buffers of one kind.
    pub kind: RunKind,
    /// On which GPUs the bytes of device memory lie.
    pub devices: Spread,
    /// Threads of the host that write inputs and read outputs.
    #[schemars(range(min = 1))]
    pub host_threads: u32,
    /// Buffers that differ from the others, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub buffers: BTreeMap<String, BufferChoice>,
}

/// What runs of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// The launches alone, on managed memory.
    #[default]
    Launches,
    /// The whole program, with its buffers in GPU memory and copies from and to the host.
    Explicit,
    /// The whole program, with its buffers in managed memory.
    Managed,
    /// The whole program, with its buffers in pinned memory of the host.
    Pinned,
    /// The whole program, with its buffers in system memory.
    System,
    /// The whole program as it was recorded; traces of whole programs alone, whose default it is.
    Recorded,
}

/// How one buffer differs from the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BufferChoice {
    /// Which memory it is in; as `program.kind` says if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Advice: in whose memory its pages should be (`host`, `gpu0`, …).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred: Option<String>,
    /// Advice: who should be able to access its pages without a fault, wherever they are (`host`, `gpu0`, …).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accessed_by: Vec<String>,
    /// Advice: whether its pages are mostly read, so that every reader should have a copy.
    #[serde(skip_serializing_if = "is_false")]
    pub read_mostly: bool,
    /// To whose memory the program brings all of it before launches (`cudaMemPrefetchAsync`: `host`, `gpu0`, …); it does
    /// not if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<String>,
    /// Before which launches it does that; the first if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetch_before: Option<Before>,
    /// Whether the host touches a word of each 4 KiB of it before anything else does, so that its pages are there.
    #[serde(skip_serializing_if = "is_false")]
    pub populate: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Default for ProgramChoice {
    /// The launches alone.
    fn default() -> Self {
        Self { kind: RunKind::default(), devices: Spread::default(), host_threads: 1, buffers: BTreeMap::new() }
    }
}

impl ProgramChoice {
    /// Whether nothing was chosen.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl RunKind {
    /// The kind of memory of the whole program's buffers, if one is chosen.
    #[must_use]
    pub const fn memory(self) -> Option<ProgramKind> {
        match self {
            Self::Launches | Self::Recorded => None,
            Self::Explicit => Some(ProgramKind::Explicit),
            Self::Managed => Some(ProgramKind::Managed),
            Self::Pinned => Some(ProgramKind::Pinned),
            Self::System => Some(ProgramKind::System),
        }
    }
}

impl BufferChoice {
    /// What is said about the buffer.
    fn advice(&self) -> Advice {
        let named = |name: &String| processor(name);
        Advice {
            preferred: self.preferred.as_ref().and_then(named).map(ProcessorId::memory),
            accessed_by: self.accessed_by.iter().filter_map(named).fold(ProcessorMask::EMPTY, ProcessorMask::with),
            read_mostly: self.read_mostly,
        }
    }

    /// Where the program brings the buffer, and before which launches.
    fn bring(&self) -> Option<Bring> {
        let to = self.prefetch.as_ref().and_then(|name| processor(name))?;
        Some(Bring { to, before: self.prefetch_before.unwrap_or_default() })
    }
}

/// The processor that a user calls `name`.
fn processor(name: &str) -> Option<ProcessorId> {
    let gpus = (0..octavo_manager::MAX_PROCESSORS - 1).map(ProcessorId::gpu);
    [octavo_manager::HOST].into_iter().chain(gpus).find(|processor| processor.to_string() == name)
}

/// Why there is no whole program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramRefused {
    /// Device memory does not fit the GPUs.
    #[error(
        "`{key}`: {found} bytes of device memory up to `{buffer}`, expected at most {expected}, which `node.capacity` \
         gives all GPUs together"
    )]
    TooLarge {
        /// Key that puts the buffer there.
        key: String,
        /// The first buffer that does not fit.
        buffer: String,
        /// Bytes of device buffers up to its end, in whole pages.
        found: u64,
        /// Bytes of all GPUs' memory.
        expected: u64,
    },
    /// Nor does a strip of it.
    #[error("{too_large}; {reason}")]
    NoStrips {
        /// What does not fit.
        too_large: Box<ProgramRefused>,
        /// Why it has no strips.
        reason: StripsRefused,
    },
    /// The workload is no recording of a whole program.
    #[error("`program.kind`: a whole program was not recorded, expected a trace with actions for `recorded`")]
    NotRecorded,
    /// A recorded program has memory of a kind that the node lacks.
    #[error(
        "`{place}program.kind`: buffer `{buffer}` of the recorded program is memory of the operating system, which GPUs \
         of this node cannot use (`node.system_memory`): expected device, managed or pinned memory, found system"
    )]
    NotOffered {
        /// What keys of the program begin with.
        place: String,
        /// The first such buffer.
        buffer: String,
    },
    /// A phase of a recorded host has more threads than the host has cores.
    #[error("`node.host.cpu.cores`: phase `{name}` of the recorded program has {threads} threads, found {cores} cores")]
    TooManyThreads {
        /// The phase.
        name: String,
        /// Its threads.
        threads: u32,
        /// Cores of the host.
        cores: u32,
    },
    /// The workload says something of its host that cannot be.
    #[error("`program.kind`: {0}")]
    Program(#[from] ProgramError),
}

/// Where a program is and what it has.
pub(crate) struct Place<'a> {
    /// What its keys begin with.
    pub key: &'a str,
    /// How many GPUs it runs on.
    pub gpus: u32,
    /// Whether it is the only program of an only GPU.
    pub alone: bool,
    /// Pages of all programs of the scenario, which shares of the footprint are of.
    pub footprint: u64,
}

impl Scenario {
    /// What runs of a workload: itself, and the whole program that `choice` makes of it, none if its launches run alone.
    /// An explicit program that does not fit its only GPU runs in strips, and so does the workload.
    pub(crate) fn whole_program(
        &self,
        choice: &ProgramChoice,
        place: &Place<'_>,
        workload: Box<dyn Workload>,
    ) -> Result<(Box<dyn Workload>, Option<Program>), ProgramRefused> {
        if choice.kind == RunKind::Recorded {
            let program = self.recorded(choice, place, workload.as_ref())?;
            return Ok((workload, Some(program)));
        }
        let Some(kind) = choice.kind.memory() else { return Ok((workload, None)) };
        let lowering = choice.lowering(kind, workload.as_ref());
        match self.check_room(workload.buffers(), |index| lowering.kind_of(index), choice, place) {
            Ok(()) => {
                let program = lower(workload.as_ref(), &lowering)?;
                Ok((workload, Some(program)))
            }
            Err(refused) if place.alone && choice.kind == RunKind::Explicit => in_strips(workload, &lowering, refused),
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
        self.check_room(&buffers, |index| program.buffers()[index].kind, choice, place)?;
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

    /// Device memory stays where it is, so all of it must fit. What else the node asks of its memory is checked by
    /// whoever runs it.
    fn check_room(
        &self,
        buffers: &[Buffer],
        kind_of: impl Fn(usize) -> Kind,
        choice: &ProgramChoice,
        place: &Place<'_>,
    ) -> Result<(), ProgramRefused> {
        let page_bytes = self.memory.decision_size().map_or(u64::MAX, |size| size.0);
        let Ok(Some(room)) = self.node.capacity_pages(page_bytes, place.footprint) else { return Ok(()) };
        let (expected, mut found) = (u64::from(room) * u64::from(place.gpus) * page_bytes, 0);
        for (index, pages) in pages_of(buffers, page_bytes).enumerate() {
            if kind_of(index) != Kind::Device {
                continue;
            }
            found += (pages.end - pages.start) * page_bytes;
            if found > expected {
                let buffer = buffers[index].name.clone();
                let own = choice.buffers.get(&buffer).is_some_and(|own| own.kind.is_some());
                let key = if own { format!("program.buffers.{buffer}.kind") } else { "program.kind".to_owned() };
                return Err(ProgramRefused::TooLarge { key: format!("{}{key}", place.key), buffer, found, expected });
            }
        }
        Ok(())
    }
}

/// A workload in strips, as it was refused whole.
fn in_strips(
    workload: Box<dyn Workload>,
    lowering: &Lowering,
    refused: ProgramRefused,
) -> Result<(Box<dyn Workload>, Option<Program>), ProgramRefused> {
    let ProgramRefused::TooLarge { expected: room, .. } = refused else { return Err(refused) };
    if workload.applications().len() > 1 {
        return Err(refused);
    }
    let (strips, program) = lower_in_strips(workload.as_ref(), lowering, room)
        .map_err(|reason| ProgramRefused::NoStrips { too_large: Box::new(refused), reason })?;
    Ok((Box::new(Stripped::new(workload, strips, &program)), Some(program)))
}

impl ProgramChoice {
    fn lowering(&self, kind: ProgramKind, workload: &dyn Workload) -> Lowering {
        let exception = |(index, name): (usize, &String)| {
            let own = self.buffers.get(name)?;
            Some((
                index,
                Exception { kind: own.kind, advice: own.advice(), prefetch: own.bring(), populate: own.populate },
            ))
        };
        let names = workload.buffers().iter().map(|buffer| &buffer.name).enumerate();
        Lowering {
            kind,
            spread: self.devices,
            host_threads: self.host_threads,
            exceptions: names.filter_map(exception).collect(),
        }
    }
}
