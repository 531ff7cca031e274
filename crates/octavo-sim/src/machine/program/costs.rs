//! Costs of allocating and freeing on the host, apart from the driver's plans.

use octavo_manager::Kind;
use octavo_node::{AllocationCosts, CallCost, HostCosts};

/// Picoseconds of a call that allocates `bytes`. Pages that are touched later cost time then.
pub(super) fn allocation(costs: &HostCosts, kind: Kind, bytes: u64) -> u64 {
    let (calls, piece) = calls(costs, kind);
    let zeroed = if kind == Kind::Pinned { zeroing(costs, bytes) } else { 0 };
    calls.allocate.of(bytes, piece).0 + zeroed
}

/// Picoseconds of a call that frees `bytes`, to which this many entries of page tables lead.
pub(super) fn free(costs: &HostCosts, kind: Kind, bytes: u64, entries: impl FnOnce() -> u64) -> u64 {
    let (calls, piece) = calls(costs, kind);
    let unmapped = if matches!(kind, Kind::Managed | Kind::System) { entries() * costs.unmap_page.0 } else { 0 };
    calls.free.of(bytes, piece).0 + unmapped
}

/// The costs of a kind of memory, and the bytes of its pieces.
fn calls(costs: &HostCosts, kind: Kind) -> (AllocationCosts, u64) {
    match kind {
        Kind::Managed => (costs.managed, CallCost::CHUNK),
        Kind::System => (costs.system, CallCost::CHUNK),
        Kind::Device => (costs.device, CallCost::CHUNK),
        Kind::Pinned => (costs.pinned, CallCost::PINNED),
    }
}

/// Picoseconds in which a core fills `bytes` with zeros.
pub(crate) fn zeroing(costs: &HostCosts, bytes: u64) -> u64 {
    let picoseconds = u128::from(bytes) * 1_000_000_000_000 / u128::from(costs.zeroing.0);
    u64::try_from(picoseconds).unwrap_or(u64::MAX)
}
