//! Both prefetchers on known patterns, the tree compared with a slow reference.

use std::collections::BTreeSet;
use std::ops::Range;

use octavo_advise::prefetch::{Doubling, OnlyFaults, Prefetcher, Tree, pages_of, replay};
use octavo_units::Bytes;
use proptest::prelude::*;

const PAGE: Bytes = Bytes(4096);

fn stock(pages: Range<u64>) -> Tree {
    Tree::new(PAGE, Tree::STOCK, pages).unwrap()
}

#[test]
fn the_tree_fetches_a_block_in_six_faults() {
    let found = replay(0..512, &(0..512), &mut stock(0..512));
    assert_eq!(found.each, [16, 16, 32, 64, 128, 256], "64, 64, 128, 256, 512 and 1024 KiB");
    assert_eq!((found.faults, found.prefetched, found.useful), (6, 506, 506));
    let larger = Tree::new(Bytes(64 << 10), Tree::STOCK, 0..32).unwrap();
    assert_eq!(replay(0..32, &(0..32), &mut { larger }).each, [1, 1, 2, 4, 8, 16]);
}

#[test]
fn one_fault_alone_brings_its_big_page() {
    let found = replay([100], &(0..512), &mut stock(0..512));
    assert_eq!((found.faults, found.prefetched, found.useful), (1, 15, 0));
    let lowest = Tree::new(PAGE, 1, 0..1024).unwrap();
    assert_eq!(replay([100], &(0..1024), &mut { lowest }).each, [512]);
}

#[test]
fn nothing_comes_from_outside_the_allocation() {
    let pages = pages_of(2 << 20, Bytes(20_000), PAGE);
    assert_eq!(pages, 512..517);
    assert_eq!(replay(512..600, &pages, &mut stock(pages.clone())).each, [5]);
}

#[test]
fn the_tree_of_a_last_block_ends_where_the_allocation_does() {
    // 88 pages of the second block: 48 of them are more than half, of 128 they would not be.
    let found = replay(512..600, &(0..600), &mut stock(0..600));
    assert_eq!(found.each, [16, 16, 56]);
    // 6 pages, a whole big page and 6 pages. Nodes that begin before the allocation lose as many pages again: of the
    // first 32, which are half there by the second fault, pages 20 to 31 come.
    let unaligned = replay([12, 20, 37], &(10..38), &mut stock(10..38));
    assert_eq!(unaligned.each, [1, 12, 6]);
}

#[test]
fn strided_faults_double_up_to_256_and_start_again() {
    let found = replay(0..2000, &(0..2000), &mut Doubling::default());
    assert_eq!(found.each[..12], [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1, 2]);
    let strided = replay((0..2000).map(|step| step * 7), &(0..14_000), &mut Doubling::default());
    assert_eq!(strided.each[..12], found.each[..12]);
    assert_eq!(strided.useful, strided.prefetched);
    let backwards = replay((0..600).rev(), &(0..600), &mut Doubling::default());
    assert_eq!(backwards.each[..6], [1, 1, 2, 4, 8, 16]);
}

#[test]
fn irregular_faults_bring_nothing_else() {
    let pages = [5, 900, 13, 400, 77, 1000, 2];
    let found = replay(pages, &(0..1024), &mut Doubling::default());
    assert_eq!((found.faults, found.prefetched), (7, 0));
    assert_eq!(replay(pages, &(0..1024), &mut OnlyFaults), found);
}

#[test]
fn trees_that_cannot_be_are_refused() {
    assert_eq!(
        Tree::new(Bytes(3000), 51, 0..1).unwrap_err().to_string(),
        "expected pages of a power of two up to 2MiB, found 3000B"
    );
    assert_eq!(Tree::new(PAGE, 0, 0..1).unwrap_err().to_string(), "expected a threshold of 1 to 100 per cent, found 0");
}

/// The driver's algorithm as it is described, leaf by leaf, over the pages that an allocation has in a block.
fn slow_tree(page: u64, present: &BTreeSet<u64>, allocation: &Range<u64>) -> BTreeSet<u64> {
    let own: Vec<u64> = (page / 512 * 512..page / 512 * 512 + 512).filter(|page| allocation.contains(page)).collect();
    let whole = own.iter().any(|first| first % 16 == 0 && own.contains(&(first + 15)));
    let (start, end) = (own[0], own[own.len() - 1] + 1);
    let origin = if whole { start - start % 16 } else { start };
    let mut leaves = present.clone();
    leaves.extend(own.iter().filter(|other| !whole || *other / 16 == page / 16));
    let mut largest = BTreeSet::from([page]);
    for level in 0..=9 {
        let first = origin + ((page - origin) >> level << level);
        let node: Vec<u64> = (first..first + (1 << level)).filter(|leaf| *leaf < end).collect();
        let there = node.iter().filter(|leaf| **leaf >= start && leaves.contains(leaf)).count();
        if there * 100 > node.len() * 51 {
            // As many pages as are missing before the region are left out at its beginning.
            let ghosts = if first < start { start - origin } else { 0 };
            largest = node.into_iter().filter(|leaf| ghosts == 0 || *leaf >= start + ghosts).collect();
        }
    }
    largest.into_iter().filter(|leaf| !present.contains(leaf) && *leaf != page).collect()
}

proptest! {
    #[test]
    fn the_tree_is_the_drivers(
        (first, count) in (0u64..600, 1u64..900),
        touches in prop::collection::vec(any::<prop::sample::Index>(), 1..200),
    ) {
        let allocation = first..first + count;
        let (mut tree, mut present) = (stock(allocation.clone()), BTreeSet::new());
        for page in touches.into_iter().map(|touch| first + touch.index(count as usize) as u64) {
            if present.contains(&page) {
                continue;
            }
            let found: BTreeSet<u64> = tree.fault(page, &present).into_iter().filter(|it| !present.contains(it)).collect();
            prop_assert_eq!(&found, &slow_tree(page, &present, &allocation));
            present.insert(page);
            present.extend(found);
        }
    }

    #[test]
    fn every_page_comes_once(touches in prop::collection::vec(0u64..700, 1..300)) {
        let prefetchers: [Box<dyn Prefetcher>; 3] = [Box::new(stock(0..700)), Box::new(Doubling::default()), Box::new(OnlyFaults)];
        let distinct = touches.iter().collect::<BTreeSet<_>>().len() as u64;
        for mut prefetcher in prefetchers {
            let found = replay(touches.iter().copied(), &(0..700), prefetcher.as_mut());
            prop_assert_eq!(found.faults + found.useful, distinct);
            prop_assert!(found.useful <= found.prefetched && found.faults + found.prefetched <= 700);
            prop_assert_eq!(found.each.iter().sum::<u64>(), found.faults + found.prefetched);
        }
    }
}
