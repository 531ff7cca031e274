//! The actions of one application, in the order in which its original program does them.

use std::ops::Range;
use std::sync::Arc;

use octavo_manager::{Access, Advice};

use super::lowering::{Before, Bring, Lowering, Rewriter};
use crate::action::Action;
use crate::buffer::{BufferId, Span};
use crate::host::{HostPhase, Sweep, Threads};
use crate::host_side::{Exchange, HostSide, Role};
use crate::lives::life;
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
    /// When buffers exist, by buffer of the workload.
    lives: &'a [Range<u32>],
    /// Its buffers that exist now.
    used: Arc<[BufferId]>,
    /// Whether it has an action already.
    begun: bool,
    /// Whether it has launched something that the host has not waited for.
    running: bool,
}

impl Chain<'_> {
    /// No action yet, of the application with these buffers of the workload, which exist throughout but for `lives`.
    pub(super) fn new<'a>(
        program: &'a mut ProgramBuilder,
        views: &'a [Option<BufferId>],
        side: &'a HostSide,
        lowering: &'a Lowering,
        buffers: Range<usize>,
        lives: &'a [Range<u32>],
    ) -> Chain<'a> {
        Chain { program, views, side, lowering, buffers, lives, used: Arc::default(), begun: false, running: false }
    }

    /// All actions, with `run` for each launch; `beside` is GPU memory that belongs to no buffer of the workload.
    pub(super) fn push(mut self, launches: Range<u32>, beside: &[BufferId], run: impl Fn(&mut Self, u32)) {
        self.used = self.living(|life| life.start <= launches.start).into();
        let used = Arc::clone(&self.used);
        let on_host = self.on_host_of(&used);
        let inputs = self.whole(|role| role.input);
        self.each(&on_host, Action::Allocate);
        self.advise(&used);
        self.populate(&used);
        self.host("initialise", Access::Write, &inputs);
        let device = self.device_of(&used);
        self.each(&device, Action::Allocate);
        self.each(beside, Action::Allocate);
        self.copy_in(&inputs);
        for launch in launches.clone() {
            let born = if launch == launches.start { self.used.to_vec() } else { self.replace_buffers(launch) };
            let lives = self.lives;
            self.exchanges(launch, |buffer| life(lives, buffer).end != launch);
            self.discard_outputs();
            self.bring(&born);
            run(&mut self, launch);
            self.running = true;
        }
        self.exchanges(launches.end, |_| true);
        self.wait_for_launches();
        let outputs = self.whole(|role| role.output);
        self.copy_out(&outputs);
        let used = Arc::clone(&self.used);
        let device = self.device_of(&used);
        self.each(&device, Action::Free);
        self.each(beside, Action::Free);
        self.host("read results", Access::Read, &outputs);
        let on_host = self.on_host_of(&used);
        self.each(&on_host, Action::Free);
    }

    /// Its buffers with such a life, in order.
    fn living(&self, wanted: impl Fn(&Range<u32>) -> bool) -> Vec<BufferId> {
        let chosen = self.buffers.clone().filter(|&buffer| wanted(&life(self.lives, buffer)));
        chosen.map(|index| BufferId(index as u32)).collect()
    }

    /// Before a launch: frees the buffers that nobody needs any more, once the host has read them, and allocates those
    /// that it is the first to have, which are returned.
    fn replace_buffers(&mut self, launch: u32) -> Vec<BufferId> {
        if self.lives.is_empty() {
            return Vec::new();
        }
        let lives = self.lives;
        self.exchanges(launch, |buffer| life(lives, buffer).end == launch);
        self.end(launch);
        let born = self.living(|life| life.start == launch);
        let (device, shared): (Vec<_>, Vec<_>) = born.iter().partition(|id| self.lowering.is_device(id.index()));
        self.each(&shared, Action::Allocate);
        self.advise(&shared);
        self.populate(&shared);
        self.each(&device, Action::Allocate);
        let mut used = [&*self.used, &born].concat();
        used.sort_unstable();
        self.used = used.into();
        born
    }

    /// Frees the buffers that do not live until a launch.
    fn end(&mut self, launch: u32) {
        let lives = self.lives;
        let is_over = |id: &BufferId| life(lives, id.index()).end == launch;
        let (over, kept): (Vec<_>, Vec<_>) = self.used.iter().partition(|id| is_over(id));
        if !over.is_empty() {
            self.each(&over, Action::Free);
            self.used = kept.into();
        }
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

    /// What the host sees of buffers. Of those in GPU memory these are copies, which exist throughout.
    fn on_host_of(&self, living: &[BufferId]) -> Vec<BufferId> {
        let seen = |index: usize| {
            let id = BufferId(index as u32);
            if self.lowering.is_device(index) { self.views[index] } else { living.contains(&id).then_some(id) }
        };
        self.buffers.clone().filter_map(seen).collect()
    }

    /// Those in GPU memory.
    fn device_of(&self, living: &[BufferId]) -> Vec<BufferId> {
        living.iter().copied().filter(|id| self.lowering.is_device(id.index())).collect()
    }

    /// Gives advice about whole buffers.
    fn advise(&mut self, about: &[BufferId]) {
        for &buffer in about {
            let said = self.lowering.exceptions.get(&buffer.index()).map(|exception| exception.advice);
            if let Some(advice) = said.filter(|advice| *advice != Advice::default()) {
                let span = Span { buffer, bytes: 0..self.program.bytes(buffer) };
                self.then(Action::Advise { span, advice });
            }
        }
    }

    /// The host writes a word of every page that should be populated.
    fn populate(&mut self, among: &[BufferId]) {
        let chosen = |id: &&BufferId| self.lowering.exceptions.get(&id.index()).is_some_and(|own| own.populate);
        let sweep = |&buffer: &BufferId| Sweep {
            span: Span { buffer, bytes: 0..self.program.bytes(buffer) },
            access: Access::Write,
            width: POPULATED_WIDTH,
            stride: POPULATED_STRIDE,
            by: Threads::Shared,
        };
        let sweeps: Vec<_> = among.iter().filter(chosen).map(sweep).collect();
        if !sweeps.is_empty() {
            self.then(Action::Host(HostPhase { name: "populate".into(), threads: self.lowering.host_threads, sweeps }));
        }
    }

    /// Brings whole buffers to their places before a launch, of those that are `new` also such as come once.
    fn bring(&mut self, new: &[BufferId]) {
        for &buffer in Arc::clone(&self.used).iter() {
            let wanted = self.lowering.exceptions.get(&buffer.index()).and_then(|exception| exception.prefetch);
            if let Some(Bring { to, .. }) =
                wanted.filter(|bring| new.contains(&buffer) || bring.before == Before::EachLaunch)
            {
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
    fn exchanges(&mut self, launch: u32, of: impl Fn(usize) -> bool) {
        let all = self.side.exchanges_before(launch).iter();
        let is_own = |exchange: &&Exchange| self.buffers.contains(&exchange.buffer) && of(exchange.buffer);
        let own: Vec<_> = all.filter(is_own).collect();
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
