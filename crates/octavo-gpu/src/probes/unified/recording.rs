//! Some accesses once more, with CUPTI recording what the driver does: migration on demand both ways, prefetches,
//! ping-pong until the driver steps in, every hint. Recording slows the driver down, so that nothing of this is timed.

use super::bench::Bench;
use super::order::Pattern;
use super::step::Step;
use super::{advise, host, ping_pong, prefetch};
use crate::cupti;
use crate::driver::memory::BLOCK;
use crate::error::GpuError;
use crate::session::Session;
use crate::session::effort::Request;

/// Small, so that the records are: a few blocks of the driver.
const SIZE: u64 = 4 * BLOCK;

/// Thread blocks in flight.
const BLOCKS: u32 = 4;

const ROUNDS: u64 = 16;

pub(super) fn plan<'a>(bench: &'a Bench<'a>, request: Request) -> Vec<Step<'a>> {
    if !request.recording {
        return Vec::new();
    }
    vec![Step::new("faults and migrations as the driver reports them", move |session| {
        match cupti::record(bench.gpu, || accesses(bench, session))? {
            Ok(activity) => session.activity = Some(activity),
            Err(reason) => session.skip("activity", reason),
        }
        Ok(())
    })]
}

fn accesses(bench: &Bench<'_>, session: &Session<'_>) -> Result<(), GpuError> {
    for pattern in [Pattern::Sequential, Pattern::Random] {
        on_demand(bench, session, &pattern.pages(SIZE))?;
    }
    prefetch::once(bench, session, SIZE)?;
    ping_pong::play(bench, session, BLOCK, ROUNDS)?;
    advise::once(bench, session, SIZE)
}

/// To the GPU and back.
fn on_demand(bench: &Bench<'_>, session: &Session<'_>, pages: &[u32]) -> Result<(), GpuError> {
    let memory = bench.of_host(SIZE)?;
    bench.gpu_touches(session, memory.as_ref(), &bench.order(pages)?, BLOCKS)?;
    host::touches_pages(memory.as_ref(), pages, 1);
    Ok(())
}
