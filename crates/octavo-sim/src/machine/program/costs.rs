//! Costs of allocating and freeing on the host, besides the driver's plans.

use octavo_manager::Kind;
use octavo_node::HostCosts;

/// GPU memory is handed out in chunks of 2 MiB.
const CHUNK_BYTES: u64 = 2 << 20;
/// Host memory is pinned by pages of 4 KiB.
const PINNED_PAGE: u64 = 4 << 10;

/// Picoseconds of a call that allocates `bytes`. What is touched later costs then.
pub(super) fn allocation(costs: &HostCosts, kind: Kind, bytes: u64) -> u64 {
    costs.call.0
        + match kind {
            Kind::Managed | Kind::System => 0,
            Kind::Device => chunks(costs, bytes),
            Kind::Pinned => pinning(costs, bytes) + zeroing(costs, bytes),
        }
}

/// Picoseconds of a call that frees `bytes`, to which this many entries of page tables lead.
pub(super) fn free(costs: &HostCosts, kind: Kind, bytes: u64, entries: impl FnOnce() -> u64) -> u64 {
    costs.call.0
        + match kind {
            Kind::Managed | Kind::System => entries() * costs.unmap_page.0,
            Kind::Device => chunks(costs, bytes),
            Kind::Pinned => pinning(costs, bytes),
        }
}

/// Picoseconds in which a core fills `bytes` with zeros.
pub(crate) fn zeroing(costs: &HostCosts, bytes: u64) -> u64 {
    let picoseconds = u128::from(bytes) * 1_000_000_000_000 / u128::from(costs.zeroing.0);
    u64::try_from(picoseconds).unwrap_or(u64::MAX)
}

fn chunks(costs: &HostCosts, bytes: u64) -> u64 {
    bytes.div_ceil(CHUNK_BYTES) * costs.device_chunk.0
}

fn pinning(costs: &HostCosts, bytes: u64) -> u64 {
    bytes.div_ceil(PINNED_PAGE) * costs.pin.0
}
