//! Buffers that exist between some launches alone.

use std::borrow::Cow;
use std::ops::Range;

use octavo_manager::Kind;
use octavo_program::{
    ALWAYS, Action, AddressSpace, Buffer, Cursor, Exception, HostSide, Launch, Lowering, Mix, Op, OpSink, Program,
    ProgramKind, Workload, footprint_pages, lower,
};

const MIB: u64 = 1 << 20;

/// Launches that do nothing.
struct Lives {
    buffers: Vec<Buffer>,
    lives: Vec<Range<u32>>,
    side: HostSide,
}

impl Lives {
    /// `a` always exists, `b` for the first two of four launches, `c` for the last two.
    fn new(side: impl Fn(&[Buffer]) -> HostSide) -> Self {
        let mut space = AddressSpace::default();
        let buffers: Vec<Buffer> =
            [("a", MIB), ("b", 4 * MIB), ("c", 2 * MIB)].map(|(name, bytes)| space.allocate(name, bytes)).into();
        let side = side(&buffers);
        Self { buffers, lives: vec![ALWAYS, 0..2, 2..4], side }
    }
}

impl Workload for Lives {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn lives(&self) -> &[Range<u32>] {
        &self.lives
    }

    fn launches(&self) -> u32 {
        4
    }

    fn launch(&self, _index: u32) -> Launch {
        Launch { kernel: Cow::Borrowed("nothing"), work_groups: 1, wavefronts_per_group: 1 }
    }

    fn host_side(&self) -> HostSide {
        self.side.clone()
    }

    fn fill(&self, _: u32, _: u32, _: u32, _: &mut Cursor, out: &mut OpSink<'_>) {
        out.push(Op::END);
    }
}

/// Allocations, frees and launches in order, with names of buffers.
fn told(program: &Program) -> Vec<String> {
    let name = |index: usize| program.buffers()[index].buffer.name.clone();
    let word = |action: &Action| match action {
        Action::Allocate(id) => Some(format!("+{}", name(id.index()))),
        Action::Free(id) => Some(format!("-{}", name(id.index()))),
        Action::Launch { launch, buffers } => {
            let buffers: Vec<_> = buffers.iter().map(|id| name(id.index())).collect();
            Some(format!("{launch}({})", buffers.join("")))
        }
        Action::Copy { from, to } => Some(format!("{}>{}", name(from.buffer.index()), name(to.buffer.index()))),
        _ => None,
    };
    program.actions().iter().filter_map(|ordered| word(&ordered.action)).collect()
}

fn idle(buffers: &[Buffer]) -> HostSide {
    HostSide::none(buffers.len())
}

fn kind(kind: ProgramKind) -> Lowering {
    Lowering { kind, ..Lowering::default() }
}

#[test]
fn a_buffer_is_allocated_before_its_first_launch_and_freed_after_its_last() {
    for all in [ProgramKind::Explicit, ProgramKind::Managed, ProgramKind::System, ProgramKind::Pinned] {
        let program = lower(&Lives::new(idle), &kind(all)).unwrap();
        assert_eq!(
            told(&program),
            ["+a", "+b", "0(ab)", "1(ab)", "-b", "+c", "2(ac)", "3(ac)", "-a", "-c"],
            "{}",
            all.name()
        );
    }
}

#[test]
fn the_host_reads_a_buffer_before_it_is_freed() {
    let side = |buffers: &[Buffer]| {
        HostSide::of(buffers).scratch(["a", "b", "c"]).reads_before(2, ["b"]).writes_before(2, ["c"]).build()
    };
    let program = lower(&Lives::new(side), &kind(ProgramKind::Managed)).unwrap();
    assert_eq!(told(&program), ["+a", "+b", "0(ab)", "1(ab)", "-b", "+c", "2(ac)", "3(ac)", "-a", "-c"]);
    let explicit = lower(&Lives::new(side), &kind(ProgramKind::Explicit)).unwrap();
    let copies: Vec<_> = told(&explicit).into_iter().filter(|word| word.contains('>')).collect();
    assert_eq!(copies, ["b>b@host", "c@host>c"]);
}

#[test]
fn what_is_said_of_a_buffer_holds_from_its_allocation_on() {
    let mut lowering = kind(ProgramKind::Managed);
    lowering.exceptions.insert(2, Exception { kind: Some(Kind::Device), ..Exception::default() });
    lowering.exceptions.insert(1, Exception { populate: true, ..Exception::default() });
    let program = lower(&Lives::new(idle), &lowering).unwrap();
    assert_eq!(told(&program), ["+a", "+b", "0(ab)", "1(ab)", "-b", "+c", "2(ac)", "3(ac)", "-c", "-a"]);
}

#[test]
fn the_footprint_is_the_most_at_once_and_programs_side_by_side_may_each_have_theirs() {
    let lives = Lives::new(idle);
    assert_eq!(lives.footprint(), 5 * MIB);
    assert_eq!(footprint_pages(4096, [&lives as &dyn Workload]), 5 * MIB / 4096);
    let mix = Mix::new([("one".to_owned(), &lives as &dyn Workload), ("two".to_owned(), &lives)]);
    assert_eq!(mix.footprint(), 10 * MIB);
    let program = lower(&mix, &kind(ProgramKind::Managed)).unwrap();
    let second: Vec<_> = told(&program).into_iter().filter(|word| word.contains("two/")).collect();
    let names = ["+two/a", "+two/b", "4(two/atwo/b)", "5(two/atwo/b)", "-two/b", "+two/c"];
    assert_eq!(second[..6], names);
}
