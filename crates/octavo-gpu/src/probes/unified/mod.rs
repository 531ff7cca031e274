//! The costs of memory that processor and GPU share: managed memory, and the system's own where the GPU can touch it.
//! Both probes measure the same series on different kinds of memory.
//!
//! Every repetition of a cold measurement allocates memory of its own: the driver keeps physical memory attached to
//! memory that has been to the GPU and back, and remembers which processors competed for it. Allocations have at least
//! the size of the driver's block, since smaller ones share a block with others, fresh or not.
//!
//! Ping-pong comes last. From release 590 on, once the driver has seen processors compete for pages, it lengthens the
//! lapse within which it counts migrations as competition. The lapse grows up to half a second and stays so for the
//! rest of the process (`adjust_thrashing_lapse` in NVIDIA's open kernel modules).

mod advise;
mod bench;
mod demand;
mod duplication;
mod first_touch;
mod host;
mod order;
mod ping_pong;
mod prefetch;
mod recording;
mod step;
mod steps;

use crate::driver::source::Source;
use crate::error::GpuError;
use crate::session::Session;
use crate::session::probe::Probe;
use bench::{Bench, Kind};
use step::Step;

const SOURCE: Source = Source { name: "unified.cu", body: include_str!("../unified.cu") };

/// The name of each series, in the order of measuring.
const SERIES: &[&str] =
    &["first_touch", "demand", "step", "step_random", "prefetch", "advise", "duplication", "ping_pong"];

/// Memory from `cuMemAllocManaged`.
pub(crate) struct Managed;

/// Memory from the system's allocator, on GPUs that can touch it.
pub(crate) struct System;

impl Probe for Managed {
    fn name(&self) -> &'static str {
        "managed"
    }

    fn title(&self) -> &'static str {
        "managed memory: first touch, migration on demand, prefetches, hints, contention"
    }

    fn about(&self) -> &'static str {
        "Each repetition allocates managed memory, brings it to one side (not timed) and times the other side's touches: \
         by events on the GPU, by the host's clock on the processor. First touch and ping-pong touch one word of each \
         4 KiB page; demand has one thread of 1 to N thread blocks (or of the processor) touch a page at a time, \
         sequentially, strided and at random; the step series times every touch of a single thread by the \
         multiprocessor's clock, so that the touches that fault show what the driver fetches; hints and duplication \
         read and write everything. At the end, outside of anything timed, some accesses are repeated with CUPTI \
         recording the driver's faults and migrations."
    }

    fn source(&self) -> Source {
        SOURCE
    }

    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError> {
        measure(session, Kind::Managed)
    }
}

impl Probe for System {
    fn name(&self) -> &'static str {
        "system"
    }

    fn title(&self) -> &'static str {
        "the system's own memory where the GPU can touch it: the same as managed memory"
    }

    fn about(&self) -> &'static str {
        "The series of managed memory on pages that the system maps when they are touched (mmap), large ones where it is \
         set to. Where the kernel's \
         heterogeneous memory management moves them (HMM), a fault migrates as one on managed memory does, by single \
         pages of 4 KiB. Where the GPU walks the host's page tables (ATS), a fault only places pages that are nowhere \
         yet; others stay where they are and are accessed across the link, until access counters or a prefetch move \
         them: `demand`, `step` and `ping_pong` then time remote accesses. Hints and prefetches that the driver refuses \
         for such memory are left out with its reason."
    }

    fn source(&self) -> Source {
        SOURCE
    }

    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError> {
        measure(session, Kind::System)
    }
}

fn measure(session: &mut Session<'_>, kind: Kind) -> Result<(), GpuError> {
    if let Some(reason) = lacking(session, kind) {
        SERIES.iter().for_each(|series| session.skip(series, reason));
        return Ok(());
    }
    let bench = Bench::new(session, kind)?;
    let mut plan = [
        first_touch::plan(&bench),
        demand::plan(&bench),
        steps::plan(&bench),
        prefetch::plan(&bench),
        advise::plan(&bench),
        duplication::plan(&bench),
        ping_pong::plan(&bench),
    ];
    let recording = if kind == Kind::Managed { recording::plan(&bench, session.request) } else { Vec::new() };
    let steps: Vec<Step<'_>> = plan.iter_mut().flat_map(std::mem::take).chain(recording).collect();
    session.steps(steps.len());
    for step in steps {
        step.run(session)?;
    }
    bench.report_refusals(session);
    Ok(())
}

/// The GPU's feature that such memory needs in order to move.
fn lacking(session: &Session<'_>, kind: Kind) -> Option<&'static str> {
    let gpu = &session.gpu.description;
    if kind == Kind::System && !gpu.can("pageable_memory_access") {
        return Some("this GPU cannot touch the system's memory here (no HMM, no ATS)");
    }
    if kind == Kind::Managed && !gpu.can("managed_memory") {
        return Some("this GPU has no managed memory here");
    }
    if !gpu.can("concurrent_managed_access") {
        return Some("this GPU does not fault here: processor and GPU cannot touch the same memory in turn");
    }
    None
}
