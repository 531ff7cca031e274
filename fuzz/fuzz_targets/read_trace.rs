//! One file of a recorded trace, with any content: everything that reads traces must come to an end with rows or with
//! an error.
//!
//! The first byte of the input says which file (0: instructions, 1: allocations, 2: launches); the others are its
//! content. The other two files come from a real trace.
#![no_main]

use std::fs;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use octavo_trace::{Filter, Layout, TraceWorkload, head, info, validate};
use octavo_program::{Cursor, Op, OpSink, Workload};

const FILES: [(&str, &[u8]); 3] = [
    ("instructions.parquet", include_bytes!("../../traces/nw-length-128.trace/instructions.parquet")),
    ("allocations.parquet", include_bytes!("../../traces/nw-length-128.trace/allocations.parquet")),
    ("launches.parquet", include_bytes!("../../traces/nw-length-128.trace/launches.parquet")),
];

/// Wavefronts that are replayed, and operations of each, at most: a file may claim any number.
const WAVEFRONTS: usize = 64;
const CHUNKS: usize = 64;

// The reader catches panics of the decoder that it uses. libfuzzer-sys ends the process in its panic hook, before
// anything can be caught, so that hook is removed. An uncaught panic still ends the process, where `fuzz_target!` does.
fuzz_target!(init: std::panic::set_hook(Box::new(|_| {})), |input: &[u8]| {
    let Some((which, content)) = input.split_first() else { return };
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    for (number, (name, original)) in FILES.iter().enumerate() {
        let bytes = if number == usize::from(*which) { content } else { original };
        fs::write(folder.path().join(name), bytes).expect("the temporary folder can be written to");
    }
    read(folder.path());
});

fn read(path: &Path) {
    let _ = validate(path);
    let _ = info(path);
    let _ = head(path, Filter::default(), 100);
    for layout in [Layout::Recorded, Layout::Packed] {
        if let Ok(workload) = TraceWorkload::open(path, layout) {
            replay(&workload);
        }
    }
}

fn replay(workload: &TraceWorkload) {
    let mut buffer = vec![Op::END; OpSink::MIN_CAPACITY];
    for (launch, group, wavefront) in wavefronts(workload).take(WAVEFRONTS) {
        let mut cursor = Cursor::default();
        for _ in 0..CHUNKS {
            let mut out = OpSink::new(&mut buffer);
            workload.fill(launch, group, wavefront, &mut cursor, &mut out);
            assert!(!out.is_empty(), "a workload makes progress");
            if out.as_slice().last() == Some(&Op::END) {
                break;
            }
        }
    }
}

fn wavefronts(workload: &TraceWorkload) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..workload.launches()).flat_map(move |launch| {
        let shape = workload.launch(launch);
        (0..shape.work_groups).flat_map(move |group| {
            (0..shape.wavefronts_per_group).map(move |wavefront| (launch, group, wavefront))
        })
    })
}
