//! The structure placed on the host: it comes over on demand, as often as the processor takes it back.

use std::time::Duration;

use crate::driver::memory::{BLOCK, PAGE, Touchable};
use crate::error::GpuError;
use crate::probes::roofline::structure::{self, Structure};
use crate::probes::roofline::work::{Amount, Work};
use crate::session::Session;

/// Between two migrations of a page: longer than the 500 us within which the driver takes them for processors that
/// fight for it (`uvm_perf_thrashing_lapse_usec` of NVIDIA's open kernel modules, release 595.45.04). The probe
/// ping-pong measures how the driver reacts.
const PAUSE: Duration = Duration::from_millis(1);

/// Seconds of `rho` runs of the kernel on managed memory allocated for them, so that it is nowhere but on the host.
/// Between runs of pages nothing is written, so a fault finds nothing there to bring along. Between single pages
/// everything is written.
pub(super) fn run(
    session: &Session<'_>,
    work: &Work,
    structure: &Structure,
    amount: Amount,
    rho: u32,
) -> Result<f64, GpuError> {
    let memory = session.gpu.managed_memory(structure.size.max(BLOCK))?;
    if structure.share.run == PAGE {
        memory.host_fills(structure::FILL, 0, structure.size);
    }
    structure.share.fill(&memory);
    let mut seconds = 0.0;
    for pass in 0..rho {
        if pass > 0 {
            std::thread::sleep(PAUSE);
            structure.share.mark(&memory);
            std::thread::sleep(PAUSE);
        }
        seconds += work.run(session, &memory, &structure.share, amount)?;
    }
    work.check(&structure.share)?;
    Ok(seconds)
}
