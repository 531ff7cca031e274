//! Written traces are read and replayed unchanged.

mod support;

use octavo_program::{Cursor, Op, OpKind, OpSink, Workload};
use octavo_trace::{Counts, InstructionOrder, Kind, Layout, TraceReader, TraceWorkload, TraceWriter, info, validate};
use proptest::prelude::*;
use support::{Folder, Program, programs};

/// Cases of each property: each writes and reads files.
const CASES: u32 = 48;

fn stream(workload: &TraceWorkload, launch: u32, group: u32, wavefront: u32, capacity: usize) -> Vec<Op> {
    let (mut cursor, mut all, mut chunk) = (Cursor::default(), Vec::new(), vec![Op::END; capacity]);
    while all.last() != Some(&Op::END) {
        let mut sink = OpSink::new(&mut chunk);
        workload.fill(launch, group, wavefront, &mut cursor, &mut sink);
        assert!(!sink.is_empty());
        assert!(!sink.as_slice().last().unwrap().continues(), "instructions are whole");
        all.extend_from_slice(sink.as_slice());
    }
    all
}

/// An operation that is no computation, with what came before it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Step {
    fetched: Vec<u64>,
    /// Vector, scalar, local data, branch.
    instructions: [u64; 4],
    kind: Option<OpKind>,
    lines: Vec<u64>,
    /// Positions of lines that a store does not fill.
    partial: Vec<u64>,
    outstanding: u32,
}

/// Straight from the rows.
fn expected(program: &Program, wanted: (u32, u32, u16), place: impl Fn(u64) -> u64) -> Vec<Step> {
    let (mut steps, mut step) = (Vec::new(), Step::default());
    for row in program.rows.iter() {
        if (row.key.launch, row.key.group, row.key.wavefront) != wanted {
            continue;
        }
        let Counts { vector_alu, scalar_alu, local_data, branch } = row.counts;
        let counts = [vector_alu, scalar_alu, local_data, branch].map(u64::from);
        step.instructions.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        step.fetched.extend(row.code_lines);
        step.kind = Some(match row.kind {
            Kind::Load => OpKind::Load,
            Kind::Store | Kind::Atomic => OpKind::Store,
            Kind::Scalar => OpKind::ScalarLoad,
            Kind::Barrier => OpKind::Barrier,
            Kind::Wait => OpKind::Wait,
            Kind::End => OpKind::End,
        });
        step.lines = row.touched.values().iter().map(|line| place(*line)).collect();
        if row.kind == Kind::Wait {
            step.outstanding = row.vector_wait.unwrap_or(255).min(row.scalar_wait.unwrap_or(255)).into();
        }
        step.partial = row.partial.to_vec();
        // Without lines nothing happens, and a wait for nothing is none: what came before belongs to the next row.
        if row.tells_order() {
            (step.kind, step.outstanding) = (None, 0);
        } else if !row.kind.is_memory() || !step.lines.is_empty() {
            steps.push(std::mem::take(&mut step));
        }
    }
    steps
}

/// The same of operations.
fn flattened(ops: &[Op]) -> Vec<Step> {
    let (mut steps, mut step) = (Vec::new(), Step::default());
    for op in ops {
        let lines = op.line()..op.line() + u64::from(op.count());
        match op.kind() {
            OpKind::Fetch => {
                step.fetched.extend(lines);
                continue;
            }
            OpKind::Compute => {
                let mix = op.instructions();
                let counts = [mix.vector, mix.scalar, mix.local_data, mix.branch].map(u64::from);
                step.instructions.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                continue;
            }
            OpKind::Load | OpKind::Store | OpKind::ScalarLoad => {
                if op.is_partial() {
                    let before = step.lines.len() as u64;
                    step.partial.extend(before..before + u64::from(op.count()));
                }
                step.lines.extend(lines);
            }
            OpKind::Wait => step.outstanding = op.count(),
            OpKind::Barrier | OpKind::End => {}
        }
        step.kind = Some(op.kind());
        if !op.continues() {
            steps.push(std::mem::take(&mut step));
        }
    }
    steps
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reader_gives_back_what_was_written(program in programs(60)) {
        let folder = Folder::new();
        let path = folder.file("a.trace");
        program.write(&path);
        let reader = TraceReader::open(&path).unwrap();
        prop_assert_eq!(reader.header(), &program.header);
        prop_assert_eq!(reader.allocations(), &program.allocations[..]);
        prop_assert_eq!(reader.launches(), &program.launches[..]);
        prop_assert_eq!((reader.row_groups(), reader.row_count()), (1, program.rows.len() as u64));
        let rows = reader.rows(0).unwrap();
        prop_assert!(rows.iter().eq(program.rows.iter()));
        prop_assert_eq!(validate(&path), Ok(program.rows.len() as u64));
        let lines: u64 = program.rows.iter().map(|row| row.touched.values().len() as u64).sum();
        let total = info(&path).unwrap().total;
        prop_assert_eq!(total.load_lines + total.store_lines + total.atomic_lines + total.scalar_lines, lines);
    }

    #[test]
    fn replay_agrees_with_the_rows_in_any_order_and_chunk(
        program in programs(300), packed: bool, recorded: bool, capacity in 96usize..300
    ) {
        let folder = Folder::new();
        let path = folder.file("a.trace");
        program.write(&path);
        let layout = if packed { Layout::Packed } else { Layout::Recorded };
        let order = if recorded { InstructionOrder::Recorded } else { InstructionOrder::Grouped };
        let workload = TraceWorkload::open(&path, layout).unwrap().in_order(order);
        let place = |line: u64| {
            let position = program.allocations.iter().position(|found| line >= found.base / 64 && line * 64 < found.base + found.bytes);
            let position = position.unwrap();
            line - program.allocations[position].base / 64 + workload.buffers()[position].base / 64
        };
        for launch in (0..workload.launches()).rev() {
            let shape = workload.launch(launch);
            for group in (0..shape.work_groups).rev() {
                for wavefront in 0..shape.wavefronts_per_group {
                    let ops = stream(&workload, launch, group, wavefront, capacity);
                    prop_assert_eq!(flattened(&ops), expected(&program, (launch, group, wavefront as u16), place));
                    prop_assert!(ops.iter().filter(|op| **op == Op::END).count() == 1);
                }
            }
        }
        prop_assert_eq!(workload.failure(), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn wavefronts_span_row_groups_and_a_small_cache_changes_nothing(program in programs(300), group_rows in 1usize..200) {
        let folder = Folder::new();
        let path = folder.file("a.trace");
        let mut writer = TraceWriter::create(&path, program.header.clone()).unwrap().group_rows(group_rows);
        program.rows.iter().for_each(|row| writer.push(row).unwrap());
        writer.finish(&program.allocations, &program.launches).unwrap();
        let budget = 20_000;
        let large = TraceWorkload::open(&path, Layout::Recorded).unwrap();
        let small = TraceWorkload::with_budget(&path, Layout::Recorded, budget).unwrap();
        for launch in 0..small.launches() {
            let shape = small.launch(launch);
            for group in 0..shape.work_groups {
                for wavefront in 0..shape.wavefronts_per_group {
                    let ops = stream(&small, launch, group, wavefront, 96);
                    prop_assert_eq!(&ops, &stream(&large, launch, group, wavefront, 131));
                    // One row group always stays, however large.
                    prop_assert!(small.cached_bytes() <= budget.max(200 * 110 * 8));
                }
            }
        }
        prop_assert_eq!(small.failure(), None);
    }
}
