//! `tree-neighborhood`: UVMSmart's reading of the production driver's prefetcher. A fault brings its 64 KiB leaf; then,
//! from the leaves to the root, every node of which more than half is resident is filled, and the pages that fill one
//! node count for the nodes above it.
//!
//! The tree of an allocation's part of a 2 MiB block has a power of two of leaves, as UVMSmart rounds allocations up;
//! leaves behind the allocation's end are empty until a node above them is filled.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Prefetch, Service};
use crate::contract::block::BlockMap;
use crate::contract::geometry::Geometry;

/// `tree-neighborhood` has no options.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {}

pub(super) static ENTRY: Entry<Box<dyn Prefetch>, Geometry> = Entry {
    name: "tree-neighborhood",
    summary: "brings the 64 KiB around a fault, and fills subtrees of the 2 MiB block that are more than half there",
    source: "UVMSmart (ISCA 2019), -hardware_prefetch 1",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        typed::parse::<Options>(options)?;
        Ok(Box::new(TreeNeighborhood { leaf_pages: geometry.counter_group_pages() }))
    },
};

struct TreeNeighborhood {
    /// Pages of 64 KiB.
    leaf_pages: u32,
}

impl Prefetch for TreeNeighborhood {
    fn serves_blocks(&self) -> bool {
        true
    }

    fn pages(&mut self, service: &Service) -> BlockMap {
        let there = service.resident.union(&service.faulted);
        let leaves = service.leaves(self.leaf_pages);
        let mut tree = Tree { valid: 0, brought: 0 };
        for (index, leaf) in leaves.clone().enumerate() {
            let (first, end) = service.leaf(leaf, self.leaf_pages);
            tree.valid |= u32::from(there.count(first, end) > 0) << index;
            tree.brought |= u32::from(service.faulted.count(first, end) > 0) << index;
        }
        tree.fill(0, (leaves.len() as u32).next_power_of_two());
        let mut wanted = BlockMap::EMPTY;
        for leaf in leaves.clone().filter(|leaf| tree.brought >> (leaf - leaves.start) & 1 != 0) {
            let (first, end) = service.leaf(leaf, self.leaf_pages);
            wanted.insert_range(first, end);
        }
        wanted.without(&service.resident)
    }
}

/// Leaves of one tree, a bit each, at most 32.
struct Tree {
    /// Leaves with at least one resident page.
    valid: u32,
    /// Leaves that come because of this service.
    brought: u32,
}

impl Tree {
    /// Fills nodes of `leaves` leaves from `first` on, the lower ones first; returns how many of those leaves are
    /// resident afterwards.
    fn fill(&mut self, first: u32, leaves: u32) -> u32 {
        if leaves == 1 {
            return self.valid >> first & 1;
        }
        let there = self.fill(first, leaves / 2) + self.fill(first + leaves / 2, leaves / 2);
        if 2 * there <= leaves {
            return there;
        }
        let node = (u32::MAX >> (32 - leaves)) << first;
        self.brought |= node & !self.valid;
        self.valid |= node;
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    fn brought(leaves: u32, valid: u32) -> u32 {
        let mut tree = Tree { valid, brought: 0 };
        tree.fill(0, leaves);
        tree.brought
    }

    #[test]
    fn exactly_half_of_a_node_fills_nothing() {
        assert_eq!(brought(4, 0b0011), 0);
        assert_eq!(brought(4, 0b0111), 0b1000);
        assert_eq!(brought(32, 0xffff), 0);
        assert_eq!(brought(32, 0x1_ffff), 0xfffe_0000);
    }

    #[test]
    fn what_fills_a_node_counts_for_the_node_above() {
        assert_eq!(brought(8, 0b0001_0111), 0b1110_1000);
    }

    #[test]
    fn a_node_in_the_middle_is_filled_where_it_is() {
        assert_eq!(brought(8, 0b0111_0000), 0b1000_0000);
    }
}
