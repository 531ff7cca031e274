//! What else is brought along with requested pages, by each of the prefetchers that the model knows.

use std::collections::BTreeSet;
use std::ops::Range;

use super::model::Model;
use super::rules::Prefetch;
use super::tree;

/// A block of which pages come to a memory, all numbered from its start.
pub struct Block {
    /// Pages that were asked for.
    pub faulted: BTreeSet<u32>,
    /// Pages that are resident, whether or not they are fought over.
    pub resident: BTreeSet<u32>,
    /// Pages that are fought over.
    pub contested: BTreeSet<u32>,
    /// The part that belongs to the allocation.
    pub extent: Range<u32>,
    /// Pages of 64 KiB.
    pub big: u32,
}

impl Block {
    /// The pages of some of the allocation's 64 KiB.
    fn pages(&self, leaves: &BTreeSet<u32>) -> BTreeSet<u32> {
        self.extent.clone().filter(|page| leaves.contains(&(page / self.big))).collect()
    }

    fn leaves(&self, pages: &BTreeSet<u32>) -> BTreeSet<u32> {
        pages.iter().filter(|page| self.extent.contains(page)).map(|page| page / self.big).collect()
    }

    /// UVMSmart's tree: the 64 KiB around each fault; then, from there up to the root, every node of which more than
    /// half is resident is completed. The root has a power of two of 64 KiB, whether or not the allocation fills it.
    fn neighborhood(&self) -> BTreeSet<u32> {
        let first = self.extent.start / self.big;
        let leaves = (self.extent.end.div_ceil(self.big) - first).next_power_of_two();
        let mut brought = self.leaves(&self.faulted);
        let mut there: BTreeSet<u32> = brought.union(&self.leaves(&self.resident)).copied().collect();
        let mut size = 2;
        while size <= leaves {
            for start in (0..leaves).step_by(size as usize).map(|start| first + start) {
                let node: BTreeSet<u32> = (start..start + size).collect();
                if 2 * node.intersection(&there).count() > size as usize {
                    brought.extend(node.difference(&there));
                    there.extend(node);
                }
            }
            size *= 2;
        }
        brought
    }
}

impl Model {
    /// Pages of the block to bring, some of which may be there.
    pub(super) fn wanted(&mut self, block: &Block) -> BTreeSet<u32> {
        let wanted = match self.rules.prefetch {
            Prefetch::Nothing => BTreeSet::new(),
            Prefetch::Tree(threshold) => {
                let Block { faulted, resident, contested, extent, big } = block;
                tree::prefetched(faulted, resident, contested, extent.clone(), *big, threshold)
            }
            Prefetch::TreeNeighborhood => block.pages(&block.neighborhood()),
            Prefetch::SequentialLocal => block.pages(&block.leaves(&block.faulted)),
            Prefetch::RandomPage(_) => self.draw(block),
        };
        wanted.difference(&block.faulted).copied().collect()
    }

    /// One page of the allocation for each requested page.
    fn draw(&mut self, block: &Block) -> BTreeSet<u32> {
        let (first, count) = (block.extent.start, block.extent.end - block.extent.start);
        block.faulted.iter().map(|_| first + self.lots.below(count)).collect()
    }
}
