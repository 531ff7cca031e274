//! Decodes traces as a simulation does and prints how fast: `cargo run --release --example decode -- TRACE...`.

use std::path::Path;
use std::time::Instant;

use octavo_program::{Cursor, Op, OpSink, Workload};
use octavo_trace::{Layout, TraceError, TraceReader, TraceWorkload};

fn main() -> Result<(), TraceError> {
    for path in std::env::args().skip(1) {
        let path = Path::new(&path);
        let began = Instant::now();
        let (rows, lines) = rows_and_lines(path)?;
        let columns = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let workload = TraceWorkload::open(path, Layout::Recorded)?;
        let opened = began.elapsed().as_secs_f64();
        let ops = replay(&workload);
        let replayed = began.elapsed().as_secs_f64() - opened;
        if let Some(reason) = workload.failure() {
            return Err(TraceError::new(path, reason));
        }
        let rate = |seconds: f64| lines as f64 / seconds / 1e6;
        println!(
            "{}: {rows} rows, {lines} lines, {ops} operations; columns {:.1}, replay {:.1} M lines/s; opened in {:.1} ms",
            path.display(),
            rate(columns),
            rate(replayed),
            opened * 1e3
        );
    }
    Ok(())
}

fn rows_and_lines(path: &Path) -> Result<(u64, u64), TraceError> {
    let reader = TraceReader::open(path)?;
    let mut lines = 0;
    for group in 0..reader.row_groups() {
        lines += reader.rows(group)?.touched() as u64;
    }
    Ok((reader.row_count(), lines))
}

/// All wavefronts one after another; returns the number of operations.
fn replay(workload: &TraceWorkload) -> u64 {
    let mut chunk = vec![Op::END; OpSink::MIN_CAPACITY];
    let mut ops = 0;
    for index in 0..workload.launches() {
        let launch = workload.launch(index);
        for group in 0..launch.work_groups {
            for wavefront in 0..launch.wavefronts_per_group {
                let mut cursor = Cursor::default();
                loop {
                    let mut sink = OpSink::new(&mut chunk);
                    workload.fill(index, group, wavefront, &mut cursor, &mut sink);
                    ops += sink.len() as u64;
                    if sink.as_slice().last() == Some(&Op::END) {
                        break;
                    }
                }
            }
        }
    }
    ops
}
