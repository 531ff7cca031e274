//! Explicit programs whose buffers do not fit a GPU: launches cut into strips of work-groups, which run one after
//! another on what they reach.
//!
//! The smallest buffers stay on the GPU whole, while they take no more than half of its memory. Of the others, which
//! are *staged*, the host has everything and an arena of GPU memory has the part that one strip reaches. A launch is
//! cut where the data of its next work-group no longer fits the arena. So the accesses of work-groups decide, not the
//! name of a kernel: a program that goes through its buffers in order has few strips, while one that jumps about in
//! them has none that fit.

mod cuts;
mod reach;
mod refusal;
mod stream;
mod workload;

use std::ops::{ControlFlow, Index, Range};

use crate::buffer::{BUFFER_ALIGNMENT, Buffer, BufferId, Span};
use crate::host_side::HostSide;
use crate::launches::Workload;

use self::cuts::Piece;
pub use self::cuts::Strip;
use self::reach::GRANULE;
pub use self::refusal::StripsRefused;
pub use self::workload::Stripped;

/// The most bytes of buffers: 2^32 lines of 64 bytes, which is more than the simulator can number.
const MOST_BYTES: u64 = 1 << 38;

/// A workload's launches in strips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strips {
    /// By buffer: whether it is staged.
    staged: Vec<bool>,
    /// Bytes of GPU memory that a strip's pieces lie in.
    arena_bytes: u64,
    strips: Vec<Strip>,
    /// By launch: its first strip; one more entry than launches.
    first: Vec<u32>,
}

/// How much of a workload's launches is examined.
pub enum Look<'a> {
    /// Nothing is read: buffers and arena have their sizes, but there are no strips.
    Sizes,
    /// All accesses. It is asked at intervals whether to continue.
    Accesses(&'a mut dyn FnMut() -> ControlFlow<()>),
}

impl Strips {
    /// Cuts all launches. `is_device` says which buffers are in GPU memory, of which there are `room` bytes.
    ///
    /// The smallest buffers stay whole. If a work-group does not fit next to them, all buffers are staged.
    ///
    /// # Errors
    /// A work-group reaches more at once than fits, or there is too much to look at.
    pub(crate) fn new(
        workload: &dyn Workload,
        side: &HostSide,
        is_device: impl Fn(usize) -> bool,
        room: u64,
        look: &mut Look<'_>,
    ) -> Result<Self, StripsRefused> {
        let (buffers, found) = (workload.buffers(), workload.address_end());
        if found > MOST_BYTES {
            return Err(StripsRefused::TooLarge { found, most: MOST_BYTES });
        }
        if room < GRANULE {
            return Err(StripsRefused::NoRoom { found: room });
        }
        let kept = smallest(buffers, &is_device, room / 2);
        let stage =
            |kept: &[usize]| (0..buffers.len()).map(|index| is_device(index) && !kept.contains(&index)).collect();
        match Self::staging(workload, side, stage(&kept), room - taken(buffers, &kept), look) {
            Err(StripsRefused::GroupTooLarge { .. }) if !kept.is_empty() => {
                Self::staging(workload, side, stage(&[]), room, look)
            }
            strips => strips,
        }
    }

    /// With this much GPU memory for staged data.
    fn staging(
        workload: &dyn Workload,
        side: &HostSide,
        staged: Vec<bool>,
        left: u64,
        look: &mut Look<'_>,
    ) -> Result<Self, StripsRefused> {
        let unaligned = |(buffer, staged): &(&Buffer, &bool)| **staged && !buffer.base.is_multiple_of(GRANULE);
        if let Some((buffer, _)) = workload.buffers().iter().zip(&staged).find(unaligned) {
            return Err(StripsRefused::Unaligned { buffer: buffer.name.clone(), base: buffer.base });
        }
        let unit = if left < BUFFER_ALIGNMENT { GRANULE } else { BUFFER_ALIGNMENT };
        let arena_bytes = left / unit * unit;
        let (strips, first) = match look {
            Look::Sizes => (Vec::new(), vec![0; workload.launches() as usize + 1]),
            Look::Accesses(go_on) => cuts::cut(workload, side, &staged, arena_bytes, &mut **go_on)?,
        };
        Ok(Self { staged, arena_bytes, strips, first })
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.strips.len() as u32
    }

    /// Whether there are none: the workload launches nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.strips.is_empty()
    }

    /// The buffers that are staged, by index.
    pub fn staged(&self) -> impl Iterator<Item = usize> + '_ {
        self.staged.iter().enumerate().filter_map(|(index, staged)| staged.then_some(index))
    }

    /// The strips of a launch.
    #[must_use]
    pub fn of_launch(&self, launch: u32) -> Range<u32> {
        self.first[launch as usize]..self.first[launch as usize + 1]
    }

    /// GPU memory for the pieces of a strip, at an address.
    pub(crate) fn arena(&self, base: u64) -> Buffer {
        Buffer { name: "strip".to_owned(), base, bytes: self.arena_bytes, gpu: 0 }
    }
}

impl Index<u32> for Strips {
    type Output = Strip;

    fn index(&self, number: u32) -> &Strip {
        &self.strips[number as usize]
    }
}

impl Strip {
    /// The data that is copied before it runs: on the host, and in the arena.
    pub(crate) fn copies_in(&self, arena: BufferId) -> Vec<(Span, Span)> {
        self.copies(arena, |piece| piece.comes)
    }

    /// The data that is copied after it ran.
    pub(crate) fn copies_out(&self, arena: BufferId) -> Vec<(Span, Span)> {
        self.copies(arena, |piece| piece.goes)
    }

    /// One copy for neighbours.
    fn copies(&self, arena: BufferId, wanted: impl Fn(&Piece) -> bool) -> Vec<(Span, Span)> {
        let mut copies: Vec<(Span, Span)> = Vec::new();
        for piece in self.pieces.iter().filter(|piece| wanted(piece)) {
            let (buffer, end) = (BufferId(piece.buffer), piece.offset + piece.bytes.end - piece.bytes.start);
            match copies.last_mut() {
                Some((host, device)) if host.buffer == buffer && host.bytes.end == piece.bytes.start => {
                    (host.bytes.end, device.bytes.end) = (piece.bytes.end, end);
                }
                _ => copies.push((
                    Span { buffer, bytes: piece.bytes.clone() },
                    Span { buffer: arena, bytes: piece.offset..end },
                )),
            }
        }
        copies
    }
}

/// As many device buffers as fit into some bytes, the smallest first.
fn smallest(buffers: &[Buffer], is_device: impl Fn(usize) -> bool, room: u64) -> Vec<usize> {
    let mut device: Vec<usize> = (0..buffers.len()).filter(|index| is_device(*index)).collect();
    device.sort_by_key(|index| taken(buffers, &[*index]));
    let fit = (0..=device.len()).rev().find(|count| taken(buffers, &device[..*count]) <= room);
    device.truncate(fit.unwrap_or_default());
    device
}

/// Bytes that buffers take of the GPU.
fn taken(buffers: &[Buffer], which: &[usize]) -> u64 {
    which.iter().map(|index| buffers[*index].bytes.next_multiple_of(BUFFER_ALIGNMENT)).sum()
}
