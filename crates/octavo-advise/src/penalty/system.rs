//! The penalty's input about a machine: measured once, the same for every program.

use octavo_units::{Bandwidth, Bytes, Time};
use serde::{Deserialize, Serialize};

use crate::roofline::positive;
use crate::{Machine, Occupancy, QuantityError, Roofline};

/// Constants of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Peak and bandwidths, as the roofline has them.
    pub roofline: Machine,
    /// Bandwidth, useful bytes a second, of loads that reach host memory line by line (pinned memory).
    pub by_lines: Bandwidth,
    /// Bandwidths of the way back to the host.
    pub back: Back,
    /// Multiprocessors (compute units).
    pub multiprocessors: u32,
    /// Lanes of a warp, |w|.
    pub warp: u32,
    /// Warps that fit a multiprocessor, W.
    pub warps: u32,
    /// Bytes of a line, the unit in which loads leave a multiprocessor: the coalescing unit.
    pub line: Bytes,
    /// From a load of a line in host memory until its arrival, on an idle machine.
    pub latency: Time,
    /// Bytes of a page.
    pub page: Bytes,
    /// What faults cost.
    pub faults: FaultCosts,
    /// The costs of calls and of the host's own page faults.
    pub calls: CallCosts,
    /// Memory of the device.
    pub capacity: Bytes,
}

/// Bandwidths from the device to the host, which a link may have apart from those to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Back {
    /// Bandwidth of bulk copies.
    pub copy: Bandwidth,
    /// Bandwidth of pages that come back at faults of the host.
    pub on_demand: Bandwidth,
}

/// Costs of serving page faults: of the device, `groups × group + faults × fault`, and of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultCosts {
    /// Time of each group of faults that is served together, its blocks not counted.
    pub group: Time,
    /// The cost of each block of 2 MiB in which a group has faults.
    pub block: Time,
    /// The cost of each fault in a group whose page comes from the host by its own copy. Bytes are not counted.
    pub fault: Time,
    /// The cost of each fault in a group whose page is created on the device.
    pub made: Time,
    /// The cost of each fault in a group that needs no copy: its page has arrived meanwhile, or a neighbour's copy
    /// brings it.
    pub stale: Time,
    /// The cost of a copy that the driver's prefetcher adds, without its bytes.
    pub prefetch: Time,
    /// What the driver takes to give up a page on the host that moves to the device.
    pub unmap: Time,
    /// The most faults of a group, at least 1.
    pub most: u64,
    /// The cost of a fault of the host on a page that the device has, without its bytes.
    pub host: Time,
}

/// The costs of calls, and of pages in the host's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallCosts {
    /// A launch.
    pub launch: Time,
    /// A bulk copy, its bytes not counted.
    pub copy: Time,
    /// A call that prefetches, without the transfer itself.
    pub prefetch: Time,
    /// Allocating and freeing device memory, by chunks of 2 MiB.
    pub device: AllocationCosts,
    /// Allocating and freeing pinned memory, by 4 KiB, clearing not counted.
    pub pinned: AllocationCosts,
    /// Allocating and freeing managed memory, its pages not counted.
    pub managed: AllocationCosts,
    /// A host's first touch of a page, clearing not counted.
    pub first_touch: Time,
    /// The rate at which the host clears pages.
    pub zeroing: Bandwidth,
    /// Giving a page of the host back.
    pub unmap: Time,
}

/// The cost of allocating and freeing a kind of memory, both together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllocationCosts {
    /// Both calls.
    pub call: Time,
    /// Each piece.
    pub each: Time,
    /// Both calls and all pieces of memory below 2 MiB; 0 if the cost is the same as for larger memory.
    pub below_chunk: Time,
}

impl AllocationCosts {
    /// Seconds for this many bytes, in pieces of `piece` bytes.
    pub(super) fn seconds(self, bytes: Bytes, piece: u64) -> f64 {
        if bytes.0 < CHUNK && self.below_chunk > Time::ZERO {
            return self.below_chunk.seconds();
        }
        self.call.seconds() + bytes.0.div_ceil(piece) as f64 * self.each.seconds()
    }
}

/// Device memory is handed out in chunks of this many bytes.
pub(super) const CHUNK: u64 = 2 << 20;
/// Host memory is pinned by this many bytes.
pub(super) const PINNED: u64 = 4 << 10;

impl System {
    /// Checks the properties that the types do not guarantee.
    ///
    /// # Errors
    /// A bandwidth, a count or a size is 0.
    pub(super) fn check(&self) -> Result<(), QuantityError> {
        Roofline::of(&self.roofline)?;
        for bandwidth in [self.by_lines, self.back.copy, self.back.on_demand] {
            positive(bandwidth)?;
        }
        positive(self.calls.zeroing)?;
        let counts = [
            ("at least 1 multiprocessor", u64::from(self.multiprocessors)),
            ("a warp of at least 1 lane", u64::from(self.warp)),
            ("at least 1 warp a multiprocessor", u64::from(self.warps)),
            ("a line above 0B", self.line.0),
            ("a page above 0B", self.page.0),
            ("a group of at least 1 fault", self.faults.most),
            ("a device memory above 0B", self.capacity.0),
        ];
        counts.into_iter().find(|(_, count)| *count == 0).map_or(Ok(()), |(expected, _)| Err(zero(expected)))
    }

    /// Seconds for each byte that the device touches first, as printed: one fault for each page, grouped with the other
    /// faults that `occupancy` keeps in flight.
    pub(super) fn first_touch_a_byte(&self, occupancy: Occupancy) -> f64 {
        let together = (self.faults.most as f64 * occupancy.get()).max(1.0);
        let group = self.faults.group.seconds() + self.faults.block.seconds();
        (group / together + self.faults.made.seconds()) / self.page.0 as f64
    }
}

fn zero(expected: &'static str) -> QuantityError {
    QuantityError { expected, found: 0.0 }
}
