//! The tree that keys become, one after another.

use crate::random::mixed;

/// In place of a number: there is none.
pub const NONE: u32 = u32::MAX;

/// A binary search tree, its nodes numbered as they were inserted: lower keys go left, others right.
pub struct Tree {
    /// The key of each node.
    pub keys: Vec<u64>,
    /// The node that each hangs on, [`NONE`] for the first.
    pub parents: Vec<u32>,
}

impl Tree {
    /// The tree of `keys`, inserted in this order.
    ///
    /// A node hangs on the later one of its neighbours in the order of keys that were there before it; so the tree is
    /// found by sorting, as a Cartesian tree over the numbers.
    pub fn of(keys: Vec<u64>) -> Self {
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_by_key(|&number| (keys[number as usize], number));
        let mut parents = vec![NONE; keys.len()];
        let mut open: Vec<u32> = Vec::new();
        for number in order {
            let mut below = NONE;
            while open.last().is_some_and(|&last| last > number) {
                below = open.pop().unwrap_or(NONE);
            }
            if below != NONE {
                parents[below as usize] = number;
            }
            parents[number as usize] = open.last().copied().unwrap_or(NONE);
            open.push(number);
        }
        Self { keys, parents }
    }

    /// The nodes above one, from the root on.
    pub fn above(&self, number: u32) -> Vec<u32> {
        let parent = |&at: &u32| Some(self.parents[at as usize]).filter(|&above| above != NONE);
        let mut path: Vec<u32> = std::iter::successors(parent(&number), parent).collect();
        path.reverse();
        path
    }
}

/// This many keys below 2^53, which are whole numbers for all who read them.
pub fn drawn(count: u64, seed: u64) -> Vec<u64> {
    (0..count).map(|number| mixed(mixed(seed).wrapping_add(number)) >> 11).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by walking down from the root.
    fn inserted(keys: &[u64]) -> Vec<u32> {
        let mut children = vec![[NONE; 2]; keys.len()];
        let mut parents = vec![NONE; keys.len()];
        for number in 1..keys.len() {
            let mut at = 0;
            loop {
                let child = &mut children[at][usize::from(keys[number] >= keys[at])];
                if *child == NONE {
                    (*child, parents[number]) = (number as u32, at as u32);
                    break;
                }
                at = *child as usize;
            }
        }
        parents
    }

    #[test]
    fn a_tree_is_the_one_of_insertions_one_after_another() {
        for keys in [vec![5, 2, 8, 2, 9, 7, 2], vec![1, 2, 3, 4], vec![4, 3, 2, 1], vec![7], drawn(500, 3)] {
            assert_eq!(Tree::of(keys.clone()).parents, inserted(&keys), "{keys:?}");
        }
        let many = drawn(500, 3).into_iter().map(|key| key % 50).collect::<Vec<_>>();
        assert_eq!(Tree::of(many.clone()).parents, inserted(&many), "with equal keys");
        assert_eq!(Tree::of(vec![5, 2, 8, 3, 4]).above(4), [0, 1, 3]);
    }
}
