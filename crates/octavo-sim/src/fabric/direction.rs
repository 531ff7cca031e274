//! One direction of a link: bandwidth as reservations, and the purpose of its bytes.

use crate::engine::by_arrival::ByArrival;
use crate::engine::lane::Lane;
use crate::engine::rate::{BUCKET_SHIFT, Rate};
use crate::fabric::traffic::Traffic;

/// One direction of one link.
pub(super) struct Direction {
    served: Served,
    bytes: [u64; Traffic::COUNT],
}

/// Whose turn it is.
enum Served {
    /// In the order of bookings, while there is bandwidth.
    AsBooked(Lane),
    AsTheyArrive(ByArrival),
}

impl Direction {
    pub fn new() -> Self {
        Self { served: Served::AsBooked(Lane::new(BUCKET_SHIFT)), bytes: [0; Traffic::COUNT] }
    }

    /// A direction that packets pass in the order of their arrival.
    pub fn in_order() -> Self {
        Self { served: Served::AsTheyArrive(ByArrival::default()), bytes: [0; Traffic::COUNT] }
    }

    /// `count` directions.
    pub fn several(count: usize) -> Vec<Self> {
        (0..count).map(|_| Self::new()).collect()
    }

    /// `count` directions, which packets pass in the order in which they arrive if that is asked for.
    pub fn several_as(count: usize, in_order: bool) -> Vec<Self> {
        if in_order { (0..count).map(|_| Self::in_order()).collect() } else { Self::several(count) }
    }

    /// Sends a packet from `time` on; returns when its end has left.
    #[inline(always)]
    pub fn send(&mut self, now: u64, time: u64, packet: Packet) -> u64 {
        self.bytes[packet.traffic as usize] += packet.bytes;
        match &mut self.served {
            Served::AsBooked(lane) => lane.reserve(now, time, packet.duration),
            Served::AsTheyArrive(queue) => queue.serve(now, time, packet.duration),
        }
    }

    /// Bytes so far, by their purpose.
    pub fn bytes(&self) -> &[u64; Traffic::COUNT] {
        &self.bytes
    }

    /// Its use so far, under a name.
    pub fn usage(&self, name: String) -> LinkUse {
        let busy = match &self.served {
            Served::AsBooked(lane) => lane.busy(),
            Served::AsTheyArrive(queue) => queue.busy(),
        };
        LinkUse { name, bytes: self.bytes, busy }
    }
}

impl Rate {
    /// A packet with this many bytes of this traffic.
    #[inline(always)]
    pub(super) fn packet(self, bytes: u64, traffic: Traffic) -> Packet {
        Packet { bytes, duration: self.time_for(bytes).max(1), traffic }
    }
}

/// What moves, and the time that it takes to pass a point of the link.
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
