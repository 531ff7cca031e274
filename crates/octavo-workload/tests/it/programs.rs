//! Every workload as a whole program of every kind.

use octavo_manager::{Access, Advice, HOST, Kind, ProcessorId, Spread};
use octavo_program::{
    Action, Before, Bring, Exception, HostSide, LINE_BYTES, Lowering, Mix, OpKind, Program, ProgramKind, Span,
    Workload, lower,
};
use octavo_workload::WORKLOADS;
use proptest::prelude::*;

use crate::built::{SEED, build, built};
use crate::lanes::stream;

/// Small, and built once.
fn small(name: &str) -> &'static dyn Workload {
    built(name, 0.003)
}

fn lowered(workload: &dyn Workload, kind: ProgramKind) -> Program {
    lower(workload, &Lowering { kind, ..Lowering::default() }).unwrap_or_else(|error| panic!("{kind:?}: {error}"))
}

/// Bytes that the statement of the host's side says the host writes (or reads) in all.
fn stated_bytes(workload: &dyn Workload, writes: bool) -> u64 {
    let side = workload.host_side();
    let roles = side.roles().iter().zip(workload.buffers());
    let whole = roles.filter(|(role, _)| if writes { role.input } else { role.output });
    let between = side.exchanges().iter().filter(|exchange| exchange.writes == writes);
    whole.map(|(_, buffer)| buffer.bytes).sum::<u64>()
        + between.map(|exchange| exchange.bytes.end - exchange.bytes.start).sum::<u64>()
}

/// Bytes that the host reads again, which are not copied back.
fn unchanged_bytes(workload: &dyn Workload) -> u64 {
    let side = workload.host_side();
    let again = side.exchanges().iter().filter(|exchange| exchange.unchanged);
    again.map(|exchange| exchange.bytes.end - exchange.bytes.start).sum()
}

/// Bytes of a program's copies into GPU memory, out of it, and of what its host phases write and read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Moved {
    copied_in: u64,
    copied_out: u64,
    written: u64,
    read: u64,
}

fn moved(program: &Program) -> Moved {
    let mut moved = Moved::default();
    let device = |span: &Span| program.buffers()[span.buffer.index()].kind == Kind::Device;
    for ordered in program.actions() {
        match &ordered.action {
            Action::Copy { from, to } if device(to) => moved.copied_in += from.len(),
            Action::Copy { from, .. } => moved.copied_out += from.len(),
            Action::Host(phase) => {
                for piece in (0..phase.threads).flat_map(|thread| phase.pieces(thread)) {
                    let bytes = piece.accesses().map(|bytes| bytes.end - bytes.start).sum::<u64>();
                    *if piece.access == Access::Write { &mut moved.written } else { &mut moved.read } += bytes;
                }
            }
            _ => {}
        }
    }
    moved
}

