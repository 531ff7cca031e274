//! The caching allocator: places for tensors in segments of GPU memory that it keeps, as `PyTorch` hands them out.
//!
//! Constants and rules come from `CUDACachingAllocator` (`c10/cuda`, PyTorch 1.13 to 2.x) with its default settings:
//!
//! - Sizes are in steps of 512 bytes.
//! - Small blocks come from segments of 2 MiB, and large ones from segments of 20 MiB. Blocks from 10 MiB on have a
//!   segment of their own, in steps of 2 MiB.
//! - The smallest block that fits is taken, the lower address first, and split if enough is left. Neighbours that are
//!   free become one.
//!
//! There is one stream. Where memory is limited and a new segment has no room, all segments without a block in use are
//! given back before it is tried once more.

use std::collections::{BTreeMap, BTreeSet};

const MIB: u64 = 1 << 20;
/// Sizes are multiples of this (`kMinBlockSize`).
const STEP: u64 = 512;
/// Up to here a block is small (`kSmallSize`).
const SMALL: u64 = MIB;
/// Segment of small blocks (`kSmallBuffer`).
const SMALL_SEGMENT: u64 = 2 * MIB;
/// Segment of large blocks (`kLargeBuffer`) for sizes below [`OWN_SEGMENT`].
const LARGE_SEGMENT: u64 = 20 * MIB;
/// From here on a block has a separate segment (`kMinLargeAlloc`).
const OWN_SEGMENT: u64 = 10 * MIB;
/// Such segments are multiples of this (`kRoundLarge`).
const ROUND_SEGMENT: u64 = 2 * MIB;

/// Which segments a block comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Segments of 2 MiB.
    Small,
    /// The others.
    Large,
}

/// Where a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// In whose segments.
    pub pool: Pool,
    /// First byte, from the start of the pool's first segment; segments lie one behind another.
    pub address: u64,
}

/// Both pools.
#[derive(Clone, Debug, Default)]
pub struct Allocator {
    small: Segments,
    large: Segments,
    /// Bytes that all segments may have, if they are limited.
    room: Option<u64>,
}

/// Segments of one pool, and their blocks.
#[derive(Clone, Debug, Default)]
struct Segments {
    /// Bytes of all segments.
    end: u64,
    /// Bytes of those that were given back.
    given_back: u64,
    /// By address: size, segment, and whether it is free. Blocks of a segment leave no gap.
    blocks: BTreeMap<u64, Block>,
    /// Free ones by size, then address.
    free: BTreeSet<(u64, u64)>,
    segments: u32,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    bytes: u64,
    segment: u32,
    free: bool,
}

impl Allocator {
    /// One whose segments have at most `room` bytes together.
    #[must_use]
    pub fn within(room: u64) -> Self {
        Self { room: Some(room), ..Self::default() }
    }

    /// A place for `bytes` bytes, at least one.
    ///
    /// # Panics When memory is limited, and runs out.
    pub fn allocate(&mut self, bytes: u64) -> Place {
        self.try_allocate(bytes).expect("memory without a limit")
    }

    /// A place for `bytes` bytes, at least one; none if memory is limited, and has no room.
    pub fn try_allocate(&mut self, bytes: u64) -> Option<Place> {
        let bytes = bytes.next_multiple_of(STEP);
        let (pool, least) = if bytes <= SMALL { (Pool::Small, STEP) } else { (Pool::Large, SMALL + 1) };
        if self.of(pool).fitting(bytes).is_none() && !self.has_room(segment_for(bytes)) {
            for each in [Pool::Small, Pool::Large] {
                self.of(each).give_segments_back();
            }
            if !self.has_room(segment_for(bytes)) {
                return None;
            }
        }
        let address = self.of(pool).allocate(bytes, least);
        Some(Place { pool, address })
    }

    /// Bytes of the block at a place: those asked for in steps of 512, or more where the rest is not worth a block.
    ///
    /// # Panics When the place is empty.
    #[must_use]
    pub fn bytes(&self, place: Place) -> u64 {
        match place.pool {
            Pool::Small => self.small.blocks[&place.address].bytes,
            Pool::Large => self.large.blocks[&place.address].bytes,
        }
    }

