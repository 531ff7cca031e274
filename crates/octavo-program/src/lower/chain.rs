//! The actions of one application, in the order in which its original program does them.

use std::ops::Range;
use std::sync::Arc;

use octavo_manager::{Access, Advice};

use super::lowering::{Before, Bring, Lowering, Rewriter};
use crate::action::Action;
use crate::buffer::{BufferId, Span};
use crate::host::{HostPhase, Sweep, Threads};
use crate::host_side::{Exchange, HostSide, Role};
use crate::program::ProgramBuilder;
use crate::strips::Strips;

/// Bytes from one touch to the next where the host populates a buffer: the smallest page that hosts have.
const POPULATED_STRIDE: u64 = 4 << 10;
/// Bytes of such a touch.
const POPULATED_WIDTH: u64 = 8;

/// The actions of one application, one after another.
pub(super) struct Chain<'a> {
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
    pub(super) fn new<'a>(
        program: &'a mut ProgramBuilder,
        views: &'a [Option<BufferId>],
        side: &'a HostSide,
        lowering: &'a Lowering,
        buffers: Range<usize>,
    ) -> Chain<'a> {
        let used = buffers.clone().map(|index| BufferId(index as u32)).collect();
        Chain { program, views, side, lowering, buffers, used, begun: false, running: false }
    }

    /// All actions, with `run` for each launch; `beside` is GPU memory that belongs to no buffer of the workload.
    pub(super) fn push(mut self, launches: Range<u32>, beside: &[BufferId], run: impl Fn(&mut Self, u32)) {
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
            self.discard_outputs();
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

    pub(super) fn launch(&mut self, launch: u32) {
        self.then(Action::Launch { launch, buffers: Arc::clone(&self.used) });
    }

    /// A launch strip by strip, one after another: the data that a strip needs is copied in, it runs, and the data that
    /// it changed is copied out.
    pub(super) fn launch_strips(&mut self, strips: &Strips, arena: BufferId, launch: u32) {
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

    /// The buffers that exist before the host writes its inputs. A buffer in GPU memory is represented by its copy on
    /// the host.
    fn allocated_first(&self) -> Vec<BufferId> {
        let first =
            |id: &BufferId| if self.lowering.is_device(id.index()) { self.views[id.index()] } else { Some(*id) };
        self.used.iter().filter_map(first).collect()
    }

    /// Gives advice about whole buffers.
    fn advise(&mut self) {
        for &buffer in Arc::clone(&self.used).iter() {
            let said = self.lowering.exceptions.get(&buffer.index()).map(|exception| exception.advice);
            if let Some(advice) = said.filter(|advice| *advice != Advice::default()) {
                let span = Span { buffer, bytes: 0..self.program.bytes(buffer) };
                self.then(Action::Advise { span, advice });
            }
        }
    }

    /// The host writes a word of every page that should be populated.
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

    /// Brings whole buffers to their places before a launch.
    fn bring(&mut self, first: bool) {
        for &buffer in Arc::clone(&self.used).iter() {
            let wanted = self.lowering.exceptions.get(&buffer.index()).and_then(|exception| exception.prefetch);
            if let Some(Bring { to, .. }) = wanted.filter(|bring| first || bring.before == Before::EachLaunch) {
                let span = Span { buffer, bytes: 0..self.program.bytes(buffer) };
                self.then(Action::Prefetch { span, to });
            }
        }
    }

    /// Discards buffers that each launch writes anew.
    fn discard_outputs(&mut self) {
        for &buffer in Arc::clone(&self.used).iter() {
            self.discard(&Span { buffer, bytes: 0..self.program.bytes(buffer) }, Rewriter::EachLaunch);
        }
    }

    fn discard(&mut self, span: &Span, by: Rewriter) {
        let said = self.lowering.exceptions.get(&span.buffer.index()).and_then(|exception| exception.discard);
        if said == Some(by) {
            self.then(Action::Discard(span.clone()));
        }
    }

    /// All bytes of the application's buffers with such roles.
    fn whole(&self, wanted: impl Fn(&Role) -> bool) -> Vec<Span> {
        let buffers = self.used.iter().filter(|id| wanted(&self.side.roles()[id.index()]));
        buffers.map(|&buffer| Span { buffer, bytes: 0..self.program.bytes(buffer) }).collect()
    }

    /// The host's work just before `launch`: reads and writes in the order in which they were stated, neighbours of one
    /// direction together in one phase.
    fn exchanges(&mut self, launch: u32) {
        let all = self.side.exchanges_before(launch).iter();
        let own: Vec<_> = all.filter(|exchange| self.buffers.contains(&exchange.buffer)).collect();
        if !own.is_empty() {
            self.wait_for_launches();
        }
        for together in own.chunk_by(|one, next| one.writes == next.writes) {
            let span =
                |exchange: &Exchange| Span { buffer: BufferId(exchange.buffer as u32), bytes: exchange.bytes.clone() };
            let spans: Vec<_> = together.iter().copied().map(span).collect();
            if together[0].writes {
                spans.iter().for_each(|span| self.discard(span, Rewriter::HostWrites));
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
