//! The forest, round by round.

use crate::graphs::graph::Graph;
use crate::random::mixed;

/// In place of a label: a tree without an edge to another one.
pub const NONE: u32 = u32::MAX;

/// The events of a round.
pub struct Round {
    /// The root of each vertex's tree, before.
    pub labels: Vec<u32>,
    /// For each root, the weight of its lightest edge to another tree and that tree's label, [`NONE`] if it has none.
    pub best: Vec<(u32, u32)>,
    /// Labels once trees are hung on others, before they are flat.
    pub hooked: Vec<u32>,
}

/// A minimum spanning forest.
pub struct Forest {
    /// The last one finds no edge between trees.
    pub rounds: Vec<Round>,
    /// For each vertex, the weight of the edge that attached its tree when it was the root; 0 if it never was.
    pub chosen: Vec<u32>,
}

impl Forest {
    /// For a graph whose edges have different weights above 0, the same in both directions.
    pub fn of(graph: &Graph, weights: &[u32]) -> Self {
        let mut labels: Vec<u32> = (0..graph.nodes()).collect();
        let mut found = Self { rounds: Vec::new(), chosen: vec![0; labels.len()] };
        loop {
            let best = lightest(graph, weights, &labels);
            let hooked = hook(&labels, &best);
            let mut is_over = true;
            for (vertex, &(weight, _)) in
                best.iter().enumerate().filter(|&(vertex, _)| hooked[vertex] != labels[vertex])
            {
                found.chosen[vertex] = weight;
                is_over = false;
            }
            let root = |vertex: &u32| {
                let mut at = *vertex;
                while hooked[at as usize] != at {
                    at = hooked[at as usize];
                }
                at
            };
            let flat = hooked.iter().map(root).collect();
            found.rounds.push(Round { labels: std::mem::replace(&mut labels, flat), best, hooked });
            if is_over {
                return found;
            }
        }
    }
}

/// The lightest edge of each tree to another.
fn lightest(graph: &Graph, weights: &[u32], labels: &[u32]) -> Vec<(u32, u32)> {
    let mut best = vec![(u32::MAX, NONE); labels.len()];
    for vertex in 0..graph.nodes() {
        let own = labels[vertex as usize];
        for edge in graph.row(vertex) {
            let other = labels[graph.edges[edge as usize] as usize];
            if other != own {
                let least = &mut best[own as usize];
                *least = (*least).min((weights[edge as usize], other));
            }
        }
    }
    best
}

/// Roots hang themselves on the trees that their best edges lead to; of two that chose each other, the lower stays.
fn hook(labels: &[u32], best: &[(u32, u32)]) -> Vec<u32> {
    let hang = |(vertex, &label): (usize, &u32)| {
        let other = best[vertex].1;
        let stays = other == NONE || best[other as usize].1 == label && label < other;
        if label != vertex as u32 || stays { label } else { other }
    };
    labels.iter().enumerate().map(hang).collect()
}

/// The weight of each arc: the rank, from 1, of its two vertices among all pairs that have an edge, in an order drawn
/// from `seed`. Several edges between two vertices have the same.
pub fn ranks(graph: &Graph, seed: u64) -> Vec<u32> {
    let both = |one: u32, other: u32| u64::from(one.min(other)) << 32 | u64::from(one.max(other));
    let drawn = |pair: u64| (mixed(mixed(pair) ^ seed), pair);
    let pairs = |vertex: u32| graph.targets(vertex).iter().map(move |&other| both(vertex, other));
    let mut order: Vec<(u64, u64)> = (0..graph.nodes())
        .flat_map(|vertex| pairs(vertex).filter(move |pair| *pair >> 32 == u64::from(vertex)).map(drawn))
        .collect();
    order.sort_unstable();
    order.dedup();
    let rank = |pair| order.partition_point(|found| *found < drawn(pair)) as u32 + 1;
    (0..graph.nodes()).flat_map(pairs).map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_has_a_rank_of_its_own_the_same_both_ways() {
        let graph = Graph::from_pairs(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 1)]);
        let weights = ranks(&graph, 5);
        let of = |from: u32, to: u32| {
            let edge = graph.row(from).find(|edge| graph.edges[*edge as usize] == to).expect("an edge");
            weights[edge as usize]
        };
        let mut all = [(0, 1), (1, 2), (2, 3), (3, 0)].map(|(from, to)| {
            assert_eq!(of(from, to), of(to, from));
            of(from, to)
        });
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3, 4]);
        assert_ne!(weights, ranks(&graph, 6));
    }

    /// Edges 0-1: 1, 1-2: 3, 2-3: 2, and 4 alone: 0 and 1, and 2 and 3, choose each other; then both pairs choose 1-2.
    #[test]
    fn trees_join_by_their_lightest_edges() {
        let path = Graph::from_pairs(5, &[(0, 1), (1, 2), (2, 3)]);
        let weights = [1, 1, 3, 3, 2, 2];
        let forest = Forest::of(&path, &weights);
        assert_eq!(forest.rounds.len(), 3);
        assert_eq!(forest.rounds[0].hooked, [0, 0, 2, 2, 4]);
        assert_eq!(forest.rounds[1].best[0], (3, 2));
        assert_eq!(forest.rounds[2].labels, [0, 0, 0, 0, 4]);
        assert_eq!(forest.chosen, [0, 1, 3, 2, 0]);
    }
}
