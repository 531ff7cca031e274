//! Damaged and hostile traces give errors, never panics, and never much memory.

#![allow(unsafe_code, reason = "an allocator that counts")]

mod support;

use std::alloc::{GlobalAlloc, Layout as Shape, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use octavo_program::{Cursor, Op, OpSink, Workload};
use octavo_trace::{Filter, Layout, TraceError, TraceReader, TraceWorkload, head, info, validate};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use support::{Folder, Program, programs};

/// Counts bytes in use, and the most there ever were.
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

/// More than any damaged file of a few kilobytes may make a reader ask for: a column chunk may claim 128 MiB, and is
/// decoded into levels and values.
const MAX_BYTES: usize = 600 << 20;

const FILES: [&str; 3] = ["instructions.parquet", "allocations.parquet", "launches.parquet"];

/// A small trace of several row groups, always the same.
fn example(path: &Path) -> Program {
    let program = programs(40).new_tree(&mut TestRunner::deterministic()).unwrap().current();
    let mut writer = octavo_trace::TraceWriter::create(path, program.header.clone()).unwrap().group_rows(64);
    program.rows.iter().for_each(|row| writer.push(row).unwrap());
    writer.finish(&program.allocations, &program.launches).unwrap();
    program
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
    let folder = Folder::new();
    let path = folder.file("a.trace");
    example(&path);
    assert_eq!(read(&path), Ok(()));
    every_truncation(&path);
    many_mutations(&path);
    missing_files(&path);
}

fn every_truncation(path: &Path) {
    for name in FILES {
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

/// Bytes changed in places that a fixed seed chooses. Not every change is an error: names may change, and values
/// within what they may be.
fn many_mutations(path: &Path) {
    let mut runner = TestRunner::deterministic();
    let mutations = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4);
    // The last bytes are the footer, where lengths and offsets are.
    let near_end = any::<bool>();
    let case = (0..FILES.len(), mutations, near_end);
    let whole = FILES.map(|name| std::fs::read(path.join(name)).unwrap());
    let mut errors = 0;
    for _ in 0..cases() {
        let (index, mutations, near_end) = case.new_tree(&mut runner).unwrap().current();
        let mut bytes = whole[index].clone();
        let first = if near_end { bytes.len().saturating_sub(1200) } else { 0 };
        for (place, value) in mutations {
            let place = first + place.index(bytes.len() - first);
            bytes[place] = value;
        }
        std::fs::write(path.join(FILES[index]), &bytes).unwrap();
        errors += usize::from(bounded(|| read(path)).is_err());
        std::fs::write(path.join(FILES[index]), &whole[index]).unwrap();
    }
    assert!(errors > cases() / 2, "{errors} of {} are errors", cases());
}

/// More with `OCTAVO_FUZZ_CASES`.
fn cases() -> usize {
    std::env::var("OCTAVO_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1500)
}

fn missing_files(path: &Path) {
    for name in FILES {
        let aside = path.join("aside");
        std::fs::rename(path.join(name), &aside).unwrap();
        let error = read(path).unwrap_err();
        assert!(error.contains(name) && error.contains("cannot be read"), "{error}");
        std::fs::rename(&aside, path.join(name)).unwrap();
    }
    let error = TraceReader::open(&path.join("nowhere")).err().unwrap();
    assert!(error.reason.contains("does not exist"), "{error}");
    let error = TraceReader::open(&path.join(FILES[0])).err().unwrap();
    assert!(error.reason.contains("is no folder"), "{error}");
}
