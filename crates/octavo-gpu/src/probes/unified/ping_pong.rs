//! Processor and GPU write the same pages in turn, each waiting for the other. Every round moves every page to the GPU
//! and back, until the driver detects the competition and slows one of them down, or pins the pages.

use super::bench::Bench;
use super::step::Step;
use crate::driver::memory::{BLOCK, PAGE};
use crate::error::GpuError;
use crate::session::Session;
use crate::session::samples::Row;

const QUICK: &[u64] = &[BLOCK];
const FULL: &[u64] = &[BLOCK, 32 << 20];

const QUICK_ROUNDS: u64 = 8;
const FULL_ROUNDS: u64 = 24;

/// Each round writes different values.
const STAMP: u32 = 32;

pub(super) fn plan<'a>(bench: &'a Bench<'a>) -> Vec<Step<'a>> {
    let rounds = bench.choose(QUICK_ROUNDS, FULL_ROUNDS);
    let step = |size| {
        Step::new(format!("ping-pong: {size} bytes"), move |session: &mut Session<'_>| {
            session.repeat_rows(|session| play(bench, session, size, rounds))
        })
    };
    // The largest first: its rounds last so long that the driver sees no fight, until it has seen one elsewhere.
    bench.fitting(bench.choose(QUICK, FULL)).into_iter().rev().map(step).collect()
}

/// The processor has written first, outside of the rounds.
pub(super) fn play(
    bench: &Bench<'_>,
    session: &Session<'_>,
    size: u64,
    rounds: u64,
) -> Result<Vec<(Row, f64)>, GpuError> {
    let memory = bench.of_host(size)?;
    let mut rows = Vec::new();
    for round in 0..rounds {
        let stamp = (round + 1) << STAMP;
        rows.push((row("gpu", round, size), bench.gpu_marks(session, memory.as_ref(), stamp)?));
        rows.push((row("cpu", round, size), bench.cpu_marks(memory.as_ref(), stamp)?));
    }
    Ok(rows)
}

fn row(side: &str, round: u64, size: u64) -> Row {
    let row = Row::of("ping_pong").word("side", side).integer("round", round);
    row.integer("pages", size / PAGE).integer("size", size).bytes(size)
}
