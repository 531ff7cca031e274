//! How a workload becomes a whole program.

use std::collections::BTreeMap;

use octavo_manager::{Advice, Kind, ProcessorId, Spread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::strips::Strips;

/// Which memory all buffers of a program are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramKind {
    /// GPU memory, with system memory on the host for each of them and copies between the two.
    Explicit,
    /// Managed memory, which host and GPUs share.
    #[default]
    Managed,
    /// System memory, which GPUs can touch too.
    System,
    /// Pinned memory of the host, which GPUs touch remotely.
    Pinned,
}

impl ProgramKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Explicit, Self::Managed, Self::System, Self::Pinned];

    /// The name that users type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Managed | Self::System | Self::Pinned => self.buffers().name(),
        }
    }

    /// The kind of the buffers that GPUs touch.
    #[must_use]
    pub const fn buffers(self) -> Kind {
        match self {
            Self::Explicit => Kind::Device,
            Self::Managed => Kind::Managed,
            Self::System => Kind::System,
            Self::Pinned => Kind::Pinned,
        }
    }
}

/// How a buffer differs from the others of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exception {
    /// Its kind, if it differs from the other buffers' kind.
    pub kind: Option<Kind>,
    /// The program's advice about it once it is allocated.
    pub advice: Advice,
    /// Where the program brings all of it before launches.
    pub prefetch: Option<Bring>,
    /// When the program discards what is in it.
    pub discard: Option<Rewriter>,
    /// Whether the host touches every page of it first, so that it has an entry of each.
    pub populate: bool,
}

/// Bringing all of a buffer to a processor's memory (`cudaMemPrefetchAsync`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bring {
    /// The processor whose memory gets it.
    pub to: ProcessorId,
    /// Before which launches.
    pub before: Before,
}

/// Before which launches of a program something is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Before {
    /// The first one.
    #[default]
    FirstLaunch,
    /// Each of them.
    EachLaunch,
}

/// What writes a buffer anew, so that nothing in it is needed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rewriter {
    /// Each launch writes whatever of it is read later.
    EachLaunch,
    /// The host writes some of it between launches: that part is discarded before.
    HostWrites,
}

/// How a workload becomes a whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowering {
    /// Which memory the buffers are in.
    pub kind: ProgramKind,
    /// How device buffers lie on several GPUs, unless the workload says on which one.
    pub spread: Spread,
    /// Threads of the host that write inputs and read outputs, at least one.
    pub host_threads: u32,
    /// Buffers that differ, by their place among the workload's.
    pub exceptions: BTreeMap<usize, Exception>,
}

impl Lowering {
    /// The kind of a buffer of the workload.
    #[must_use]
    pub fn kind_of(&self, buffer: usize) -> Kind {
        let own = self.exceptions.get(&buffer).and_then(|exception| exception.kind);
        own.unwrap_or(self.kind.buffers())
    }

    pub(super) fn is_device(&self, buffer: usize) -> bool {
        self.kind_of(buffer) == Kind::Device
    }

    /// The same, but staged buffers are in memory of the host.
    pub(super) fn with_staged(&self, strips: &Strips) -> Self {
        let mut staged = self.clone();
        for buffer in strips.staged() {
            staged.exceptions.entry(buffer).or_default().kind = Some(Kind::System);
        }
        staged
    }
}

impl Default for Lowering {
    /// Like the kernels' original programs, most of which have a host with one thread.
    fn default() -> Self {
        Self { kind: ProgramKind::default(), spread: Spread::default(), host_threads: 1, exceptions: BTreeMap::new() }
    }
}
