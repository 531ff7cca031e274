//! `tree-neighborhood`: UVMSmart's counterpart of its prefetcher. A 64 KiB leaf leaves as under `sequential-local`;
//! then, from the leaves to the root of its block, every node is emptied of which less than half would stay, and what
//! leaves one node counts for the nodes above it.

use std::collections::{BTreeMap, BTreeSet};

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Eviction;
use super::leaf_order::{Leaf, LeafOrder, reserve_in_range};
use super::recency::{Recency, is_off};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId};
use crate::pages::residency::Residency;

/// Options of `tree-neighborhood`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Percent of the leaves, 0 to 99, that stay as long as others can leave, although it is their turn; default
    /// 0 (`-reserve_accessed_page_percent`; the publication also tries 10 and 20).
    reserved_percent: u32,
    /// What counts as a use: `service` (default; pages being brought, or faults) or `access` (also every access:
    /// UVMSmart, `refresh_valid_pages`, which a TLB hit calls as well).
    #[serde(skip_serializing_if = "Recency::is_service")]
    recency: Recency,
    /// Whether 64 KiB leave only if all their allocated pages are resident; default false (UVMSmart:
    /// `is_block_evictable` asks for every page of the basic block).
    #[serde(skip_serializing_if = "is_off")]
    whole: bool,
}

pub(super) static ENTRY: Entry<Box<dyn Eviction>, Geometry> = Entry {
    name: "tree-neighborhood",
    summary: "evicts 64 KiB as sequential-local does, and empties subtrees of the 2 MiB block that are less than half there",
    source: "UVMSmart (ISCA 2019), -eviction_policy 1",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let Options { reserved_percent, recency, whole } = typed::parse(options)?;
        reserve_in_range(reserved_percent)?;
        Ok(Box::new(TreeNeighborhood { order: LeafOrder::new(geometry, reserved_percent), recency, whole }))
    },
};

struct TreeNeighborhood {
    order: LeafOrder,
    recency: Recency,
    whole: bool,
}

impl Eviction for TreeNeighborhood {
    fn grow(&mut self, pages: usize) {
        self.order.grow(pages);
    }

    fn used(&mut self, holder: MemoryId, page: PageId, memory: &Residency<'_>) {
        self.order.used(holder, page, memory);
    }

    fn wants_accesses(&self) -> bool {
        self.recency.is_access()
    }

    fn restored(&mut self, holder: MemoryId, page: PageId) {
        self.order.restored(holder, page);
    }

    fn victims(&mut self, holder: MemoryId, wanted: u32, all: bool, memory: &Residency<'_>, victims: &mut Vec<PageId>) {
        victims.clear();
        // Trees that leaves have left, by the first leaf of each and the one past its last.
        let mut trees: BTreeMap<(u32, u32), Tree> = BTreeMap::new();
        // Allocations that end within 64 KiB share a leaf.
        let mut left = BTreeSet::new();
        self.order.each(holder, memory, |leaf| {
            let root = root(leaf, holder, memory);
            let tree = trees
                .entry((root.start, root.end))
                .or_insert_with(|| Tree::new(&root, (leaf.pages, self.whole), holder, memory));
            let leaving = tree.leave(leaf.number - root.start).map(|index| root.start + index);
            for number in leaving.filter(|&number| left.insert(number)) {
                victims.extend(Leaf { number, ..leaf }.resident(holder, memory));
            }
            victims.len() >= wanted as usize
        });
        if all && victims.len() < wanted as usize {
            victims.clear();
        }
    }

    fn knows(&self, holder: MemoryId, page: PageId) -> bool {
        self.order.knows(holder, page)
    }

    fn bytes(&self) -> usize {
        self.order.bytes()
    }
}

/// The leaves of the tree that `leaf` is part of: those that the allocation of its pages has in the block.
fn root(leaf: Leaf, holder: MemoryId, memory: &Residency<'_>) -> std::ops::Range<u32> {
    let page = leaf.resident(holder, memory).next().expect("something of the leaf is there");
    let extent = memory.extent(page);
    extent.first.0 / leaf.pages..(extent.first.0 + extent.count).div_ceil(leaf.pages)
}

/// Leaves of one tree, a bit each, at most 32.
struct Tree {
    /// Leaves in its smallest complete tree.
    leaves: u32,
    /// Leaves with resident pages that stay.
    valid: u32,
    /// Leaves that can leave, none of their pages being busy.
    evictable: u32,
}

impl Tree {
    fn new(root: &std::ops::Range<u32>, (pages, whole): (u32, bool), holder: MemoryId, memory: &Residency<'_>) -> Self {
        let mut tree = Self { leaves: (root.len() as u32).next_power_of_two(), valid: 0, evictable: 0 };
        for (index, number) in root.clone().enumerate() {
            let leaf = Leaf { number, pages };
            tree.valid |= u32::from(leaf.resident(holder, memory).next().is_some()) << index;
            tree.evictable |= u32::from(leaf.evictable(holder, memory, whole)) << index;
        }
        tree
    }

    /// The leaves that leave because the policy chose leaf `index`, in ascending order; none if it left already or
    /// cannot.
    fn leave(&mut self, index: u32) -> impl Iterator<Item = u32> + use<> {
        let before = self.valid;
        if self.valid & self.evictable & 1 << index != 0 {
            self.valid &= !(1 << index);
            self.empty(0, self.leaves);
        }
        let left = before & !self.valid;
        (0..u32::BITS).filter(move |index| left >> index & 1 != 0)
    }

    /// Empties nodes of `leaves` leaves from `first` on, the lower ones first; how many of those leaves stay.
    fn empty(&mut self, first: u32, leaves: u32) -> u32 {
        if leaves == 1 {
            return self.valid >> first & 1;
        }
        let stay = self.empty(first, leaves / 2) + self.empty(first + leaves / 2, leaves / 2);
        if 2 * stay >= leaves {
            return stay;
        }
        let node = (u32::MAX >> (32 - leaves)) << first;
        self.valid &= !(node & self.evictable);
        (self.valid & node).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    fn stay(leaves: u32, valid: u32, evictable: u32, index: u32) -> u32 {
        let mut tree = Tree { leaves, valid, evictable };
        tree.leave(index).for_each(drop);
        tree.valid
    }

    #[test]
    fn exactly_half_of_a_node_stays() {
        assert_eq!(stay(4, 0b1111, 0b1111, 0), 0b1110);
        assert_eq!(stay(4, 0b1110, 0b1111, 1), 0b1100);
        assert_eq!(stay(4, 0b1100, 0b1111, 2), 0);
    }

    #[test]
    fn what_leaves_a_node_counts_for_the_node_above() {
        assert_eq!(stay(8, 0b1111_0100, 0xff, 2), 0b1111_0000);
        assert_eq!(stay(8, 0b1110_0100, 0xff, 2), 0);
        assert_eq!(stay(8, 0b1010_1000, 0xff, 3), 0);
    }

    /// Leaf 5 leaves, and one of the four leaves of the upper half stays: it goes, too. The lower half is full.
    #[test]
    fn the_upper_half_is_emptied_though_the_lower_half_stays() {
        assert_eq!(stay(8, 0b0110_1111, 0xff, 5), 0b0000_1111);
    }

    #[test]
    fn what_is_busy_stays_and_counts() {
        assert_eq!(stay(4, 0b1101, 0b0101, 0), 0b1100);
        assert_eq!(stay(4, 0b1101, 0b0101, 3), 0b1101);
        assert_eq!(stay(4, 0b1001, 0b0001, 0), 0b1000);
    }
}
