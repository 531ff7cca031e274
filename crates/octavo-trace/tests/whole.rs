//! Whole programs in traces: written ones are read unchanged, impossible ones are refused by name.

mod support;

use octavo_manager::{Access, Advice, HOST, Kind as Memories, ProcessorId, ProcessorMask, Spread};
use octavo_program::{
    Action, ActionId, Buffer, BufferId, Cursor, HostPhase, Lowering, Op, OpSink, Program, ProgramBuffer,
    ProgramBuilder, ProgramKind, Size, Span, Sweep, Threads, Workload, lower,
};
use octavo_registry::Choice;
use octavo_trace::{
    ActionKind, ActionRow, Allocation, Counts, Header, Key, Kind, LaunchRow, Layout, Memory, NOBODY, Row, SweepRow,
    Touched, TraceReader, TraceWorkload, TraceWriter, Version, info, record, validate,
};
use octavo_workload::WORKLOADS;
use proptest::prelude::*;
use support::Folder;

const SIZE: u64 = 3 * 4096;

fn header() -> Header {
    Header { lanes: 64, source: "test 2".to_owned(), command: "by hand".to_owned() }
}

fn launch_row() -> LaunchRow {
    LaunchRow {
        kernel: "nothing".to_owned(),
        grid: [64, 1, 1],
        group: [64, 1, 1],
        wavefronts_per_group: 1,
        vector_registers: 0,
        scalar_registers: 0,
        local_data_bytes: 0,
        code_bytes: 0,
        flushed: false,
        split: Vec::new(),
    }
}

fn launches(count: u32) -> Vec<LaunchRow> {
    (0..count).map(|_| launch_row()).collect()
}

/// Launches that end at once, the first of which loads `line`.
fn writer(path: &std::path::Path, launches: u32, line: Option<u64>) -> TraceWriter {
    let mut writer = TraceWriter::create(path, header()).unwrap();
    for launch in 0..launches {
        let mut key = Key { launch, group: 0, wavefront: 0, sequence: 0 };
        if let Some(line) = line.filter(|_| launch == 0) {
            let load = Row::plain(key, Kind::Load, Counts::default());
            writer.push(Row { bytes: 4, lanes: 64, touched: Touched::Lines(&[line]), ..load }).unwrap();
            key.sequence = 1;
        }
        writer.push(Row::plain(key, Kind::End, Counts::default())).unwrap();
    }
    writer
}

/// One buffer of each kind, and one more on no GPU in particular.
fn buffers(program: &mut ProgramBuilder) -> Vec<BufferId> {
    let kinds = [
        ("managed", Memories::Managed, 0, Spread::Interleaved),
        ("system", Memories::System, 0, Spread::Interleaved),
        ("device", Memories::Device, 2, Spread::Interleaved),
        ("dealt", Memories::Device, 0, Spread::Split),
        ("pinned", Memories::Pinned, 0, Spread::Interleaved),
    ];
    let add = |(index, (name, kind, gpu, spread)): (usize, (&str, Memories, u8, Spread))| {
        let base = 0x10_0000 * (index as u64 + 1);
        program.buffer(Buffer { name: name.to_owned(), base, bytes: SIZE, gpu }, kind, spread)
    };
    kinds.into_iter().enumerate().map(add).collect()
}

/// A random action: its kind, and numbers from which its allocation and range are chosen.
#[derive(Clone, Debug)]
struct Drawn {
    what: u8,
    numbers: [u64; 4],
    after: Vec<prop::sample::Index>,
}

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let after = prop::collection::vec(any::<prop::sample::Index>(), 0..3);
    let one = (0u8..7, [0..SIZE, 1..SIZE, 1u64..200, 0u64..5], after);
    prop::collection::vec(one.prop_map(|(what, numbers, after)| Drawn { what, numbers, after }), 0..30)
}

