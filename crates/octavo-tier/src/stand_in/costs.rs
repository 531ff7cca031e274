//! What calls take on a real GPU.

use octavo_gpu::Location;

/// Nanoseconds, from and to: medians of one thread on an H100 (PCIe, driver 580), pieces of 2 MiB (`real-gpu.md`, "A
/// tier in user space"). A clock moves by the middle. Larger pieces cost no more: 21 µs to set access to 32 MiB, 15 µs
/// to unmap it.
type Measured = (u64, u64);

const CREATE: Measured = (14_000, 27_000);
const CREATE_ON_HOST: Measured = (400_000, 400_000);
const MAP: Measured = (1_000, 5_000);
const SET_ACCESS: Measured = (30_000, 60_000);
const SET_ACCESS_ON_HOST: Measured = (85_000, 91_000);
const UNMAP: Measured = (18_000, 28_000);
const UNMAP_ON_HOST: Measured = (36_000, 61_000);
const RELEASE: Measured = (12_000, 21_000);

/// Bytes in a nanosecond, times 1000: 42 GB/s between device and host, measured there. `[chosen]` for two devices: no
/// neighbour was measured, and PCIe joins these too.
const COPY: u64 = 42_000;

fn middle((from, to): Measured) -> u64 {
    from.midpoint(to)
}

/// Creates a piece.
pub(super) fn create(on: Location) -> u64 {
    middle(if on == Location::Host { CREATE_ON_HOST } else { CREATE })
}

/// Maps one.
pub(super) fn map() -> u64 {
    middle(MAP)
}

/// Sets access to one.
pub(super) fn set_access(on: Location) -> u64 {
    middle(if on == Location::Host { SET_ACCESS_ON_HOST } else { SET_ACCESS })
}

/// Takes a mapping away.
pub(super) fn unmap(on: Location) -> u64 {
    middle(if on == Location::Host { UNMAP_ON_HOST } else { UNMAP })
}

/// Gives a piece back.
pub(super) fn release() -> u64 {
    middle(RELEASE)
}

/// Copies bytes between two memories.
pub(super) fn copy(bytes: u64) -> u64 {
    bytes.saturating_mul(1000) / COPY
}
