//! The production driver's tree prefetcher, for one block, leaf by leaf.

use std::collections::BTreeSet;

/// Pages to bring along with `faulted`, whether or not they are part of `resident`, all numbered from the start of the
/// block; `extent` is the part of the block that belongs to the allocation, `big` the pages of 64 KiB. Processors fight
/// over `contested` pages.
pub fn prefetched(
    faulted: &BTreeSet<u32>,
    resident: &BTreeSet<u32>,
    contested: &BTreeSet<u32>,
    extent: std::ops::Range<u32>,
    big: u32,
    threshold: u32,
) -> BTreeSet<u32> {
    let mut leaves: BTreeSet<u32> = faulted.union(resident).copied().filter(|page| extent.contains(page)).collect();
    // 64 KiB that are missing a page become full, at the allocation's ends as much of them as there is; all of the
    // allocation if it has no 64 KiB whole.
    let whole = extent.clone().any(|page| page % big == 0 && extent.end - page >= big);
    for page in faulted {
        let aligned = page - page % big;
        let grown = if whole { aligned..aligned + big } else { extent.clone() };
        if !grown.clone().any(|page| contested.contains(&page)) {
            leaves.extend(grown.filter(|page| extent.contains(page)));
        }
    }
    // Leaf zero is the 64 KiB boundary at or below the start of the extent.
    let origin = if whole { extent.start - extent.start % big } else { extent.start };
    let (leaf_count, ghosts) = (extent.end - origin, extent.start - origin);
    let mut wanted = BTreeSet::new();
    for page in faulted {
        let node = largest_node(page - origin, leaf_count, threshold, |leaf| leaves.contains(&(leaf + origin)));
        // The driver takes the first ghosts for pages: that many real ones are passed over.
        let first = if node.start < ghosts { ghosts } else { node.start - ghosts };
        wanted.extend((first..node.end - ghosts).map(|index| extent.start + index));
    }
    wanted.difference(faulted).copied().collect()
}

/// The largest node above `leaf` that is resident by more than `threshold` per cent.
fn largest_node(leaf: u32, leaf_count: u32, threshold: u32, there: impl Fn(u32) -> bool) -> std::ops::Range<u32> {
    let mut largest = leaf..leaf;
    let mut size = 1;
    loop {
        let start = leaf - leaf % size;
        let node = start..(start + size).min(leaf_count);
        let count = node.clone().filter(|leaf| there(*leaf)).count() as u32;
        if count * 100 > (node.end - node.start) * threshold {
            largest = node;
        }
        if size >= leaf_count {
            return largest;
        }
        size *= 2;
    }
}
