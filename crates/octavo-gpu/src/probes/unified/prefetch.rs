//! Explicit prefetches (`cuMemPrefetchAsync`) of data that the other side wrote, to the GPU and then back to the host.
//! The host's clock times from the call to the end of the wait, as the driver does part of the work inside the call.

use super::bench::Bench;
use super::step::Step;
use crate::driver::memory::Moving;
use crate::driver::place::Place;
use crate::error::GpuError;
use crate::session::samples::Row;
use crate::session::{Session, host_seconds};

const QUICK: &[u64] = &[64 << 10, 1 << 20, 16 << 20, 64 << 20];
const FULL: &[u64] = &[64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30];

pub(super) fn plan<'a>(bench: &'a Bench<'a>) -> Vec<Step<'a>> {
    let sizes = bench.fitting(bench.choose(QUICK, FULL));
    let step = |size| {
        Step::new(format!("prefetch: {size} bytes"), move |session: &mut Session<'_>| measure(bench, session, size))
    };
    sizes.into_iter().map(step).collect()
}

/// Once there and back, untimed: for recording.
pub(super) fn once(bench: &Bench<'_>, session: &Session<'_>, size: u64) -> Result<(), GpuError> {
    if allowed(bench, session)? {
        there_and_back(bench, session, bench.of_host(size)?.as_ref(), size)?;
    }
    Ok(())
}

fn measure(bench: &Bench<'_>, session: &mut Session<'_>, size: u64) -> Result<(), GpuError> {
    if !allowed(bench, session)? {
        return Ok(());
    }
    session.repeat_rows(|session| {
        let memory = bench.of_host(size)?;
        let seconds = there_and_back(bench, session, memory.as_ref(), size)?;
        Ok(["to_gpu", "to_cpu"].into_iter().map(|direction| row(direction, size)).zip(seconds).collect())
    })
}

fn allowed(bench: &Bench<'_>, session: &Session<'_>) -> Result<bool, GpuError> {
    bench.allowed("prefetch", "", |memory| there_and_back(bench, session, memory, memory.bytes()).map(|_| ()))
}

fn there_and_back(
    bench: &Bench<'_>,
    session: &Session<'_>,
    memory: &dyn Moving,
    size: u64,
) -> Result<[f64; 2], GpuError> {
    let to = |place| {
        host_seconds(|| {
            session.stream.prefetch(memory, size, place)?;
            session.stream.wait()
        })
    };
    Ok([to(bench.here())?, to(Place::Host)?])
}

fn row(direction: &str, size: u64) -> Row {
    Row::of("prefetch").word("direction", direction).integer("size", size).bytes(size)
}
