//! From a workload to a whole program, for each kind of memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use octavo_manager::{Access, Advice, Kind, ProcessorId, Spread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::{Action, BufferId, Span};
use crate::buffer::{BUFFER_ALIGNMENT, Buffer};
use crate::check::ProgramError;
use crate::host::{HostPhase, Sweep, Threads};
use crate::host_side::{Exchange, HostSide, Role};
use crate::launches::Workload;
use crate::program::{Program, ProgramBuilder};
use crate::strips::{Strips, StripsRefused};

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
    /// All of them.
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
    /// What it is, unless it is what the others are.
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
    /// Whose memory.
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

/// Bytes from one touch to the next where the host populates a buffer: the smallest page that hosts have.
const POPULATED_STRIDE: u64 = 4 << 10;
/// Bytes of such a touch.
const POPULATED_WIDTH: u64 = 8;

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

/// The whole program: allocate, write inputs, launch, read outputs, free, as the workload's
/// [host side](Workload::host_side) says. The first buffers are those of the workload; memory of the host, through which
/// the host sees device buffers, lies behind them.
///
/// Each application of a mix is a chain of actions; they do not wait for each other.
///
/// # Errors
/// When the host's side cannot be: bytes beyond the end of a buffer, a host without threads; or when something is said
/// about a buffer that does not move.
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

/// The whole program of a workload alone whose buffers do not fit `room` bytes of GPU memory, in [`Strips`]; the launches
/// of the program are those of the strips.
///
/// What is staged is memory of the host, of which GPU memory of its own has a strip at a time.
///
/// # Errors
/// As [`lower`]; or the launches cannot be cut into strips that fit.
pub fn lower_in_strips(
    workload: &dyn Workload,
    lowering: &Lowering,
    room: u64,
) -> Result<(Strips, Program), StripsRefused> {
    let side = workload.host_side();
    let strips = Strips::new(workload, &side, |buffer| lowering.is_device(buffer), room)?;
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

/// The actions of one application, one after another.
struct Chain<'a> {
    program: &'a mut ProgramBuilder,
    views: &'a [Option<BufferId>],
    side: &'a HostSide,
    lowering: &'a Lowering,
    /// Buffers of the application: as the workload numbers them, and as the program does.
    buffers: Range<usize>,
    used: Arc<[BufferId]>,
    /// Whether it has an action already.
    begun: bool,
    /// Whether it has launched something that the host has not waited for.
    running: bool,
}

