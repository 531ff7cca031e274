//! How much memory the caching allocator has, from event to event: what is handed out, and what it holds for that.

use super::allocator::{Allocator, Place};

/// Bytes after each event; shorter than the events if memory runs out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve {
    /// Bytes of all blocks that are handed out.
    pub allocated: Vec<u64>,
    /// Bytes of all segments.
    pub reserved: Vec<u64>,
}

/// Runs the allocator through events: `block` where one is handed out, `-1 - block` where it is given back.
///
/// `room` limits the segments. The curve ends before the first block for which there is none.
///
/// # Errors
/// Names an event with a block that does not exist, is handed out twice, or is given back while it is not there.
pub fn curve(blocks: &[u64], events: &[i64], room: Option<u64>) -> Result<Curve, String> {
    let mut allocator = room.map_or_else(Allocator::default, Allocator::within);
    let mut places: Vec<Option<Place>> = vec![None; blocks.len()];
    let (mut curve, mut allocated) = (Curve::default(), 0);
    for (index, &event) in events.iter().enumerate() {
        let number = usize::try_from(if event < 0 { -1 - event } else { event }).unwrap_or(usize::MAX);
        let wrong = |what: &str| format!("event {index}: block {number} {what}");
        let place = places.get_mut(number).ok_or_else(|| wrong("does not exist"))?;
        match (event < 0, place.take()) {
            (true, Some(there)) => {
                allocated -= allocator.bytes(there);
                allocator.free(there);
            }
            (false, None) if blocks[number] > 0 => {
                let Some(found) = allocator.try_allocate(blocks[number]) else { return Ok(curve) };
                allocated += allocator.bytes(found);
                *place = Some(found);
            }
            (true, None) => return Err(wrong("is given back while it is not there")),
            (false, Some(_)) => return Err(wrong("is handed out twice")),
            (false, None) => return Err(wrong("has no bytes")),
        }
        curve.allocated.push(allocated);
        curve.reserved.push(allocator.held());
    }
    Ok(curve)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn blocks_are_rounded_and_segments_kept() {
        let found = curve(&[1, 3 * MIB, 30 * MIB + 1], &[0, 1, -2, 2], None).unwrap();
        assert_eq!(found.allocated, [512, 512 + 3 * MIB, 512, 1024 + 30 * MIB]);
        assert_eq!(found.reserved, [2 * MIB, 22 * MIB, 22 * MIB, 54 * MIB]);
    }

    #[test]
    fn where_memory_runs_out_empty_segments_go_first() {
        let (blocks, events) = ([12 * MIB, 14 * MIB, 16 * MIB], [0, -1, 1, 2]);
        assert_eq!(curve(&blocks, &events, None).unwrap().reserved, [12, 12, 26, 42].map(|each| each * MIB));
        assert_eq!(curve(&blocks, &events, Some(30 * MIB)).unwrap().reserved, [12, 12, 26, 30].map(|each| each * MIB));
        assert_eq!(curve(&blocks, &events, Some(29 * MIB)).unwrap().allocated.len(), 3);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for events in [vec![1], vec![-1], vec![0, 0], vec![i64::MIN], vec![0, -1, -1]] {
            assert!(curve(&[8], &events, None).is_err(), "{events:?}");
        }
        assert!(curve(&[0], &[0], None).is_err());
    }
}
