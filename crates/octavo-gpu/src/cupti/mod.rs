//! Faults and migrations as the driver itself reports them, by CUPTI's activity interface, where that library is.
//!
//! Recording takes time itself, so nothing is timed meanwhile: a few accesses are recorded in a separate pass.
//! Afterwards the library stays loaded with nothing enabled: detaching it (`cuptiFinalize`) is safe only from inside
//! one of the driver's calls.

pub(crate) mod activity;
mod buffers;
mod layout;
mod library;

use crate::driver::gpu::Gpu;
use crate::error::GpuError;
use activity::Activity;
use layout::{Layout, UNIFIED_MEMORY_COUNTER};
use library::Calls;

/// Every counter of `CUpti_ActivityUnifiedMemoryCounterKind`: bytes to the GPU, to the host and between GPUs (8),
/// faults of the CPU and of GPUs, thrashing, throttling, remote maps.
const COUNTERS: std::ops::RangeInclusive<u32> = 1..=8;

/// `CUPTI_ACTIVITY_FLAG_FLUSH_FORCED`: buffers that are not full as well.
const FORCED: u32 = 1;

/// Records what unified memory does during `work`; the inner error says why nothing could be recorded, and then `work`
/// does not run.
///
/// # Errors
/// What `work` fails with.
pub(crate) fn record(
    gpu: &Gpu,
    work: impl FnOnce() -> Result<(), GpuError>,
) -> Result<Result<Activity, String>, GpuError> {
    let major = gpu.description.cuda.split('.').next().and_then(|major| major.parse().ok());
    match library::open(major) {
        Ok(calls) => record_with(&calls, || work().and_then(|()| gpu.wait())),
        Err(reason) => Ok(Err(reason)),
    }
}

fn record_with(
    calls: &Calls,
    work: impl FnOnce() -> Result<(), GpuError>,
) -> Result<Result<Activity, String>, GpuError> {
    let version = match begin(calls) {
        Ok(version) => version,
        Err(reason) => return Ok(Err(reason)),
    };
    let worked = work();
    let ended = end(calls, version);
    worked.map(|()| ended)
}

/// Returns CUPTI's version.
fn begin(calls: &Calls) -> Result<u32, String> {
    let version = calls.version()?;
    let _ = buffers::take();
    calls.register(buffers::requested, buffers::completed)?;
    calls.configure(COUNTERS)?;
    calls.enable(UNIFIED_MEMORY_COUNTER)?;
    Ok(version)
}

fn end(calls: &Calls, version: u32) -> Result<Activity, String> {
    let flushed = calls.flush(FORCED);
    let disabled = calls.disable(UNIFIED_MEMORY_COUNTER);
    flushed.and(disabled).and_then(|()| calls.flush(FORCED))?;
    let dropped = calls.dropped()?;
    let filled = buffers::take();
    if filled.is_empty() {
        return Err("CUPTI recorded nothing of what unified memory did".to_owned());
    }
    let layout = Layout::of(version, &filled)?;
    Ok(Activity { cupti: version, layout: layout.name(), records: filled.concat(), dropped })
}

#[cfg(test)]
mod tests;