/// By buffer: how often it is allocated and freed, in the order of the list, nothing before or after.
fn assert_alive_once(program: &Program) {
    let mut uses = vec![Vec::new(); program.buffers().len()];
    for ordered in program.actions() {
        match &ordered.action {
            Action::Allocate(buffer) => uses[buffer.index()].push('a'),
            Action::Free(buffer) => uses[buffer.index()].push('f'),
            Action::Copy { from, to } => [from, to].iter().for_each(|span| uses[span.buffer.index()].push('u')),
            Action::Launch { buffers, .. } => buffers.iter().for_each(|buffer| uses[buffer.index()].push('u')),
            Action::Host(phase) => phase.sweeps.iter().for_each(|sweep| uses[sweep.span.buffer.index()].push('u')),
            _ => {}
        }
    }
    for (uses, buffer) in uses.iter().zip(program.buffers()) {
        let name = &buffer.buffer.name;
        assert!(uses.first() == Some(&'a') && uses.last() == Some(&'f'), "{name}");
        assert!(uses[1..uses.len() - 1].iter().all(|&found| found == 'u'), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_workload_is_a_program_of_every_kind(index in 0..WORKLOADS.entries.len(), scale in 0.003..0.01f64, threads in 1..9u32) {
        let workload = build(WORKLOADS.entries[index].name, scale, SEED);
        let launched: Vec<_> = (0..workload.launches()).collect();
        for kind in ProgramKind::ALL {
            let lowering = Lowering { kind, spread: Spread::Split, host_threads: threads, ..Lowering::default() };
            let program = lower(workload.as_ref(), &lowering).unwrap();
            assert_alive_once(&program);
            let launches: Vec<_> = program.actions().iter().filter_map(|ordered| match ordered.action {
                Action::Launch { launch, .. } => Some(launch),
                _ => None,
            }).collect();
            prop_assert_eq!(&launches, &launched);
            let [written, read] = [true, false].map(|writes| stated_bytes(workload.as_ref(), writes));
            let copied = |bytes| if kind == ProgramKind::Explicit { bytes } else { 0 };
            let changed = read - unchanged_bytes(workload.as_ref());
            let expected = Moved { copied_in: copied(written), copied_out: copied(changed), written, read };
            prop_assert_eq!(moved(&program), expected);
        }
    }
}

#[test]
fn a_device_buffer_among_managed_ones_has_memory_on_the_host_and_copies_of_its_own() {
    let workload = small("vectoradd");
    let side = workload.host_side();
    let input = side.roles().iter().position(|role| role.input && !role.output).unwrap();
    let advised = side.roles().iter().position(|role| role.output).unwrap();
    let device = Exception { kind: Some(Kind::Device), ..Exception::default() };
    let advice = Advice { preferred: Some(HOST.memory()), ..Advice::default() };
    let exceptions = [(input, device), (advised, Exception { advice, ..Exception::default() })].into();
    let program = lower(workload, &Lowering { exceptions, ..Lowering::default() }).unwrap();
    assert_alive_once(&program);
    let own = workload.buffers().len();
    let kinds: Vec<_> = program.buffers().iter().map(|buffer| buffer.kind).collect();
    let expected: Vec<_> = (0..own).map(|index| if index == input { Kind::Device } else { Kind::Managed }).collect();
    assert_eq!((&kinds[..own], &kinds[own..]), (&expected[..], &[Kind::System][..]));
    let moved = moved(&program);
    assert_eq!((moved.copied_in, moved.copied_out), (workload.buffers()[input].bytes, 0));
    assert_eq!(moved.written, stated_bytes(workload, true));
    let said: Vec<_> = program
        .actions()
        .iter()
        .filter_map(|ordered| match &ordered.action {
            Action::Advise { span, advice } => Some((span.buffer.index(), *advice)),
            _ => None,
        })
        .collect();
    assert_eq!(said, [(advised, advice)]);
    assert!(program.actions().iter().any(|ordered| ordered.action == Action::Synchronise), "the host reads in place");
}

#[test]
fn a_buffer_is_brought_before_the_first_launch_or_before_each() {
    let workload = small("stencil2d");
    let (launches, gpu) = (workload.launches(), ProcessorId::gpu(0));
    let brought = |before| {
        let exception = Exception { prefetch: Some(Bring { to: gpu, before }), ..Exception::default() };
        let lowering = Lowering { exceptions: [(0, exception)].into(), ..Lowering::default() };
        let program = lower(workload, &lowering).unwrap();
        let kinds: Vec<_> = program.actions().iter().map(|ordered| ordered.action.name()).collect();
        // Each right before its launch, all of the buffer.
        for (index, ordered) in program.actions().iter().enumerate() {
            if let Action::Prefetch { span, to } = &ordered.action {
                assert_eq!((span.buffer.index(), span.len(), *to), (0, workload.buffers()[0].bytes, gpu));
                assert_eq!(kinds[index + 1], "launch");
            }
        }
        kinds.iter().filter(|kind| **kind == "prefetch").count() as u32
    };
    assert_eq!((brought(Before::FirstLaunch), brought(Before::EachLaunch)), (1, launches));
}

#[test]
fn a_populated_buffer_is_touched_every_4_kib_before_anything_is_written() {
    let workload = small("stencil2d");
    let exception = Exception { populate: true, ..Exception::default() };
    let lowering = Lowering { kind: ProgramKind::System, exceptions: [(1, exception)].into(), ..Lowering::default() };
    let program = lower(workload, &lowering).unwrap();
    let phases: Vec<_> = program
        .actions()
        .iter()
        .filter_map(|ordered| match &ordered.action {
            Action::Host(phase) => Some(phase),
            _ => None,
        })
        .collect();
    assert_eq!(phases.iter().map(|phase| &*phase.name).take(2).collect::<Vec<_>>(), ["populate", "initialise"]);
    let touched: Vec<_> = phases[0].pieces(0).collect();
    let [piece] = &touched[..] else { panic!("one buffer: {touched:?}") };
    assert_eq!((piece.buffer.index(), piece.access), (1, Access::Write));
    let bytes = workload.buffers()[1].bytes;
    let expected: Vec<_> = (0..bytes.div_ceil(4096)).map(|page| page * 4096..bytes.min(page * 4096 + 8)).collect();
    assert_eq!(piece.accesses().collect::<Vec<_>>(), expected);
}

/// Work-groups of one launch see what those before them stored: threads hang their nodes below each other's.
const SEEN_AT_ONCE: &str = "bst";

#[test]
fn what_launches_read_was_written_before() {
    for name in WORKLOADS.names() {
        let workload = small(name);
        let program = lowered(workload, ProgramKind::Pinned);
        let mut written = Written::new(workload);
        for ordered in program.actions() {
            match &ordered.action {
                Action::Host(phase) => {
                    phase.sweeps.iter().filter(|sweep| sweep.access == Access::Write).for_each(|sweep| {
                        let base = program.buffers()[sweep.span.buffer.index()].buffer.base;
                        written.bytes(base + sweep.span.bytes.start, base + sweep.span.bytes.end);
                    })
                }
                Action::Launch { launch, .. } => {
                    if let Some(line) = written.launch(workload, *launch, name == SEEN_AT_ONCE) {
                        let found = workload.buffers().iter().rfind(|buffer| buffer.base <= line * LINE_BYTES).unwrap();
                        let offset = line * LINE_BYTES - found.base;
                        panic!("{name}: launch {launch} reads byte {offset} of `{}`, which nothing wrote", found.name);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Inputs whose first access is nevertheless a store: host and GPU write them in turn, or the GPU reads what it did not
/// overwrite.
const STORED_FIRST: [(&str, &str); 8] = [
    ("bfs-shoc", "flag"),
    ("bfs-rodinia", "over"),
    ("bfs-rodinia", "updating_graph_mask"),
    ("fft", "chk"),
    ("stencil2d", "data2"),
    ("3ds", "Anext"),
    ("streamcluster", "switch_membership"),
    // At this size its first row, which the source sets, is in one line with the others.
    ("fdtd2d", "ey"),
];

/// The transforms that begin alike end alike, so that the comparison stores nothing.
const NEVER_STORED: (&str, &str) = ("fft", "chk");

#[test]
fn inputs_are_read_and_outputs_are_written() {
    for name in WORKLOADS.names() {
        let workload = small(name);
        let (stated, used) = (workload.host_side(), HostSide::of_launches(workload));
        for ((buffer, stated), used) in workload.buffers().iter().zip(stated.roles()).zip(used.roles()) {
            let this = (name, buffer.name.as_str());
            let read = used.input || STORED_FIRST.contains(&this);
            assert!(read || !stated.input, "{name}: `{}` is an input that nothing reads", this.1);
            let written = used.output || this == NEVER_STORED;
            assert!(written || !stated.output, "{name}: `{}` is an output that nothing stores to", this.1);
        }
    }
}

/// Lines that the host or a launch has written.
struct Written {
    before: Vec<u64>,
    /// Lines stored to by the launch that runs.
    now: Vec<u64>,
    /// Lines stored to by the work-group that runs.
    group: std::collections::BTreeSet<u64>,
}

impl Written {
    fn new(workload: &dyn Workload) -> Self {
        let words = workload.address_end().div_ceil(LINE_BYTES * 64) as usize;
        Self { before: vec![0; words], now: Vec::new(), group: Default::default() }
    }

    fn bytes(&mut self, start: u64, end: u64) {
        (start / LINE_BYTES..end.div_ceil(LINE_BYTES)).for_each(|line| self.line(line));
    }

    fn line(&mut self, line: u64) {
        self.before[(line / 64) as usize] |= 1 << (line % 64);
    }

    fn has(&self, line: u64) -> bool {
        self.before[(line / 64) as usize] >> (line % 64) & 1 != 0
    }

    /// Adds what a launch stores to; the first line that it loads and that neither the host, an earlier launch nor its
    /// own work-group wrote, nor, with `at_once`, a work-group before it. Wavefronts of a group see each other's stores,
    /// whichever comes first.
    fn launch(&mut self, workload: &dyn Workload, launch: u32, at_once: bool) -> Option<u64> {
        let shape = workload.launch(launch);
        let mut unwritten = None;
        for group in 0..shape.work_groups {
            let streams =
                (0..shape.wavefronts_per_group).map(|wavefront| stream(workload, launch, group, wavefront, 1024));
            let ops: Vec<_> = streams.collect();
            let lines = |op: &octavo_program::Op| op.line()..op.line() + u64::from(op.count());
            let loads = |op: &&octavo_program::Op| matches!(op.kind(), OpKind::Load | OpKind::ScalarLoad);
            self.group = ops.iter().flatten().filter(|op| op.is_store()).flat_map(lines).collect();
            let missing = |line: &u64| !self.has(*line) && !self.group.contains(line);
            unwritten = unwritten.or_else(|| ops.iter().flatten().filter(loads).flat_map(lines).find(missing));
            self.now.extend(&self.group);
            if at_once {
                self.store();
            }
        }
        self.store();
        unwritten
    }

    fn store(&mut self) {
        std::mem::take(&mut self.now).into_iter().for_each(|line| self.line(line));
    }
}

#[test]
fn programs_of_a_mix_do_not_wait_for_each_other() {
    let kernels = ["vectoradd", "bfs-shoc", "trd"].map(|name| (name.to_owned(), small(name)));
    let mix = Mix::new(kernels.iter().map(|(name, kernel)| (name.clone(), *kernel)));
    for kind in ProgramKind::ALL {
        let program = lowered(&mix, kind);
        assert_alive_once(&program);
        assert_eq!(program.order().ready().count(), 3);
        let alone = ["vectoradd", "bfs-shoc", "trd"].map(|name| moved(&lowered(small(name), kind)));
        let sum = |part: fn(&Moved) -> u64| alone.iter().map(part).sum::<u64>();
        let (found, expected) = (moved(&program), [sum(|moved| moved.written), sum(|moved| moved.copied_out)]);
        assert_eq!([found.written, found.copied_out], expected, "{kind:?}");
    }
}
