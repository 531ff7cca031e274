//! From a workload to a whole program, for each kind of memory.

mod chain;

use std::collections::BTreeMap;

use octavo_manager::{Advice, Kind, ProcessorId, Spread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::chain::Chain;
use crate::action::BufferId;
use crate::buffer::{BUFFER_ALIGNMENT, Buffer};
use crate::check::ProgramError;
use crate::host_side::HostSide;
use crate::launches::Workload;
use crate::program::{Program, ProgramBuilder};
use crate::strips::{Look, Strips, StripsRefused};

/// Which memory all buffers of a program are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramKind {
    /// GPU memory, with system memory on the host beside it and copies between the two.
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

    /// What the buffers that GPUs touch are.
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
    /// What the program says about it once it is allocated.
    pub advice: Advice,
    /// Where the program brings all of it before launches.
    pub prefetch: Option<Bring>,
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
    /// What a buffer of the workload is.
    #[must_use]
    pub fn kind_of(&self, buffer: usize) -> Kind {
        let own = self.exceptions.get(&buffer).and_then(|exception| exception.kind);
        own.unwrap_or(self.kind.buffers())
    }

    fn is_device(&self, buffer: usize) -> bool {
        self.kind_of(buffer) == Kind::Device
    }

    /// The same, but what is staged lies in memory of the host.
    fn with_staged(&self, strips: &Strips) -> Self {
        let mut staged = self.clone();
        for buffer in strips.staged() {
            staged.exceptions.entry(buffer).or_default().kind = Some(Kind::System);
        }
        staged
    }
}

impl Default for Lowering {
    /// As the kernels' original programs do it, most of which have a host of one thread.
    fn default() -> Self {
        Self { kind: ProgramKind::default(), spread: Spread::default(), host_threads: 1, exceptions: BTreeMap::new() }
    }
}

/// The whole program: allocate, write inputs, launch, read outputs, free, as the workload's [host
/// side](Workload::host_side) says. The workload's buffers come first. Host memory, through which the host sees device
/// buffers, comes after them.
///
/// Each application of a mix is a chain of actions; they do not wait for each other.
///
/// # Errors The host's side is impossible (bytes beyond the end of a buffer, a host without threads), or an option
/// concerns a buffer that does not move.
pub fn lower(workload: &dyn Workload, lowering: &Lowering) -> Result<Program, ProgramError> {
    let side = workload.host_side();
    let mut program = ProgramBuilder::default();
    let views = views(&mut program, workload.buffers(), &side, lowering);
    for application in workload.applications() {
        let chain = Chain::new(&mut program, &views, &side, lowering, application.buffers);
        chain.push(application.launches, &[], Chain::launch);
    }
    program.build(workload.launches())
}

/// The whole program of a workload alone whose buffers do not fit `room` bytes of GPU memory, in [`Strips`]; each strip
/// is a launch of the program.
///
/// Staged buffers lie in host memory; a buffer on the GPU holds one strip at a time.
///
/// # Errors
/// As [`lower`]; or the launches cannot be cut into strips that fit, or not in reasonable time.
pub fn lower_in_strips(
    workload: &dyn Workload,
    lowering: &Lowering,
    room: u64,
    look: &mut Look<'_>,
) -> Result<(Strips, Program), StripsRefused> {
    let side = workload.host_side();
    let strips = Strips::new(workload, &side, |buffer| lowering.is_device(buffer), room, look)?;
    let staged = lowering.with_staged(&strips);
    let mut program = ProgramBuilder::default();
    let views = views(&mut program, workload.buffers(), &side, &staged);
    let arena = strips.arena(program.end());
    let arena = program.buffer(arena, Kind::Device, lowering.spread);
    let chain = Chain::new(&mut program, &views, &side, &staged, 0..workload.buffers().len());
    chain.push(0..workload.launches(), &[arena], |chain, launch| chain.launch_strips(&strips, arena, launch));
    let program = program.build(strips.len())?;
    Ok((strips, program))
}

/// Adds all buffers; returns, for each of the workload's, that through which the host sees it, if it does.
fn views(
    program: &mut ProgramBuilder,
    buffers: &[Buffer],
    side: &HostSide,
    lowering: &Lowering,
) -> Vec<Option<BufferId>> {
    for (index, buffer) in buffers.iter().enumerate() {
        program.buffer(buffer.clone(), lowering.kind_of(index), lowering.spread);
    }
    let mut base = buffers.last().map_or(0, |last| (last.base + last.bytes).next_multiple_of(BUFFER_ALIGNMENT));
    let mut seen: Vec<bool> = side.roles().iter().map(|role| role.input || role.output).collect();
    side.exchanges().iter().for_each(|exchange| seen[exchange.buffer] = true);
    let view = |(index, buffer): (usize, &Buffer)| {
        if !seen[index] || !lowering.is_device(index) {
            return seen[index].then_some(BufferId(index as u32));
        }
        let on_host = Buffer { name: format!("{}@host", buffer.name), base, bytes: buffer.bytes, gpu: 0 };
        base = (base + buffer.bytes).next_multiple_of(BUFFER_ALIGNMENT);
        Some(program.buffer(on_host, Kind::System, lowering.spread))
    };
    buffers.iter().enumerate().map(view).collect()
}
