//! Edges of a graph, drawn or read, and how they become compressed rows.

use octavo_registry::OptionError;

use crate::graphs::graph::Graph;
use crate::graphs::rmat::Rmat;

/// Arcs that rows can have: their offsets have 32 bits.
pub const MOST_ARCS: u64 = u32::MAX as u64;

/// All edges of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Edges {
    /// Vertices.
    pub vertices: u32,
    /// Whether edges have a direction; otherwise each leads both ways.
    pub directed: bool,
    /// The edges.
    pub list: List,
    /// What a file says that each of them weighs; empty where it says nothing.
    pub weights: Weights,
}

/// Weights by the ends of edges; where there is no direction, the smaller end comes first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    directed: bool,
    sorted: Vec<(u32, u32, f32)>,
}

impl Weights {
    /// The weight of each edge; of several between the same ends, the least.
    #[must_use]
    pub fn of(directed: bool, edges: &[(u32, u32)], values: &[f64]) -> Self {
        let mut found = Self { directed, sorted: Vec::new() };
        let sorted = edges.iter().zip(values).map(|(&(from, to), &value)| {
            let (from, to) = found.ends(from, to);
            (from, to, value as f32)
        });
        let mut sorted: Vec<_> = sorted.collect();
        sorted.sort_unstable_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)).then(one.2.total_cmp(&other.2)));
        sorted.dedup_by_key(|(from, to, _)| (*from, *to));
        found.sorted = sorted;
        found
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The weight of the edge from one vertex to another, if there is one.
    #[must_use]
    pub fn between(&self, from: u32, to: u32) -> Option<f32> {
        let ends = self.ends(from, to);
        let at = self.sorted.binary_search_by_key(&ends, |(from, to, _)| (*from, *to)).ok()?;
        Some(self.sorted[at].2)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = f32> + '_ {
        self.sorted.iter().map(|(_, _, weight)| *weight)
    }

    fn ends(&self, from: u32, to: u32) -> (u32, u32) {
        if self.directed { (from, to) } else { (from.min(to), from.max(to)) }
    }
}

/// Where edges come from.
#[derive(Clone, Debug, PartialEq)]
pub enum List {
    /// They are drawn again whenever they are needed, so that they take no memory: graphs whose vertices are numbered
    /// one after another, with no edge between them.
    Drawn(Vec<Rmat>),
    /// They are here.
    Here(Vec<(u32, u32)>),
}

/// The content of a vertex's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Where its edges lead.
    Out,
    /// Where edges come from that lead to it.
    In,
    /// Both: all its neighbours.
    Both,
}

impl Edges {
    /// How many edges, as [`Self::directed`] counts them.
    #[must_use]
    pub fn count(&self) -> u64 {
        match &self.list {
            List::Drawn(parts) => parts.iter().map(|part| part.edges).sum(),
            List::Here(edges) => edges.len() as u64,
        }
    }

    /// Entries of all rows together.
    #[must_use]
    pub fn arcs(&self, rows: Rows) -> u64 {
        if !self.directed || rows == Rows::Both { 2 * self.count() } else { self.count() }
    }

    /// Whether the entries of all rows can be numbered.
    ///
    /// # Errors
    /// Names the graph.
    pub fn few_enough(&self, rows: Rows) -> Result<(), OptionError> {
        match self.arcs(rows) {
            ..=MOST_ARCS => Ok(()),
            arcs => {
                let message = format!("expected at most 2^32 arcs, found {arcs}; a smaller scale has fewer");
                Err(OptionError::new("graph", message))
            }
        }
    }

    /// Compressed rows, each in ascending order. Without a direction, all rows hold both ends.
    #[must_use]
    pub fn rows(&self, rows: Rows) -> Graph {
        let rows = if self.directed { rows } else { Rows::Both };
        let each = |put: &mut dyn FnMut(u32, u32)| {
            self.each(|from, to| {
                if rows != Rows::In {
                    put(from, to);
                }
                if rows != Rows::Out {
                    put(to, from);
                }
            });
        };
        Graph::of_arcs(self.vertices, each)
    }

    fn each(&self, mut found: impl FnMut(u32, u32)) {
        match &self.list {
            List::Drawn(parts) => {
                let mut first = 0;
                for part in parts {
                    part.each(|from, to| found(first + from, first + to));
                    first += part.vertices;
                }
            }
            List::Here(edges) => edges.iter().for_each(|&(from, to)| found(from, to)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_belong_to_edges_and_the_least_of_several_counts() {
        let edges = [(0, 2), (2, 0), (2, 1), (2, 1)];
        let directed = Weights::of(true, &edges, &[5.0, 4.0, 7.0, 6.5]);
        assert_eq!(
            [(0, 2), (2, 0), (2, 1), (1, 2)].map(|(from, to)| directed.between(from, to)),
            [Some(5.0), Some(4.0), Some(6.5), None]
        );
        let both = Weights::of(false, &edges, &[5.0, 4.0, 7.0, 6.5]);
        assert_eq!([(0, 2), (1, 2)].map(|(from, to)| both.between(from, to)), [Some(4.0), Some(6.5)]);
    }

    #[test]
    fn rows_hold_what_they_are_asked_for() {
        let list = || List::Here(vec![(0, 2), (2, 1), (0, 1)]);
        let edges = |directed| Edges { vertices: 3, directed, list: list(), weights: Weights::default() };
        let rows = |directed, rows| {
            let Graph { offsets, edges } = edges(directed).rows(rows);
            (offsets, edges)
        };
        assert_eq!(rows(true, Rows::Out), (vec![0, 2, 2, 3], vec![1, 2, 1]));
        assert_eq!(rows(true, Rows::In), (vec![0, 0, 2, 3], vec![0, 2, 0]));
        assert_eq!(rows(true, Rows::Both), (vec![0, 2, 4, 6], vec![1, 2, 0, 2, 0, 1]));
        assert_eq!(rows(false, Rows::In), rows(true, Rows::Both));
    }
}
