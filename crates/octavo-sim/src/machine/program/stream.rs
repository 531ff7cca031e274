//! One GPU's part of a copy, and its next piece.

use octavo_driver::slab::Slab;
use octavo_manager::{HOST_MEMORY, Kind, Manager, MemoryId, PageId, PageRun};
use octavo_node::HostCosts;
use octavo_units::Bandwidth;

use crate::machine::phase::Doing;

/// Bytes of a piece: long compared with the latency of a link, short compared with what is booked ahead of the clock.
pub(super) const PIECE_BYTES: u64 = 256 << 10;

/// Streams under way.
pub(super) type Copies = Slab<Stream>;

/// One GPU's part of a copy.
pub(super) struct Stream {
    pub action: Doing,
    pub gpu: usize,
    pub direction: Direction,
    /// Addresses of the first byte of all, on the GPUs and on the host.
    pub device: u64,
    pub host: u64,
    /// The rest, the last first, with its bytes.
    pub left: Vec<(PageRun, u64)>,
    /// The arrival of the last byte so far.
    pub last: u64,
    /// For the driver's copies through pinned memory, if there are any.
    pub staging: Option<Bandwidth>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
}

impl Direction {
    /// The rate at which the driver stages memory of this kind; none for pinned memory, which the copy engine reaches.
    pub fn staging(self, kind: Kind, costs: &HostCosts) -> Option<Bandwidth> {
        let rate = match self {
            Self::In => costs.staging.to_gpu,
            Self::Out => costs.staging.to_host,
        };
        (kind != Kind::Pinned && rate.0 > 0).then_some(rate)
    }
}

impl Stream {
    /// The next runs, up to a piece.
    pub fn take_piece(&mut self) -> Vec<(PageRun, u64)> {
        let (mut piece, mut bytes) = (Vec::new(), 0);
        while bytes < PIECE_BYTES
            && let Some(run) = self.left.pop()
        {
            bytes += run.1;
            piece.push(run);
        }
        piece
    }

    /// Picoseconds in which the driver stages these bytes.
    pub fn staged(&self, bytes: u64) -> u64 {
        self.staging.map_or(0, |rate| rate.time_for(bytes).0)
    }

    /// The number of these runs' bytes in each of the host's memories beyond the first.
    pub fn further(&self, runs: &[(PageRun, u64)], page_bytes: u64, manager: &Manager) -> Vec<(MemoryId, u64)> {
        let mut bytes_of: Vec<(MemoryId, u64)> = Vec::new();
        for &(run, bytes) in runs {
            let first = (u64::from(run.first.0) * page_bytes).max(self.device) - self.device + self.host;
            for page in first / page_bytes..(first + bytes).div_ceil(page_bytes) {
                let (from, to) = ((page * page_bytes).max(first), ((page + 1) * page_bytes).min(first + bytes));
                let owner = manager.page(PageId(page as u32)).owner;
                if !owner.on_host() || owner == HOST_MEMORY {
                    continue;
                }
                match bytes_of.iter_mut().find(|(memory, _)| *memory == owner) {
                    Some((_, sum)) => *sum += to - from,
                    None => bytes_of.push((owner, to - from)),
                }
            }
        }
        bytes_of
    }
}
