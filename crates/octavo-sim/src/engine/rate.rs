//! The duration of bytes at a bandwidth, and the granularity of bookings.

use octavo_units::Bandwidth;

/// Links and the host's memories are booked in buckets of 65.5 ns.
pub(crate) const BUCKET_SHIFT: u32 = 16;

/// Duration of a byte in 2⁻¹⁶ picoseconds, so that small packets are not rounded up to whole picoseconds a byte.
#[derive(Clone, Copy)]
pub(crate) struct Rate(u64);

impl Rate {
    pub fn new(bandwidth: Bandwidth) -> Self {
        let per_byte = (1_000_000_000_000u128 << 16) / u128::from(bandwidth.0);
        Self(u64::try_from(per_byte).unwrap_or(u64::MAX))
    }

    /// Picoseconds for this many bytes.
    #[inline]
    pub const fn time_for(self, bytes: u64) -> u64 {
        (bytes * self.0) >> 16
    }
}