impl Chain<'_> {
    /// No action yet, of the application with these buffers of the workload.
    fn new<'a>(
        program: &'a mut ProgramBuilder,
        views: &'a [Option<BufferId>],
        side: &'a HostSide,
        lowering: &'a Lowering,
        buffers: Range<usize>,
    ) -> Chain<'a> {
        let used = buffers.clone().map(|index| BufferId(index as u32)).collect();
        Chain { program, views, side, lowering, buffers, used, begun: false, running: false }
    }

    /// All actions, with `run` for each launch; `beside` is GPU memory that is no buffer of the workload.
    fn push(mut self, launches: Range<u32>, beside: &[BufferId], run: impl Fn(&mut Self, u32)) {
        let used = Arc::clone(&self.used);
        let own = used.iter().copied().filter(|id| self.lowering.is_device(id.index()));
        let device: Vec<_> = own.chain(beside.iter().copied()).collect();
        let on_host = self.allocated_first();
        let [inputs, outputs] = [|role: &Role| role.input, |role: &Role| role.output].map(|wanted| self.whole(wanted));
        self.each(&on_host, Action::Allocate);
        self.advise();
        self.populate();
        self.host("initialise", Access::Write, &inputs);
        self.each(&device, Action::Allocate);
        self.copy_in(&inputs);
        for launch in launches.clone() {
            self.exchanges(launch);
            self.bring(launch == launches.start);
            run(&mut self, launch);
            self.running = true;
        }
        self.exchanges(launches.end);
        self.wait_for_launches();
        self.copy_out(&outputs);
        self.each(&device, Action::Free);
        self.host("read results", Access::Read, &outputs);
        self.each(&on_host, Action::Free);
    }

    fn launch(&mut self, launch: u32) {
        self.then(Action::Launch { launch, buffers: Arc::clone(&self.used) });
    }

    /// A launch strip by strip, one after another: what a strip needs is copied in, it runs, what it changed is copied out.
    fn launch_strips(&mut self, strips: &Strips, arena: BufferId, launch: u32) {
        let staged: Vec<_> = strips.staged().map(|index| BufferId(index as u32)).collect();
        let kept = self.used.iter().copied().filter(|id| !staged.contains(id));
        let buffers: Arc<[BufferId]> = kept.chain([arena]).collect();
        for number in strips.of_launch(launch) {
            for (host, device) in strips[number].copies_in(arena) {
                self.then(Action::Copy { from: host, to: device });
            }
            self.then(Action::Launch { launch: number, buffers: Arc::clone(&buffers) });
            for (host, device) in strips[number].copies_out(arena) {
                self.then(Action::Copy { from: device, to: host });
            }
        }
    }

    /// What there is before the host writes its inputs: all buffers but those in GPU memory, whose memory on the host
    /// stands for them.
    fn allocated_first(&self) -> Vec<BufferId> {
        let first =
            |id: &BufferId| if self.lowering.is_device(id.index()) { self.views[id.index()] } else { Some(*id) };
        self.used.iter().filter_map(first).collect()
    }

    /// Says of whole buffers what is to be said.
    fn advise(&mut self) {
        for &buffer in Arc::clone(&self.used).iter() {
            let said = self.lowering.exceptions.get(&buffer.index()).map(|exception| exception.advice);
            if let Some(advice) = said.filter(|advice| *advice != Advice::default()) {
                let span = Span { buffer, bytes: 0..self.program.bytes(buffer) };
                self.then(Action::Advise { span, advice });
            }
        }
    }

    /// The host writes a word of every page of what is to be populated.
    fn populate(&mut self) {
        let chosen = |id: &&BufferId| self.lowering.exceptions.get(&id.index()).is_some_and(|own| own.populate);
        let sweep = |&buffer: &BufferId| Sweep {
            span: Span { buffer, bytes: 0..self.program.bytes(buffer) },
            access: Access::Write,
            width: POPULATED_WIDTH,
            stride: POPULATED_STRIDE,
            by: Threads::Shared,
        };
        let sweeps: Vec<_> = self.used.iter().filter(chosen).map(sweep).collect();
        if !sweeps.is_empty() {
            self.then(Action::Host(HostPhase { name: "populate".into(), threads: self.lowering.host_threads, sweeps }));
        }
    }

    /// Brings whole buffers to where they are to be before a launch.
    fn bring(&mut self, first: bool) {
        for &buffer in Arc::clone(&self.used).iter() {
            let wanted = self.lowering.exceptions.get(&buffer.index()).and_then(|exception| exception.prefetch);
            if let Some(Bring { to, .. }) = wanted.filter(|bring| first || bring.before == Before::EachLaunch) {
                let span = Span { buffer, bytes: 0..self.program.bytes(buffer) };
                self.then(Action::Prefetch { span, to });
            }
        }
    }

    /// All bytes of the application's buffers with such roles.
    fn whole(&self, wanted: impl Fn(&Role) -> bool) -> Vec<Span> {
        let buffers = self.used.iter().filter(|id| wanted(&self.side.roles()[id.index()]));
        buffers.map(|&buffer| Span { buffer, bytes: 0..self.program.bytes(buffer) }).collect()
    }

    /// What the host does just before `launch`: reads and writes in the order in which they were stated, those of the
    /// same direction side by side in one phase.
    fn exchanges(&mut self, launch: u32) {
        let all = self.side.exchanges();
        let first = all.partition_point(|exchange| exchange.before < launch);
        let end = all.partition_point(|exchange| exchange.before <= launch);
        let own: Vec<_> = all[first..end].iter().filter(|exchange| self.buffers.contains(&exchange.buffer)).collect();
        if !own.is_empty() {
            self.wait_for_launches();
        }
        for together in own.chunk_by(|one, next| one.writes == next.writes) {
            let span =
                |exchange: &Exchange| Span { buffer: BufferId(exchange.buffer as u32), bytes: exchange.bytes.clone() };
            let spans: Vec<_> = together.iter().copied().map(span).collect();
            if together[0].writes {
                self.host("between launches", Access::Write, &spans);
                self.copy_in(&spans);
            } else {
                let changed = together.iter().copied().filter(|exchange| !exchange.unchanged).map(span);
                self.copy_out(&changed.collect::<Vec<_>>());
                self.host("between launches", Access::Read, &spans);
            }
        }
    }

    /// The host waits for the GPUs if anything was launched. If all buffers are in GPU memory, it does so with the copy
    /// that follows.
    fn wait_for_launches(&mut self) {
        let running = std::mem::replace(&mut self.running, false);
        if running && !self.buffers.clone().all(|index| self.lowering.is_device(index)) {
            self.then(Action::Synchronise);
        }
    }

    fn host(&mut self, name: &'static str, access: Access, spans: &[Span]) {
        if spans.is_empty() {
            return;
        }
        let sweeps = spans.iter().map(|span| Sweep::over(self.on_host(span), access)).collect();
        self.then(Action::Host(HostPhase { name: name.into(), threads: self.lowering.host_threads, sweeps }));
    }

    /// The same bytes as the host sees them.
    fn on_host(&self, span: &Span) -> Span {
        let buffer = self.views[span.buffer.index()].expect("the host sees what it touches");
        Span { buffer, bytes: span.bytes.clone() }
    }

    fn copy_in(&mut self, spans: &[Span]) {
        self.copies(spans, |device, host| Action::Copy { from: host, to: device });
    }

    fn copy_out(&mut self, spans: &[Span]) {
        self.copies(spans, |device, host| Action::Copy { from: device, to: host });
    }

    /// A copy between GPUs and host for each of `spans` that the two do not share.
    fn copies(&mut self, spans: &[Span], copy: impl Fn(Span, Span) -> Action) {
        let lowering = self.lowering;
        for span in spans.iter().filter(|span| lowering.is_device(span.buffer.index())) {
            let action = copy(span.clone(), self.on_host(span));
            self.then(action);
        }
    }

    fn each(&mut self, buffers: &[BufferId], action: impl Fn(BufferId) -> Action) {
        for &buffer in buffers {
            self.then(action(buffer));
        }
    }

    fn then(&mut self, action: Action) {
        if std::mem::replace(&mut self.begun, true) {
            self.program.then(action);
        } else {
            self.program.after(&[], action);
        }
    }
}
