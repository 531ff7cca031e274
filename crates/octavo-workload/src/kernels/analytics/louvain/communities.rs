//! Communities by moving vertices, level after level.

use std::ops::Range;

use crate::graphs::graph::Graph;

/// Consecutive rounds that gain less than the threshold before a level ends: one in each direction.
const IDLE: u32 = 2;
/// A gain below this is a rounding error.
const LEAST: f64 = 1e-9;

/// One level: a graph with weights, and the moves of its vertices.
pub struct Level {
    pub rows: Graph,
    /// Of each arc.
    pub weights: Vec<f64>,
    pub rounds: Vec<Round>,
    /// The community of each vertex in the end, numbered in ascending order.
    pub found: Vec<u32>,
}

/// Communities of a level's vertices before and behind a round.
pub struct Round {
    pub before: Vec<u32>,
    pub after: Vec<u32>,
}

/// Levels until one gains no more than the threshold, at most this many.
pub fn levels(graph: Graph, threshold: f64, most: u32) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let (mut rows, mut weights) = (graph.clone(), vec![1.0; graph.edges.len()]);
    let alone: Vec<u32> = (0..rows.nodes()).collect();
    let mut best = modularity(&rows, &weights, &alone);
    loop {
        let (level, gained) = level(rows, weights, threshold);
        let is_over = gained <= best + threshold || levels.len() as u32 + 1 == most;
        best = gained;
        levels.push(level);
        if is_over {
            return levels;
        }
        (rows, weights) = levels[levels.len() - 1].contracted();
    }
}

/// The community of each vertex of the first level.
pub fn labels(levels: &[Level]) -> Vec<u32> {
    let mut levels = levels.iter();
    let first = levels.next().map_or_else(Vec::new, |level| level.found.clone());
    levels.fold(first, |labels, level| labels.iter().map(|&label| level.found[label as usize]).collect())
}

/// The share of arcs inside communities, minus the expected share by chance (Newman and Girvan, 2004).
pub fn modularity(rows: &Graph, weights: &[f64], communities: &[u32]) -> f64 {
    let all: f64 = weights.iter().sum();
    let (mut inside, mut totals) = (0.0, vec![0.0; communities.len()]);
    for vertex in 0..rows.nodes() {
        let own = communities[vertex as usize];
        for edge in rows.row(vertex) {
            let weight = weights[edge as usize];
            totals[own as usize] += weight;
            inside += if communities[rows.edges[edge as usize] as usize] == own { weight } else { 0.0 };
        }
    }
    let chance: f64 = totals.iter().map(|total: &f64| (total / all).powi(2)).sum();
    if all > 0.0 { inside / all - chance } else { 0.0 }
}

/// Rounds until vertices gain nothing in either direction, and the modularity then.
fn level(rows: Graph, weights: Vec<f64>, threshold: f64) -> (Level, f64) {
    let mut now: Vec<u32> = (0..rows.nodes()).collect();
    let mut reached = modularity(&rows, &weights, &now);
    let (mut rounds, mut idle, mut up) = (Vec::new(), 0, true);
    while idle < IDLE {
        let after = round(&rows, &weights, &now, up);
        let gained = modularity(&rows, &weights, &after);
        idle = if gained > reached + threshold { 0 } else { idle + 1 };
        rounds.push(Round { before: now.clone(), after: after.clone() });
        // What all vertices do at once may be worse than what each of them meant to do.
        if gained > reached {
            (now, reached) = (after, gained);
        }
        up = !up;
    }
    (Level { rows, weights, rounds, found: numbered(&now) }, reached)
}

/// Each vertex moves to the best community around it of those with a higher number, or with a lower: so no two change
/// places for ever.
fn round(rows: &Graph, weights: &[f64], before: &[u32], up: bool) -> Vec<u32> {
    let of = |vertex: u32| rows.row(vertex).map(|edge| weights[edge as usize]).sum::<f64>();
    let degrees: Vec<f64> = (0..rows.nodes()).map(of).collect();
    let mut totals = vec![0.0; before.len()];
    before.iter().zip(&degrees).for_each(|(&community, degree)| totals[community as usize] += degree);
    let all: f64 = degrees.iter().sum();
    let best = |vertex: u32| {
        let (own, degree) = (before[vertex as usize], degrees[vertex as usize]);
        let around = around(rows, weights, before, vertex);
        let joined = around.iter().find(|(community, _)| *community == own).map_or(0.0, |(_, weight)| *weight);
        let gain = |community: u32, weight: f64| {
            weight - joined - degree * (totals[community as usize] - (totals[own as usize] - degree)) / all
        };
        let other = around.iter().filter(|(community, _)| if up { *community > own } else { *community < own });
        let (to, gained) = other.fold((own, LEAST), |(to, most), &(community, weight)| {
            let gained = gain(community, weight);
            if gained > most { (community, gained) } else { (to, most) }
        });
        if gained > LEAST { to } else { own }
    };
    (0..rows.nodes()).map(best).collect()
}

