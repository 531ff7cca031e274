//! `[program]`: the program around the launches of a workload, and the kind of memory of its buffers.

mod refusal;
mod whole;

use std::collections::BTreeMap;

use octavo_manager::{Advice, Kind, ProcessorId, ProcessorMask, Spread};
use octavo_program::{
    Before, Bring, Data, Exception, Existence, Frames, Lowering, Packed, ProgramKind, Rewriter, Workload,
};
use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::refusal::ProgramRefused;
pub(crate) use self::whole::Place;

/// The program around the launches of a workload, and the memory of its buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProgramChoice {
    /// Which part runs: the launches alone, on managed memory that the host has filled before time zero, or the whole
    /// program, with all buffers of one kind.
    pub kind: RunKind,
    /// Only for launches alone: when pages get frames, page by page when they are touched, or all at once when they are
    /// allocated, on the program's only GPU.
    #[serde(skip_serializing_if = "is_usual")]
    pub frames: Frames,
    /// Only for launches alone: when data arrive in GPU memory, by faults, all at once before the first launch, or at
    /// allocation, at no cost. The latter needs `frames = "allocation"`.
    #[serde(skip_serializing_if = "is_usual")]
    pub data: Data,
    /// Every buffer begins at the next multiple of this behind the one before it: 256B, as `cudaMalloc` packs them, to
    /// 2MiB, so that no two share a large page. As the workload has them if left out: its own, 2MiB apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alignment: Option<Bytes>,
    /// The GPUs that hold the bytes of device memory.
    pub devices: Spread,
    /// Threads of the host that write inputs and read outputs.
    #[schemars(range(min = 1))]
    pub host_threads: u32,
    /// Buffers that differ from the others, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub buffers: BTreeMap<String, BufferChoice>,
}

/// Which part of a program runs.
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
    /// The whole program as recorded: only for traces of whole programs, and their default.
    Recorded,
}

/// Differences of one buffer from the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BufferChoice {
    /// Its kind of memory; as `program.kind` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Advice: the processor whose memory should hold its pages (`host`, `gpu0`, …).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred: Option<String>,
    /// Advice: processors that should access its pages without a fault, wherever the pages are (`host`, `gpu0`, …).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accessed_by: Vec<String>,
    /// Advice: whether its pages are mostly read, so that every reader should have a copy.
    #[serde(skip_serializing_if = "is_false")]
    pub read_mostly: bool,
    /// The processor to whose memory the program prefetches all of it before launches (`cudaMemPrefetchAsync`: `host`,
    /// `gpu0`, …); no prefetch if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<String>,
    /// Before which launches it prefetches; the first if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetch_before: Option<Before>,
    /// What writes it anew, so that the program discards what is in it before (`cudaMemDiscardBatchAsync`): whole before
    /// `each-launch`, which must write all of it that is read later, or before `host-writes` between launches what
    /// these write. Only for managed memory, with drivers that discard (`node.driver.discard`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discard_before: Option<Rewriter>,
    /// Whether the host touches a word of each 4 KiB of it before any other access, so that its pages exist.
    #[serde(skip_serializing_if = "is_false")]
    pub populate: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for ProgramChoice {
    /// The launches alone.
    fn default() -> Self {
        Self {
            kind: RunKind::default(),
            frames: Frames::default(),
            data: Data::default(),
            alignment: None,
            devices: Spread::default(),
            host_threads: 1,
            buffers: BTreeMap::new(),
        }
    }
}

impl ProgramChoice {
    /// Whether nothing was chosen.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// When the memory of launches alone exists, and when its data arrive.
    pub(crate) const fn existence(&self) -> Existence {
        Existence { frames: self.frames, data: self.data }
    }

    /// The workload with its buffers as far apart as chosen.
    pub(crate) fn laid_out(&self, workload: Box<dyn Workload>) -> Box<dyn Workload> {
        match self.alignment {
            Some(Bytes(alignment)) => Box::new(Packed::new(workload, alignment)),
            None => workload,
        }
    }

    fn lowering(&self, kind: ProgramKind, workload: &dyn Workload) -> Lowering {
        let exception = |(index, name): (usize, &String)| {
            let own = self.buffers.get(name)?;
            Some((
                index,
                Exception {
                    kind: own.kind,
                    advice: own.advice(),
                    prefetch: own.bring(),
                    discard: own.discard_before,
                    populate: own.populate,
                },
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
    /// The advice about the buffer.
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
    let gpus = (0..octavo_manager::MAX_GPUS).map(ProcessorId::gpu);
    [octavo_manager::HOST].into_iter().chain(gpus).find(|processor| processor.to_string() == name)
}
