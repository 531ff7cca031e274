//! UVMSmart's eviction: 64 KiB at a time, of the block that was used least recently, and whole subtrees of a block with
//! it if they are less than half full.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use octavo_manager::ProcessorId;

use super::leaving::Look;
use super::rules::Rules;

/// When blocks and leaves of each memory were last used. Nothing is ever forgotten, because leaves without resident
/// pages never leave.
#[derive(Debug)]
pub struct Leaves {
    /// Pages of a leaf and of a block.
    leaf: u32,
    block: u32,
    /// The share of these leaves, in per cent, that leave after all others.
    reserved: usize,
    /// Whether subtrees are emptied.
    trees: bool,
    now: u64,
    blocks: BTreeMap<(ProcessorId, u32), u64>,
    leaves: BTreeMap<(ProcessorId, u32), u64>,
}

impl Leaves {
    pub fn new(rules: &Rules, reserved: u32, trees: bool) -> Self {
        let (leaf, block, reserved) = (rules.big_page(), rules.block_pages(), reserved as usize);
        Self { leaf, block, reserved, trees, now: 0, blocks: BTreeMap::new(), leaves: BTreeMap::new() }
    }

    pub fn used(&mut self, processor: ProcessorId, page: u32) {
        self.now += 1;
        self.blocks.insert((processor, page / self.block), self.now);
        self.leaves.insert((processor, page / self.leaf), self.now);
    }

    pub fn victims(&self, processor: ProcessorId, wanted: usize, look: &Look<'_>) -> Vec<u32> {
        let (mut victims, mut gone) = (Vec::new(), BTreeSet::new());
        let mut trees: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
        for leaf in self.order(processor, look) {
            let left = if self.trees { self.empty(leaf, &mut trees, look) } else { BTreeSet::from([leaf]) };
            for leaf in left.into_iter().filter(|&leaf| self.can_leave(leaf, look)) {
                // Allocations that end within 64 KiB share a leaf.
                if gone.insert(leaf) {
                    victims.extend(self.here(leaf, look));
                }
            }
            if victims.len() >= wanted {
                break;
            }
        }
        victims
    }

    /// Leaves that have resident pages: the least recently used block first, and within each block the least recently
    /// used leaf.
    fn order(&self, processor: ProcessorId, look: &Look<'_>) -> Vec<u32> {
        let there = self.leaves.keys().filter(|(other, leaf)| *other == processor && self.any(*leaf, look));
        let mut leaves: Vec<u32> = there.map(|(_, leaf)| *leaf).collect();
        let block = |leaf: u32| self.blocks[&(processor, leaf * self.leaf / self.block)];
        leaves.sort_by_key(|&leaf| (block(leaf), self.leaves[&(processor, leaf)]));
        let reserved = leaves.len() * self.reserved / 100;
        leaves.rotate_left(reserved);
        leaves
    }

    /// A leaf, and what leaves with it: in its allocation's tree in the block, every node of which less than half would
    /// stay is emptied, the smaller nodes first. `trees` says what stays so far of those seen.
    fn empty(&self, leaf: u32, trees: &mut BTreeMap<(u32, u32), BTreeSet<u32>>, look: &Look<'_>) -> BTreeSet<u32> {
        let root = self.root(leaf, look);
        let stay = trees
            .entry((root.start, root.end))
            .or_insert_with(|| root.clone().filter(|&leaf| self.any(leaf, look)).collect());
        let before = stay.clone();
        if !self.can_leave(leaf, look) || !stay.remove(&leaf) {
            return BTreeSet::new();
        }
        let leaves = (root.end - root.start).next_power_of_two();
        let mut size = 2;
        while size <= leaves {
            for first in (0..leaves).step_by(size as usize).map(|first| root.start + first) {
                let node = first..first + size;
                if 2 * stay.iter().filter(|leaf| node.contains(leaf)).count() < size as usize {
                    stay.retain(|leaf| !node.contains(leaf) || !self.can_leave(*leaf, look));
                }
            }
            size *= 2;
        }
        before.difference(stay).copied().collect()
    }

    /// The leaves that the allocation of a leaf's first page there has in the block.
    fn root(&self, leaf: u32, look: &Look<'_>) -> Range<u32> {
        let extent = (look.extent)(self.here(leaf, look)[0]);
        extent.start / self.leaf..extent.end.div_ceil(self.leaf)
    }

    fn here(&self, leaf: u32, look: &Look<'_>) -> Vec<u32> {
        (leaf * self.leaf..(leaf + 1) * self.leaf).filter(|&page| (look.here)(page)).collect()
    }

    fn any(&self, leaf: u32, look: &Look<'_>) -> bool {
        !self.here(leaf, look).is_empty()
    }

    /// Whether the leaf has resident pages, none of them busy.
    fn can_leave(&self, leaf: u32, look: &Look<'_>) -> bool {
        self.any(leaf, look) && !self.here(leaf, look).into_iter().any(look.busy)
    }
}
