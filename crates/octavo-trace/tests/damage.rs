//! Damaged and hostile traces give errors, never panics, and never much memory.

#![allow(unsafe_code, reason = "an allocator that counts")]

mod support;

use std::alloc::{GlobalAlloc, Layout as Shape, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use octavo_manager::Kind;
use octavo_program::{Cursor, Op, OpSink, Workload};
use octavo_trace::{
    ActionKind, ActionRow, Allocation, Filter, Layout, Memory, NOBODY, SweepRow, TraceError, TraceReader,
    TraceWorkload, head, info, validate,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use support::{Folder, Program, programs};

/// Counts bytes in use, and their maximum.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, shape: Shape) -> *mut u8 {
        let used = USED.fetch_add(shape.size(), Ordering::Relaxed) + shape.size();
        PEAK.fetch_max(used, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(shape) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, shape: Shape) {
        USED.fetch_sub(shape.size(), Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, shape) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// More than any damaged file of a few kilobytes may make a reader allocate: a column chunk may claim 128 MiB, and is
/// decoded into levels and values.
const MAX_BYTES: usize = 600 << 20;

const LAUNCHES_ALONE: &[&str] = &["instructions.parquet", "allocations.parquet", "launches.parquet"];
const WHOLE: &[&str] = &["actions.parquet", "allocations.parquet", "launches.parquet", "instructions.parquet"];

/// A small trace of several row groups, always the same, of launches alone or of a whole program.
fn example(path: &Path, whole: bool) {
    let program = programs(40).new_tree(&mut TestRunner::deterministic()).unwrap().current();
    let mut writer = octavo_trace::TraceWriter::create(path, program.header.clone()).unwrap().group_rows(64);
    program.rows.iter().for_each(|row| writer.push(row).unwrap());
    let Program { allocations, launches, .. } = &program;
    if whole {
        let memories = [Kind::System, Kind::Managed, Kind::Device].map(|kind| Memory { kind, ..Memory::default() });
        writer.finish_program(allocations, &memories, launches, &actions(&program)).unwrap();
    } else {
        writer.finish(allocations, launches).unwrap();
    }
}

/// Every kind of action, one after another.
fn actions(program: &Program) -> Vec<ActionRow> {
    let [low, high, end] = [0, 1, 2].map(|index| &program.allocations[index]);
    let over = |kind, of: &Allocation| ActionRow { kind, address: of.base, bytes: of.bytes, ..ActionRow::default() };
    let sweep = |thread| SweepRow { address: low.base, bytes: 4000, writes: true, width: 8, stride: 80, thread };
    let phase = ActionRow {
        kind: ActionKind::Host,
        name: "fill".to_owned(),
        threads: 4,
        sweeps: vec![sweep(0), sweep(3)],
        ..ActionRow::default()
    };
    let mut rows: Vec<ActionRow> = [low, high, end].map(|of| over(ActionKind::Allocate, of)).into();
    rows.push(ActionRow { accessed_by: vec![0, 2], processor: NOBODY, ..over(ActionKind::Advise, high) });
    rows.push(phase);
    rows.push(ActionRow { processor: 1, ..over(ActionKind::Prefetch, high) });
    rows.push(ActionRow { source: low.base, ..over(ActionKind::Copy, end) });
    let launch =
        |launch| ActionRow { kind: ActionKind::Launch, launch, allocations: vec![0, 1, 2], ..ActionRow::default() };
    rows.extend((0..program.launches.len() as u32).map(launch));
    rows.push(ActionRow::default());
    rows.extend([low, high, end].map(|of| over(ActionKind::Free, of)));
    (1..).zip(&mut rows[1..]).for_each(|(number, row)| row.after = vec![number - 1]);
    rows
}

/// Everything that reads a trace; the first error of any.
fn read(path: &Path) -> Result<(), String> {
    let text = |error: TraceError| error.to_string();
    let all = [
        validate(path).map(drop).map_err(text),
        info(path).map(drop).map_err(text),
        head(path, Filter { launch: Some(1), ..Filter::default() }, 5).map(drop).map_err(text),
        replay(path),
    ];
    all.into_iter().collect()
}

fn replay(path: &Path) -> Result<(), String> {
    let workload = TraceWorkload::open(path, Layout::Recorded).map_err(|error| error.to_string())?;
    let end = workload.address_end().div_ceil(64);
    let mut chunk = vec![Op::END; OpSink::MIN_CAPACITY];
    for launch in 0..workload.launches() {
        let shape = workload.launch(launch);
        // A damaged table may claim billions.
        for group in 0..shape.work_groups.min(20) {
            for wavefront in 0..shape.wavefronts_per_group.min(4) {
                let mut cursor = Cursor::default();
                loop {
                    let mut sink = OpSink::new(&mut chunk);
                    workload.fill(launch, group, wavefront, &mut cursor, &mut sink);
                    assert!(!sink.is_empty());
                    assert!(sink.as_slice().iter().all(|op| op.line() + u64::from(op.count()) <= end || !memory(*op)));
                    if sink.as_slice().last() == Some(&Op::END) {
                        break;
                    }
                }
            }
        }
    }
    workload.failure().map_or(Ok(()), Err)
}

fn memory(op: Op) -> bool {
    matches!(op.kind(), octavo_program::OpKind::Load | octavo_program::OpKind::Store)
}

fn bounded<T>(action: impl FnOnce() -> T) -> T {
    PEAK.store(USED.load(Ordering::Relaxed), Ordering::Relaxed);
    let before = USED.load(Ordering::Relaxed);
    let result = action();
    let peak = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    assert!(peak < MAX_BYTES, "{peak} bytes");
    result
}

/// All in one test, since the allocator counts for all threads.
#[test]
fn damage_is_an_error() {
    for (whole, files) in [(false, LAUNCHES_ALONE), (true, WHOLE)] {
        let folder = Folder::new();
        let path = folder.file("a.trace");
        example(&path, whole);
        assert_eq!(read(&path), Ok(()));
        every_truncation(&path, files);
        many_mutations(&path, files);
        missing_files(&path, files);
    }
    kept_cases();
}

/// The damaged files that `make corpus` and `fuzz/keep.sh` keep, in the trace that they were made of.
fn kept_cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cases: Vec<_> =
        std::fs::read_dir(root.join("python/tests/corpus/trace")).unwrap().map(Result::unwrap).collect();
    assert!(!cases.is_empty());
    for case in cases {
        let folder = Folder::new();
        for files in [root.join("traces/nw-length-128.trace"), case.path().join("t.trace")] {
            for file in std::fs::read_dir(&files).unwrap().map(Result::unwrap) {
                std::fs::copy(file.path(), folder.file("").join(file.file_name())).unwrap();
            }
        }
        _ = bounded(|| read(&folder.file("")));
    }
}

fn every_truncation(path: &Path, files: &[&str]) {
    for name in files {
        let file = path.join(name);
        let whole = std::fs::read(&file).unwrap();
        let step = (whole.len() / 150).max(1);
        for length in (0..whole.len()).step_by(step) {
            std::fs::write(&file, &whole[..length]).unwrap();
            let error = bounded(|| read(path)).unwrap_err();
            assert!(error.contains(name), "cut to {length}: {error}");
        }
        std::fs::write(&file, &whole).unwrap();
    }
}

/// Bytes changed in places that a fixed seed chooses. Not every change is an error: names may change, and values within
/// their ranges.
fn many_mutations(path: &Path, files: &[&str]) {
    let mut runner = TestRunner::deterministic();
    let mutations = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4);
    // The last bytes are the footer, where lengths and offsets are.
    let near_end = any::<bool>();
    let case = (0..files.len(), mutations, near_end);
    let whole: Vec<_> = files.iter().map(|name| std::fs::read(path.join(name)).unwrap()).collect();
    let mut errors = 0;
    for _ in 0..cases() {
        let (index, mutations, near_end) = case.new_tree(&mut runner).unwrap().current();
        let mut bytes = whole[index].clone();
        let first = if near_end { bytes.len().saturating_sub(1200) } else { 0 };
        for (place, value) in mutations {
            let place = first + place.index(bytes.len() - first);
            bytes[place] = value;
        }
        std::fs::write(path.join(files[index]), &bytes).unwrap();
        errors += usize::from(bounded(|| read(path)).is_err());
        std::fs::write(path.join(files[index]), &whole[index]).unwrap();
    }
    assert!(errors > cases() / 2, "{errors} of {} are errors", cases());
}

/// More with `OCTAVO_FUZZ_CASES`.
fn cases() -> usize {
    std::env::var("OCTAVO_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1500)
}

fn missing_files(path: &Path, files: &[&str]) {
    for name in files {
        let aside = path.join("aside");
        std::fs::rename(path.join(name), &aside).unwrap();
        let error = read(path).unwrap_err();
        assert!(error.contains(name) && error.contains("cannot be read"), "{error}");
        std::fs::rename(&aside, path.join(name)).unwrap();
    }
    let error = TraceReader::open(&path.join("nowhere")).err().unwrap();
    assert!(error.reason.contains("does not exist"), "{error}");
    let error = TraceReader::open(&path.join(files[0])).err().unwrap();
    assert!(error.reason.contains("is no folder"), "{error}");
}
