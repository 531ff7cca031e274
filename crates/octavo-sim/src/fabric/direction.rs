//! One direction of a link: bandwidth as reservations, and what the bytes were for.

use octavo_units::Bandwidth;

use crate::engine::lane::Lane;
use crate::fabric::traffic::Traffic;

/// Links are booked in buckets of 65.5 ns.
pub(super) const BUCKET_SHIFT: u32 = 16;

/// One direction of one link.
pub(super) struct Direction {
    lane: Lane,
    bytes: [u64; Traffic::COUNT],
}

impl Direction {
    pub fn new() -> Self {
        Self { lane: Lane::new(BUCKET_SHIFT), bytes: [0; Traffic::COUNT] }
    }

    /// `count` directions.
    pub fn several(count: usize) -> Vec<Self> {
        (0..count).map(|_| Self::new()).collect()
    }

    /// Sends a packet from `time` on; returns when its end has left.
    #[inline(always)]
    pub fn send(&mut self, now: u64, time: u64, packet: Packet) -> u64 {
        self.bytes[packet.traffic as usize] += packet.bytes;
        self.lane.reserve(now, time, packet.duration)
    }

    /// Bytes so far, by what they are for.
    pub fn bytes(&self) -> &[u64; Traffic::COUNT] {
        &self.bytes
    }

    /// Its use so far, under a name.
    pub fn usage(&self, name: String) -> LinkUse {
        LinkUse { name, bytes: self.bytes, busy: self.lane.busy() }
    }
}

/// Duration of a byte in 2⁻¹⁶ picoseconds, so that small packets are not rounded up to whole picoseconds a byte.
#[derive(Clone, Copy)]
pub(super) struct Rate(u64);

impl Rate {
    pub fn new(bandwidth: Bandwidth) -> Self {
        let per_byte = (1_000_000_000_000u128 << 16) / u128::from(bandwidth.0);
        Self(u64::try_from(per_byte).unwrap_or(u64::MAX))
    }

    #[inline]
    fn time_for(self, bytes: u64) -> u64 {
        ((bytes * self.0) >> 16).max(1)
    }

    /// A packet of so many bytes of this traffic.
    #[inline(always)]
    pub fn packet(self, bytes: u64, traffic: Traffic) -> Packet {
        Packet { bytes, duration: self.time_for(bytes), traffic }
    }
}

/// What travels, and how long it takes to pass a point of the link.
#[derive(Clone, Copy)]
pub(super) struct Packet {
    bytes: u64,
    pub duration: u64,
    traffic: Traffic,
}

/// Use of one direction of a link, for reports.
pub(crate) struct LinkUse {
    pub name: String,
    pub bytes: [u64; Traffic::COUNT],
    pub busy: u64,
}
