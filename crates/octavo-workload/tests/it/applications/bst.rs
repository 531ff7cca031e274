//! Insertion against a lane-by-lane model of its kernel, on a tree that is inserted node by node.

use super::{full_size, refused};
use crate::lanes::{Lanes, assert_same, base};
use octavo_program::Workload;
use octavo_workload::kernels::bst::Bst;

/// A node of the naive tree: key, and its children.
type Node = (u64, [Option<usize>; 2]);

/// Inserts a key: the nodes that are passed, and at each whether the way went right.
fn insert(tree: &mut Vec<Node>, key: u64) -> Vec<(usize, bool)> {
    let (mut passed, new) = (Vec::new(), tree.len());
    tree.push((key, [None, None]));
    let mut at = (new > 0).then_some(0);
    while let Some(node) = at {
        let right = key >= tree[node].0;
        passed.push((node, right));
        at = tree[node].1[usize::from(right)];
    }
    if let Some(&(last, right)) = passed.last() {
        tree[last].1[usize::from(right)] = Some(new);
    }
    passed
}

fn keys(count: u64) -> Vec<u64> {
    (0..count).map(|number| number * 7919 % 1009).collect()
}

#[test]
fn walks_are_those_of_insertions_one_after_another() {
    for (count, batches) in [(700u64, 3u64), (10, 1), (3, 3)] {
        let all = Bst::new(keys(count), batches as u32);
        let mut tree = Vec::new();
        let passed: Vec<_> = keys(count).into_iter().map(|key| insert(&mut tree, key)).collect();
        let parents = passed.iter().map(|path| path.last().map_or(u32::MAX, |last| last.0 as u32));
        assert_eq!(all.parents(), parents.collect::<Vec<_>>());
        let [keys_at, nodes, depths] = ["keys", "tree", "depths"].map(|name| base(&all, name));
        assert_same(&all, |launch, group, _| {
            let [begin, end] = [0, 1].map(|next| count * (u64::from(launch) + next) / batches);
            let gpu = begin + ((end - begin) * 30).div_ceil(100);
            let first = gpu + u64::from(group) * 64;
            let own = || first..end.min(first + 64);
            let mut lanes = Lanes::default();
            if first >= end {
                return lanes;
            }
            let node = |number: usize, offset: u64| nodes + 48 * number as u64 + offset;
            let link = |(number, right): (usize, bool)| node(number, if right { 16 } else { 8 });
            lanes.load(own().map(|key| keys_at + 8 * key));
            for depth in 0..own().map(|key| passed[key as usize].len()).max().unwrap() {
                let at = || own().filter_map(|key| passed[key as usize].get(depth).copied());
                lanes.load(at().map(|(number, _)| node(number, 0)));
                lanes.load(at().map(link));
            }
            let last = || own().filter_map(|key| passed[key as usize].last().copied());
            lanes.store(last().map(|(number, _)| node(number, 32)));
            lanes.load(last().map(link));
            lanes.store(last().map(link));
            lanes.store(last().map(|(number, _)| node(number, 32)));
            lanes.store(own().flat_map(|key| (0..48).map(move |byte| nodes + 48 * key + byte)));
            lanes.store(own().map(|key| depths + 4 * key));
            lanes
        });
    }
}

/// Ten keys in two batches: the host has two of five in each.
#[test]
fn host_and_gpu_take_turns() {
    let side = Bst::new(keys(10), 2).host_side();
    let said: Vec<_> =
        side.exchanges().iter().map(|one| (one.before, one.buffer, one.bytes.clone(), one.writes)).collect();
    let expected = [
        (0, 0, 0..40, true),
        (0, 1, 0..96, true),
        (1, 2, 8..20, false),
        (1, 0, 40..80, true),
        (1, 1, 0..240, false),
        (1, 1, 0..336, true),
        (2, 2, 28..40, false),
    ];
    assert_eq!(said, expected);
}

#[test]
fn the_size_is_the_recorded_one_and_options_are_checked() {
    let found = full_size("bst").footprint() as f64 / f64::from(1 << 20);
    assert!((found / 40.0 - 1.0).abs() < 0.001, "{found} MiB");
    for (key, value) in [("keys", 0), ("batches", 0), ("batches", 1001)] {
        assert_eq!(refused("bst", &[(key, value)]), key);
    }
}
