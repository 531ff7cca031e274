//! Prefetchers, which choose the pages that come along when pages migrate.

mod chunks;
mod contract;
mod none;
mod random_page;
mod sequential_local;
mod tree;
mod tree_neighborhood;
mod when_full;

use octavo_registry::{Choice, Entry, Registry};

pub use self::contract::{FaultBatch, Path, Prefetch, Service};
use crate::contract::geometry::Geometry;

/// Every prefetcher, by name.
pub static PREFETCHERS: Registry<Box<dyn Prefetch>, Geometry> = Registry::new(
    "prefetch",
    &[
        &none::ENTRY,
        &tree::ENTRY,
        &tree_neighborhood::ENTRY,
        &sequential_local::ENTRY,
        &random_page::ENTRY,
        &chunks::LOCAL_PATH,
        &chunks::MULTI_PATH,
        &WHEN_FULL,
    ],
);

/// It is made of two others.
static WHEN_FULL: Entry<Box<dyn Prefetch>, Geometry> = when_full::entry(|options, geometry| {
    when_full::built(options, |name| PREFETCHERS.build(&Choice::named(name), geometry))
});

#[cfg(test)]
mod tests {
    use octavo_units::Bytes;

    use super::*;
    use crate::contract::block::BlockMap;
    use crate::contract::ids::{PageId, PageRun, ProcessorId};

    const GEOMETRY: Geometry = Geometry { gpus: 1, page_size: Bytes(4 << 10) };

    fn built(name: &str, options: &str) -> Box<dyn Prefetch> {
        let choice = Choice { name: name.to_owned(), options: serde_json::from_str(options).unwrap() };
        PREFETCHERS.build(&choice, &GEOMETRY).unwrap()
    }

    /// Faults on these pages of the second block, all of it there or of this allocation.
    fn service((first, count): (u32, u32), faults: &[u32]) -> Service {
        let mut faulted = BlockMap::EMPTY;
        faults.iter().for_each(|&page| faulted.insert(page));
        let run = |first, count| PageRun { first: PageId(512 + first), count };
        let (block, extent) = (run(0, 512), run(first, count));
        Service {
            destination: ProcessorId::gpu(0),
            block,
            extent,
            faulted,
            resident: faulted,
            contested: BlockMap::EMPTY,
            was_full: false,
        }
    }

    #[test]
    fn the_leaves_of_an_allocation_are_numbered_from_its_blocks_start() {
        let service = service((40, 50), &[]);
        assert_eq!(service.leaves(16), 2..6);
        assert_eq!([2, 5].map(|leaf| service.leaf(leaf, 16)), [(40, 48), (80, 90)]);
    }

    #[test]
    fn a_random_page_is_one_of_the_allocation() {
        let mut prefetch = built("random-page", "{}");
        let service = service((100, 4), &[100]);
        let brought: Vec<u32> = (0..50).flat_map(|_| prefetch.pages(&service).iter().collect::<Vec<_>>()).collect();
        assert!(!brought.is_empty() && brought.iter().all(|page| (101..104).contains(page)), "{brought:?}");
    }

    #[test]
    fn with_a_threshold_of_one_percent_any_fault_brings_the_block() {
        let mut prefetch = tree::with_threshold(1, &GEOMETRY).unwrap();
        assert_eq!(prefetch.pages(&service((0, 512), &[3])).count(0, 512), 511);
    }

    #[test]
    fn a_freed_allocation_begins_anew_and_others_go_on() {
        let mut tree = built("tree", r#"{"min_faults": 2}"#);
        let (freed, other) = ((0, 64), (128, 64));
        let brings = |tree: &mut dyn Prefetch, run: (u32, u32)| tree.pages(&service(run, &[run.0])) != BlockMap::EMPTY;
        assert!(!brings(&mut *tree, freed) && !brings(&mut *tree, other), "the first fault of each");
        tree.freed(service(freed, &[]).extent);
        assert!(brings(&mut *tree, other), "the second");
        assert!(!brings(&mut *tree, freed), "the first again");
    }

    #[test]
    fn blocks_are_served_if_either_of_two_prefetchers_serves_them() {
        let serves = |before: &str, after: &str| {
            built("when-full", &format!(r#"{{"before": "{before}", "after": "{after}"}}"#)).serves_blocks()
        };
        assert_eq!([serves("none", "none"), serves("tree", "none"), serves("none", "tree")], [false, true, true]);
    }
}