    /// Bytes of all segments that are held.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.small.held() + self.large.held()
    }

    fn has_room(&self, more: u64) -> bool {
        self.room.is_none_or(|room| self.held().saturating_add(more) <= room)
    }

    /// Gives a place back.
    ///
    /// # Panics When the place is empty.
    pub fn free(&mut self, place: Place) {
        self.of(place.pool).give_back(place.address);
    }

    /// Bytes of a pool's segments so far.
    #[must_use]
    pub fn reserved(&self, pool: Pool) -> u64 {
        match pool {
            Pool::Small => self.small.end,
            Pool::Large => self.large.end,
        }
    }

    fn of(&mut self, pool: Pool) -> &mut Segments {
        match pool {
            Pool::Small => &mut self.small,
            Pool::Large => &mut self.large,
        }
    }
}

/// Bytes of the segment that is made for a block of `bytes`.
fn segment_for(bytes: u64) -> u64 {
    match bytes {
        0..=SMALL => SMALL_SEGMENT,
        _ if bytes < OWN_SEGMENT => LARGE_SEGMENT,
        _ => bytes.next_multiple_of(ROUND_SEGMENT),
    }
}

impl Segments {
    fn held(&self) -> u64 {
        self.end - self.given_back
    }

    /// The free block that is taken for `bytes`: size and address.
    fn fitting(&self, bytes: u64) -> Option<(u64, u64)> {
        self.free.range((bytes, 0)..).next().copied()
    }

    /// Gives back segments that are one free block.
    fn give_segments_back(&mut self) {
        let alone = |&(_, at): &(u64, u64)| {
            let segment = self.blocks[&at].segment;
            let same = |other: Option<(&u64, &Block)>| other.is_some_and(|(_, block)| block.segment == segment);
            !same(self.blocks.range(..at).next_back()) && !same(self.blocks.range(at + 1..).next())
        };
        let whole: Vec<(u64, u64)> = self.free.iter().copied().filter(alone).collect();
        for (bytes, at) in whole {
            self.free.remove(&(bytes, at));
            self.blocks.remove(&at);
            self.given_back += bytes;
        }
    }

    /// The address of a block of `bytes`, cut from a larger one if at least `least` bytes are left.
    fn allocate(&mut self, bytes: u64, least: u64) -> u64 {
        let (found, address) = self.fitting(bytes).unwrap_or_else(|| self.add_segment(segment_for(bytes)));
        self.free.remove(&(found, address));
        let block = self.blocks.get_mut(&address).expect("free blocks are blocks");
        block.free = false;
        if found - bytes >= least {
            block.bytes = bytes;
            let rest = Block { bytes: found - bytes, segment: block.segment, free: true };
            self.blocks.insert(address + bytes, rest);
            self.free.insert((rest.bytes, address + bytes));
        }
        address
    }

    fn add_segment(&mut self, bytes: u64) -> (u64, u64) {
        let address = self.end;
        self.end += bytes;
        self.blocks.insert(address, Block { bytes, segment: self.segments, free: true });
        self.segments += 1;
        (bytes, address)
    }

    fn give_back(&mut self, address: u64) {
        let block = self.blocks[&address];
        assert!(!block.free, "a block is given back once");
        let (mut first, mut bytes) = (address, block.bytes);
        let mergeable =
            |(&at, other): (&u64, &Block)| (other.free && other.segment == block.segment).then_some((at, other.bytes));
        let before = self.blocks.range(..address).next_back().and_then(mergeable);
        let behind = self.blocks.range(address + 1..).next().and_then(mergeable);
        for (at, more) in [before, behind].into_iter().flatten() {
            self.blocks.remove(&at);
            self.free.remove(&(more, at));
            first = first.min(at);
            bytes += more;
        }
        self.blocks.remove(&address);
        self.blocks.insert(first, Block { bytes, segment: block.segment, free: true });
        self.free.insert((bytes, first));
    }
}

#[cfg(test)]
#[path = "allocator_tests.rs"]
mod tests;