/// A program of drawn actions: all buffers are allocated before them and freed afterwards, launches run one after
/// another.
fn program(drawn: &[Drawn]) -> (Program, u32) {
    let mut program = ProgramBuilder::default();
    let ids = buffers(&mut program);
    let allocated: Vec<ActionId> = ids.iter().map(|id| program.after(&[], Action::Allocate(*id))).collect();
    let (mut middle, mut launches, mut last): (Vec<ActionId>, u32, Option<ActionId>) = (Vec::new(), 0, None);
    for Drawn { what, numbers, after } in drawn {
        let mut before = allocated.clone();
        if !middle.is_empty() {
            before.extend(after.iter().map(|index| *index.get(&middle)));
        }
        let action = action(*what, *numbers, &ids, launches);
        let launch = matches!(action, Action::Launch { .. });
        before.extend(last.filter(|_| launch));
        before.sort_unstable();
        before.dedup();
        middle.push(program.after(&before, action));
        if launch {
            (launches, last) = (launches + 1, middle.last().copied());
        }
    }
    let before: Vec<ActionId> = allocated.into_iter().chain(middle).collect();
    for id in ids {
        program.after(&before, Action::Free(id));
    }
    (program.build(launches).unwrap(), launches)
}

fn action(what: u8, [start, bytes, width, which]: [u64; 4], ids: &[BufferId], launch: u32) -> Action {
    let part = |buffer| Span { buffer, bytes: start..(start + bytes).min(SIZE) };
    let on_host = [ids[0], ids[1], ids[4]][which as usize % 3];
    let moves = ids[which as usize % 2];
    match what {
        0 => {
            let by = if which == 0 { Threads::Shared } else { Threads::One(which as u32 - 1) };
            let access = if bytes % 2 == 0 { Access::Read } else { Access::Write };
            let sweep = Sweep { span: part(on_host), access, width, stride: width + which, by };
            let sweeps = vec![sweep; which as usize];
            Action::Host(HostPhase { name: format!("phase {start}").into(), threads: 5, sweeps })
        }
        1 => Action::Copy { from: part(ids[1]), to: part(ids[2]) },
        2 => Action::Copy { from: part(ids[3]), to: part(ids[4]) },
        3 => Action::Prefetch { span: part(moves), to: ProcessorId(which as u8) },
        4 => {
            let preferred = [None, Some(HOST.memory()), Some(ProcessorId::gpu(3).memory())][which as usize % 3];
            let accessed_by = ProcessorMask::EMPTY.with(HOST).with(ProcessorId::gpu(which as usize));
            Action::Advise { span: part(moves), advice: Advice { preferred, accessed_by, read_mostly: bytes % 2 == 0 } }
        }
        5 => Action::Discard(part(ids[0])),
        _ => Action::Launch { launch, buffers: ids[..which as usize].into() },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_program_is_read_back_as_it_was_written(drawn in drawn()) {
        let (folder, (program, count)) = (Folder::new(), program(&drawn));
        let path = folder.file("a.trace");
        writer(&path, count, None).finish_whole(&program, &launches(count)).unwrap();
        let reader = TraceReader::open(&path).unwrap();
        prop_assert_eq!(reader.version(), Version::Program);
        prop_assert_eq!(reader.program(), Some(&program));
        prop_assert_eq!(validate(&path), Ok(u64::from(count)));
        let replayed = TraceWorkload::open(&path, Layout::Recorded).unwrap();
        let placed = replayed.program().unwrap();
        prop_assert_eq!(placed.actions(), program.actions());
        let same = |(one, other): (&ProgramBuffer, &ProgramBuffer)| one.kind == other.kind && one.buffer.name == other.buffer.name;
        prop_assert!(placed.buffers().iter().zip(program.buffers()).all(same));
        let counted = info(&path).unwrap().program.unwrap();
        prop_assert_eq!(counted.actions.values().sum::<u64>(), program.actions().len() as u64);
        prop_assert_eq!((counted.actions["allocate"], counted.bytes["device"]), (5, 2 * SIZE));
    }
}

fn stream(workload: &dyn Workload, launch: u32, group: u32, wavefront: u32) -> Vec<Op> {
    let (mut cursor, mut all, mut chunk) = (Cursor::default(), Vec::new(), vec![Op::END; 512]);
    while all.last() != Some(&Op::END) {
        let mut sink = OpSink::new(&mut chunk);
        workload.fill(launch, group, wavefront, &mut cursor, &mut sink);
        all.extend_from_slice(sink.as_slice());
    }
    all
}

/// Its kind, the number of instructions before it, and the lines it touches, each with whether it is partly stored to.
type Instruction = (octavo_program::OpKind, u64, Vec<(u64, bool)>);

/// Instructions, however their lines are cut into operations.
fn instructions(ops: &[Op]) -> Vec<Instruction> {
    let (mut all, mut counted, mut lines) = (Vec::new(), 0, Vec::new());
    for op in ops {
        match op.kind() {
            octavo_program::OpKind::Compute => counted += op.instructions().total(),
            octavo_program::OpKind::Wait => all.push((op.kind(), counted, vec![(u64::from(op.count()), false)])),
            kind => {
                for run in op.uniform() {
                    lines
                        .extend((run.line()..run.line() + u64::from(run.count())).map(|line| (line, run.is_partial())));
                }
                if !op.continues() {
                    all.push((kind, counted, std::mem::take(&mut lines)));
                }
            }
        }
    }
    all
}

#[test]
fn kernels_recorded_as_whole_programs_replay_as_they_are() {
    let folder = Folder::new();
    for (name, scale) in [("vectoradd", 0.002), ("fir", 0.001), ("bfs-shoc", 0.001), ("nw", 0.001)] {
        let workload = WORKLOADS.build(&Choice::named(name), &Size { scale, seed: 3 }).unwrap();
        for (kind, spread) in ProgramKind::ALL.into_iter().zip([Spread::Split, Spread::Interleaved].into_iter().cycle())
        {
            let lowering = Lowering { kind, spread, host_threads: 3, ..Lowering::default() };
            let program = lower(workload.as_ref(), &lowering).unwrap();
            let path = folder.file(&format!("{name}-{}.trace", kind.name()));
            record(&path, workload.as_ref(), Some(&program), "octavo", name).unwrap();
            let replayed = TraceWorkload::open(&path, Layout::Recorded).unwrap();
            assert_eq!(replayed.program(), Some(&program), "{name} {kind:?}");
            assert_eq!(replayed.buffers(), workload.buffers(), "memory of the host is none of the launches'");
            for launch in (0..workload.launches()).step_by(3) {
                let shape = workload.launch(launch);
                assert_eq!(replayed.launch(launch), shape);
                let group = shape.work_groups / 2;
                let [model, trace] = [workload.as_ref(), &replayed].map(|from| stream(from, launch, group, 0));
                assert_eq!(instructions(&trace), instructions(&model), "{name} {launch}");
            }
            assert_eq!(replayed.failure(), None);
        }
    }
}

fn tables() -> ([Allocation; 2], [Memory; 2]) {
    let allocation = |name: &str, base| Allocation { name: name.to_owned(), base, bytes: SIZE, gpu: 0 };
    let memory = |kind| Memory { kind, spread: Spread::Interleaved };
    ([allocation("a", 0x1_0000), allocation("b", 0x2_0000)], [memory(Memories::System), memory(Memories::Device)])
}

/// Allocate a and b, write a, copy it to b, launch, free both.
fn rows() -> Vec<ActionRow> {
    let row = |kind, address, bytes| ActionRow { kind, address, bytes, ..ActionRow::default() };
    let sweep = SweepRow { address: 0x1_0000, bytes: 128, writes: true, width: 64, stride: 64, thread: 0 };
    let mut rows = vec![
        row(ActionKind::Allocate, 0x1_0000, SIZE),
        row(ActionKind::Allocate, 0x2_0000, SIZE),
        ActionRow { name: "fill".to_owned(), threads: 2, sweeps: vec![sweep], ..row(ActionKind::Host, 0, 0) },
        ActionRow { source: 0x1_0000, ..row(ActionKind::Copy, 0x2_0000, 64) },
        ActionRow { allocations: vec![1], ..row(ActionKind::Launch, 0, 0) },
        row(ActionKind::Free, 0x1_0000, SIZE),
        row(ActionKind::Free, 0x2_0000, SIZE),
    ];
    (1..).zip(&mut rows[1..]).for_each(|(number, row)| row.after = vec![number - 1]);
    rows
}

fn finished(rows: &[ActionRow], line: u64) -> Result<Program, octavo_trace::TraceError> {
    let (folder, (allocations, memories)) = (Folder::new(), tables());
    let path = folder.file("a.trace");
    writer(&path, 1, Some(line)).finish_program(&allocations, &memories, &launches(1), rows)?;
    Ok(TraceReader::open(&path).unwrap().program().unwrap().clone())
}

#[test]
fn rows_that_mean_nothing_are_named() {
    let program = finished(&rows(), 0x2_0000 / 64).unwrap();
    assert_eq!(program.actions().len(), 7);
    type Change = fn(&mut Vec<ActionRow>);
    let cases: [(Change, Option<u64>, &str); 16] = [
        (|rows| rows[0].address += 64, Some(0), "reach beyond the end of `a`"),
        (|rows| rows[0].bytes = 64, Some(0), "a `allocate` of 64 bytes at 65536, expected all 12288 of `a`"),
        (|rows| rows[3].source = 0x1_0000 + SIZE, Some(3), "is in no allocation"),
        (|rows| rows[3].bytes = 0, Some(3), "expected at least one"),
        (|rows| rows[3].address = 0x1_1000, Some(3), "expected device memory"),
        (|rows| rows[2].sweeps[0].thread = 3, Some(2), "thread 2 of a phase with 2 threads"),
        (|rows| rows[2].sweeps[0].stride = 63, Some(2), "accesses of 64 bytes every 63"),
        (|rows| rows[2].sweeps[0].stride = 1 << 40, Some(2), "expected at most"),
        (|rows| rows[4].launch = 1, Some(4), "there is no launch 1"),
        (|rows| rows[4].allocations = vec![2], Some(4), "there is no buffer 2"),
        (|rows| rows[4].threads = 1, Some(4), "a `launch` with columns that do not belong to it"),
        (|rows| rows[4].kind = ActionKind::Synchronise, Some(4), "columns that do not belong"),
        (|rows| rows[1].after = vec![6], Some(0), "waits for itself"),
        (|rows| rows[6].after = vec![], Some(6), "does not wait for the allocation"),
        (|rows| drop(rows.remove(6)), None, ""),
        (|rows| (rows[3].kind, rows[3].source) = (ActionKind::Prefetch, 0), Some(3), "managed or system memory"),
    ];
    for (change, row, reason) in cases {
        let mut rows = rows();
        change(&mut rows);
        let Err(error) = finished(&rows, 0x2_0000 / 64) else {
            assert!(reason.is_empty(), "{reason}");
            continue;
        };
        assert!(error.reason.contains(reason) && !reason.is_empty(), "{error}, expected {reason}");
        assert!(error.file.ends_with("a.trace/actions.parquet"), "{error}");
        // A circle is told by any of its actions.
        assert!(error.row == row || reason == "waits for itself", "{error}");
    }
}

#[test]
fn launches_run_once_in_their_order_and_touch_what_they_name() {
    let mut twice = rows();
    twice.insert(5, ActionRow { after: vec![4], ..twice[4].clone() });
    twice[6].after = vec![5];
    twice[7].after = vec![6];
    assert!(finished(&twice, 0x2_0000 / 64).unwrap_err().reason.contains("run by another action already"));
    let mut none = rows();
    none[4] = ActionRow { after: vec![3], ..ActionRow::default() };
    assert!(finished(&none, 0x2_0000 / 64).unwrap_err().reason.contains("no action runs launch 0"));
    let error = finished(&rows(), 0x1_0000 / 64).unwrap_err();
    assert!(error.file.ends_with("instructions.parquet") && error.row == Some(0), "{error}");
    assert!(error.reason.contains("does not name"), "{error}");
    assert_eq!(ActionRow::default().processor, 0);
    assert_eq!(NOBODY, 255);
}

#[test]
fn allocations_of_a_program_share_no_line() {
    let (folder, (mut allocations, memories)) = (Folder::new(), tables());
    allocations[0].bytes = 10;
    allocations[1].base = 0x1_0020;
    let path = folder.file("a.trace");
    let error = writer(&path, 1, None).finish_program(&allocations, &memories, &launches(1), &rows()).unwrap_err();
    assert!(error.reason.contains("begins in the last line of `a`"), "{error}");
    let error = writer(&path, 1, None).finish_program(&allocations, &memories[..1], &launches(1), &[]).unwrap_err();
    assert!(error.reason.contains("1 kinds of 2 allocations"), "{error}");
}