/// The communities of a vertex's neighbours, ascending, and the weight of its arcs to each; itself left out.
fn around(rows: &Graph, weights: &[f64], communities: &[u32], vertex: u32) -> Vec<(u32, f64)> {
    let others = rows.row(vertex).filter(|&edge| rows.edges[edge as usize] != vertex);
    let arc = |edge: u32| (communities[rows.edges[edge as usize] as usize], weights[edge as usize]);
    let mut arcs: Vec<(u32, f64)> = others.map(arc).collect();
    arcs.sort_unstable_by_key(|arc| arc.0);
    let joined = arcs.chunk_by(|one, next| one.0 == next.0);
    joined.map(|same| (same[0].0, same.iter().map(|arc| arc.1).sum())).collect()
}

/// The same communities, numbered from 0 in ascending order.
fn numbered(communities: &[u32]) -> Vec<u32> {
    let mut known = communities.to_vec();
    known.sort_unstable();
    known.dedup();
    communities.iter().map(|community| known.partition_point(|other| other < community) as u32).collect()
}

impl Round {
    /// Whether any of these vertices moves.
    pub fn moves_any(&self, vertices: &Range<u32>) -> bool {
        vertices.clone().any(|vertex| self.before[vertex as usize] != self.after[vertex as usize])
    }
}

impl Level {
    /// The graph of communities: an arc between any two has the weight of all between their vertices.
    fn contracted(&self) -> (Graph, Vec<f64>) {
        let of = |vertex: u32| self.found[vertex as usize];
        let arcs = (0..self.rows.nodes()).flat_map(|vertex| {
            self.rows.row(vertex).map(move |edge| {
                let edge = edge as usize;
                (of(vertex), of(self.rows.edges[edge]), self.weights[edge])
            })
        });
        let mut arcs: Vec<(u32, u32, f64)> = arcs.collect();
        arcs.sort_unstable_by_key(|&(from, to, _)| (from, to));
        let mut offsets = vec![0; self.found.iter().max().map_or(0, |last| *last as usize + 1) + 1];
        let (mut edges, mut weights) = (Vec::new(), Vec::new());
        for same in arcs.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1)) {
            offsets[same[0].0 as usize + 1] += 1;
            edges.push(same[0].1);
            weights.push(same.iter().map(|arc| arc.2).sum());
        }
        (1..offsets.len()).for_each(|row| offsets[row] += offsets[row - 1]);
        (Graph { offsets, edges }, weights)
    }

    /// The arc of the next level that one of this level becomes a part of.
    pub fn becomes(&self, next: &Graph, vertex: u32, edge: u32) -> u32 {
        let [from, to] = [vertex, self.rows.edges[edge as usize]].map(|end| self.found[end as usize]);
        next.row(from).start + next.targets(from).partition_point(|&other| other < to) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles with an edge between them.
    fn triangles() -> Graph {
        Graph::from_pairs(6, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)])
    }

    #[test]
    fn modularity_is_that_of_the_definition() {
        let (rows, weights) = (triangles(), vec![1.0; 14]);
        assert!((modularity(&rows, &weights, &[0, 0, 0, 1, 1, 1]) - (12.0 / 14.0 - 0.5)).abs() < 1e-12);
        assert_eq!(modularity(&rows, &weights, &[0; 6]), 0.0);
    }

    #[test]
    fn triangles_are_communities() {
        assert_eq!(labels(&levels(triangles(), 1e-7, 10)), [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn a_vertex_moves_to_where_modularity_is_most() {
        let (rows, weights) = (triangles(), vec![1.0; 14]);
        for before in [vec![0, 1, 2, 3, 4, 5], vec![0, 0, 2, 3, 3, 5], vec![1, 1, 1, 4, 4, 2]] {
            for up in [true, false] {
                let after = round(&rows, &weights, &before, up);
                for vertex in 0..6usize {
                    let with = |to: u32| {
                        let mut moved = before.clone();
                        moved[vertex] = to;
                        modularity(&rows, &weights, &moved)
                    };
                    let own = before[vertex];
                    let others = rows.targets(vertex as u32).iter().map(|&other| before[other as usize]);
                    let allowed = others.filter(|&to| if up { to > own } else { to < own });
                    let best = allowed.map(with).fold(with(own), f64::max);
                    assert!((with(after[vertex]) - best).abs() < 1e-9, "{before:?}, vertex {vertex}, up {up}");
                }
            }
        }
    }

    #[test]
    fn what_is_contracted_has_the_same_modularity() {
        let all = levels(triangles(), 1e-7, 10);
        let (rows, weights) = all[0].contracted();
        let alone: Vec<u32> = (0..rows.nodes()).collect();
        let before = modularity(&all[0].rows, &all[0].weights, &all[0].found);
        assert!((modularity(&rows, &weights, &alone) - before).abs() < 1e-12);
        for vertex in 0..6 {
            for edge in all[0].rows.row(vertex) {
                let arc = all[0].becomes(&rows, vertex, edge);
                assert_eq!(rows.edges[arc as usize], all[0].found[all[0].rows.edges[edge as usize] as usize]);
            }
        }
    }
}
