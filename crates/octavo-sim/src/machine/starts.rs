//! Replicates of a run: each varies what scenarios leave open, that is when each GPU begins a launch and which of
//! equals comes first.

use std::num::NonZeroU32;
use std::ops::Range;

/// A GPU begins a launch less than this many picoseconds late. Chosen: 1 µs, a few memory latencies, far below the time
/// of a fault.
const LATEST: u64 = 1_000_000;

/// How launches begin: in the order of the GPUs and all at once, or as a replicate varies it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Starts(Option<NonZeroU32>);

/// The purpose of a drawn number, so that numbers for one launch and GPU are independent.
#[derive(Clone, Copy)]
enum For {
    Order,
    Unit,
    Delay,
}

impl Starts {
    /// Replicate 0 is the run without variations.
    pub fn of(replicate: u32) -> Self {
        Self(NonZeroU32::new(replicate))
    }

    /// The places of this many GPUs in the order in which they get their first work-groups of a launch.
    pub fn order(self, launch: u32, gpus: usize) -> impl Iterator<Item = usize> {
        let first = self.draw(For::Order, launch, 0, gpus as u64) as usize;
        (first..gpus).chain(0..first)
    }

    /// Which of a GPU's equal compute units gets the first work-group; `usual` in the run without variations.
    pub fn unit(self, (launch, gpu): (u32, usize), units: &Range<usize>, usual: usize) -> usize {
        match self.0 {
            Some(_) => units.start + self.draw(For::Unit, launch, gpu, units.len() as u64) as usize,
            None => usual,
        }
    }

    /// Picoseconds by which a GPU begins a launch late.
    pub fn delay(self, launch: u32, gpu: usize) -> u64 {
        self.draw(For::Delay, launch, gpu, LATEST)
    }

    /// A number below `bound`; 0 in the run without variations.
    fn draw(self, what: For, launch: u32, gpu: usize, bound: u64) -> u64 {
        let Some(replicate) = self.0 else { return 0 };
        let place = (u64::from(launch) << 8 | gpu as u64) << 2 | what as u64;
        mix(mix(u64::from(replicate.get())) ^ place) % bound.max(1)
    }
}

/// `SplitMix64`: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
fn mix(seed: u64) -> u64 {
    let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_as_it_is_begins_in_order_at_once() {
        let starts = Starts::of(0);
        assert_eq!(starts.order(3, 4).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!((starts.unit((3, 1), &(0..8), 5), starts.delay(3, 1)), (5, 0));
    }

    #[test]
    fn replicates_draw_from_all_that_there_is() {
        let drawn = |of: &dyn Fn(Starts) -> u64| -> std::collections::BTreeSet<u64> {
            (1..200).map(|replicate| of(Starts::of(replicate))).collect()
        };
        assert_eq!(drawn(&|starts| starts.order(0, 4).next().unwrap_or(9) as u64), (0..4).collect());
        assert_eq!(drawn(&|starts| starts.unit((7, 3), &(8..16), 0) as u64), (8..16).collect());
        let delays = drawn(&|starts| starts.delay(0, 1));
        assert!(delays.len() > 190 && delays.iter().all(|delay| *delay < LATEST), "{delays:?}");
    }

    #[test]
    fn the_first_number_is_that_of_the_publication() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }
}
