//! Costs of a placement on the host in a whole program, besides kernels and copies.

use super::structure::{HostPlacement, Returns, Structure, Toucher};
use super::system::{CHUNK, PINNED, System};

/// Seconds for pages that come back to the host at its own faults: results, and what else it touches again.
pub(super) fn returned(system: &System, structure: &Structure) -> f64 {
    let Returns { bytes, faults, prefetches } = structure.returns;
    let served = faults as f64 * system.faults.host.seconds() + prefetches as f64 * system.faults.prefetch.seconds();
    served + bytes.0 as f64 / system.back.on_demand.0 as f64
}

/// Seconds that memory of this kind costs beyond device memory; device memory needs memory of the host, too, if the
/// host ever touches it.
pub(super) fn having(system: &System, structure: &Structure, host: HostPlacement) -> f64 {
    let pages = structure.size.0.div_ceil(system.page.0) as f64;
    let device = system.calls.device.seconds(structure.size, CHUNK);
    let managed = system.calls.managed.seconds(structure.size, CHUNK);
    let beside = if structure.seen_by_host { pages * ordinary_page(system) } else { 0.0 };
    let own = match host {
        HostPlacement::OnDemand | HostPlacement::Prefetched if structure.first == Toucher::Host => {
            let touched = structure.host_faults as f64 * system.calls.first_touch.seconds();
            managed + touched + pages * (clearing(system) + system.calls.unmap.seconds())
        }
        HostPlacement::OnDemand | HostPlacement::Prefetched => managed + pages * system.calls.unmap.seconds(),
        HostPlacement::Pinned => system.calls.pinned.seconds(structure.size, PINNED) + pages * clearing(system),
    };
    own - device - beside
}

/// Seconds of a page of ordinary memory: its first touch, its clearing, and giving it back.
fn ordinary_page(system: &System) -> f64 {
    system.calls.first_touch.seconds() + clearing(system) + system.calls.unmap.seconds()
}

fn clearing(system: &System) -> f64 {
    system.page.0 as f64 / system.calls.zeroing.0 as f64
}
