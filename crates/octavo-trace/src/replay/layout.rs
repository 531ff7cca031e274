//! The places of recorded allocations when a trace is replayed.

use octavo_program::{BUFFER_ALIGNMENT, Buffer, LINE_BYTES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Allocation;
use crate::ranges::Ranges;

/// How recorded addresses become simulated ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// All shifted together, so that the lowest lies within the first 2 MiB. Where they lie too far apart to be
    /// simulated that way, they are packed.
    #[default]
    Recorded,
    /// One after another, each at the same offset in a block of 2 MiB as when it was recorded.
    Packed,
}

/// Replays number lines with 32 bits.
const MAX_LINES: u64 = u32::MAX as u64;
/// Simulating a page costs memory whether it is used or not: gaps may be as large as this and the memory after them.
const FREE_GAP: u64 = 1 << 30;
/// The span may be this many times the bytes allocated.
const SPARSE: u64 = 4;

/// The allocations in their new places, and the way from recorded lines to new ones.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// All allocations, in address order.
    pub buffers: Vec<Buffer>,
    ranges: Ranges,
    /// The offset for the lines of each allocation.
    shifts: Vec<u64>,
}

impl Placement {
    /// Places `allocations`, which ascend and do not overlap.
    ///
    /// # Errors
    /// Together they are larger than what can be simulated.
    pub fn new(allocations: &[Allocation], layout: Layout) -> Result<Self, String> {
        let recorded = layout == Layout::Recorded && is_dense(allocations);
        let bases = if recorded { shifted(allocations) } else { packed(allocations) };
        let end = bases.last().zip(allocations.last()).map_or(0, |(base, last)| base.saturating_add(last.bytes));
        if end.div_ceil(LINE_BYTES) > MAX_LINES {
            return Err(format!(
                "its allocations span {end} bytes, more than the {} simulated",
                MAX_LINES * LINE_BYTES
            ));
        }
        let place =
            |(old, base): (&Allocation, u64)| Buffer { name: old.name.clone(), base, bytes: old.bytes, gpu: old.gpu };
        let buffers: Vec<Buffer> = allocations.iter().zip(bases).map(place).collect();
        let shift = |(old, new): (&Allocation, &Buffer)| (new.base / LINE_BYTES).wrapping_sub(old.base / LINE_BYTES);
        let shifts = allocations.iter().zip(&buffers).map(shift).collect();
        Ok(Self { ranges: Ranges::new(allocations), shifts, buffers })
    }

    /// The present place of `line`; `hint` remembers the allocation that was right last time. `None` outside of all.
    #[inline]
    pub fn line(&self, line: u64, hint: &mut usize) -> Option<u64> {
        let allocation = self.ranges.find(line, hint)?;
        Some(line.wrapping_add(self.shifts[allocation]))
    }
}

/// Whether the gaps between allocations are small enough to be simulated.
fn is_dense(allocations: &[Allocation]) -> bool {
    let (Some(first), Some(last)) = (allocations.first(), allocations.last()) else { return true };
    let span = last.base - first.base + last.bytes;
    let total = allocations.iter().fold(0u64, |total, next| total.saturating_add(next.bytes));
    span <= total.saturating_mul(SPARSE).saturating_add(FREE_GAP) && span / LINE_BYTES < MAX_LINES
}

fn shifted(allocations: &[Allocation]) -> Vec<u64> {
    let lowest = allocations.first().map_or(0, |first| first.base / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT);
    allocations.iter().map(|allocation| allocation.base - lowest).collect()
}

fn packed(allocations: &[Allocation]) -> Vec<u64> {
    let mut end = 0u64;
    let place = |allocation: &Allocation| {
        let offset = allocation.base % BUFFER_ALIGNMENT;
        let block = end - end % BUFFER_ALIGNMENT;
        let base = if block.saturating_add(offset) >= end { block } else { block.saturating_add(BUFFER_ALIGNMENT) };
        let base = base.saturating_add(offset);
        // Two allocations share a line only where they did.
        end = base.saturating_add(allocation.bytes).checked_next_multiple_of(LINE_BYTES).unwrap_or(u64::MAX);
        base
    };
    allocations.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocations(places: &[(u64, u64)]) -> Vec<Allocation> {
        let allocation = |(index, (base, bytes)): (usize, &(u64, u64))| Allocation {
            name: index.to_string(),
            base: *base,
            bytes: *bytes,
            gpu: 0,
        };
        places.iter().enumerate().map(allocation).collect()
    }

    fn bases(places: &[(u64, u64)], layout: Layout) -> Vec<u64> {
        Placement::new(&allocations(places), layout).unwrap().buffers.iter().map(|buffer| buffer.base).collect()
    }

    #[test]
    fn recorded_distances_stay_where_they_are_small() {
        let places = [(0x7f00_0060_1000, 100), (0x7f00_0090_0000, 1 << 20)];
        assert_eq!(bases(&places, Layout::Recorded), [0x1000, 0x30_0000]);
        assert_eq!(bases(&places, Layout::Packed), [0x1000, 0x10_0000]);
    }

    #[test]
    fn allocations_far_apart_are_packed() {
        let places = [(0x1000, 100), (1 << 47, 5 << 20), ((1 << 47) + (6 << 20), 64), ((1 << 50) + 0x40, 64)];
        assert_eq!(bases(&places, Layout::Recorded), [0x1000, 2 << 20, 8 << 20, (8 << 20) + 0x40]);
    }

    #[test]
    fn lines_follow_their_allocation_and_others_are_nowhere() {
        let table = allocations(&[(4096, 100), (1 << 47, 64)]);
        let placement = Placement::new(&table, Layout::Recorded).unwrap();
        let mut hint = 0;
        let mut line = |line| placement.line(line, &mut hint);
        assert_eq!((line(64), line(65), line(66), line(63)), (Some(64), Some(65), None, None));
        assert_eq!((line(1 << 41), line(64), line((1 << 41) + 1)), (Some(1 << 15), Some(64), None));
    }

    #[test]
    fn what_nobody_can_simulate_is_refused() {
        for places in [&[(0, 1 << 40)][..], &[(0, u64::MAX)], &[(0, 1 << 62), (1 << 62, 1 << 62), (1 << 63, 1 << 62)]] {
            assert!(Placement::new(&allocations(places), Layout::Recorded).is_err());
            assert!(Placement::new(&allocations(places), Layout::Packed).is_err());
        }
    }
}
