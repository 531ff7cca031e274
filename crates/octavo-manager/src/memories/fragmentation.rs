//! Foreign data that lies in memory from the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::error::ConfigError;
use crate::memories::store::FrameStore;
use crate::random::Random;

/// The initial fragmentation of every GPU's memory, by data that no application here owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fragmentation {
    /// Percent of the large frames that hold foreign data, 0 to 100, chosen at random; default 0 (Mosaic, MICRO 2017:
    /// fragmentation index). Values above 0 need a memory with a limit.
    #[schemars(range(min = 0, max = 100))]
    pub index: u32,
    /// Percent of such a large frame that is foreign, 0 to 100, in base pages at random places; default 0 (ditto:
    /// large page frame occupancy).
    #[schemars(range(min = 0, max = 100))]
    pub occupancy: u32,
    /// Seed of both choices, any number; default 0.
    pub seed: u32,
}

impl Fragmentation {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        for (key, percent) in [("index", self.index), ("occupancy", self.occupancy)] {
            if percent > 100 {
                let message = format!("expected 0 to 100 percent, found {percent}");
                return Err(ConfigError::new(format!("fragmentation.{key}"), message));
            }
        }
        Ok(())
    }

    pub(crate) fn is_none(&self) -> bool {
        self.index == 0 || self.occupancy == 0
    }

    /// Fills the memory of the GPU numbered `gpu`; how many base frames that takes.
    pub(crate) fn fill(&self, memory: &mut FrameStore, gpu: u32) -> u32 {
        while memory.add_large_frame() {}
        let mut random = Random::new(self.seed.wrapping_add(gpu));
        let mut chosen: Vec<u32> = (0..memory.total / memory.span).collect();
        let mut places: Vec<u32> = (0..memory.span).collect();
        // A large page of one base page is foreign if anything in it is.
        let (frames, pages) = (percent(chosen.len(), self.index), percent(places.len(), self.occupancy).max(1));
        for large in draw(&mut chosen, frames, &mut random) {
            for offset in draw(&mut places, pages, &mut random) {
                memory.put_foreign(large * memory.span + offset);
            }
        }
        (frames * pages) as u32
    }
}

/// `percent` percent of `count`, rounded down: foreign data take no more than is said.
fn percent(count: usize, percent: u32) -> usize {
    count * percent as usize / 100
}

/// This many of them at random, without repetition.
fn draw(numbers: &mut [u32], count: usize, random: &mut Random) -> Vec<u32> {
    for index in 0..count {
        let other = index + random.below((numbers.len() - index) as u32) as usize;
        numbers.swap(index, other);
    }
    numbers[..count].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_data_take_no_more_than_their_shares() {
        let fill = |large_frames: u32, index, occupancy| {
            let mut memory = FrameStore::new(4, 4 * large_frames);
            Fragmentation { index, occupancy, seed: 1 }.fill(&mut memory, 0)
        };
        assert_eq!([fill(4, 75, 50), fill(6, 75, 50), fill(6, 75, 70)], [3 * 2, 4 * 2, 4 * 2]);
        assert_eq!(fill(4, 100, 1), 4, "one page at least in each that holds any");
    }
}
