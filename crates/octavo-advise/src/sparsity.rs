//! σ of graph programs, estimated from the structure of their input.
//!
//! A traversal touches the data of the vertices that it reaches. Their number follows from the degrees alone if edges
//! are assumed to lead to random vertices (the configuration model). An edge is followed with probability `x = Σ
//! out(v)·(1 − (1 − x)^in(v)) / edges`, and a vertex is reached with probability `1 − (1 − x)^in(v)`. The largest such
//! x belongs to a traversal that does not die out at once. A page is touched if one of its vertices is: σ is the mean
//! over pages of `1 − Π(1 − p)` over the vertices that have something there.

use std::ops::Range;

use octavo_units::Bytes;
use thiserror::Error;

use crate::Sparsity;

/// Where the iteration ends: the change of x, or this number of rounds; both are our choice.
const CLOSE: f64 = 1e-12;
const MOST_ROUNDS: u32 = 10_000;

/// A graph in compressed sparse rows.
#[derive(Clone, Copy, Debug)]
pub struct Csr<'a> {
    /// First edge of each vertex, and the number of edges at the end.
    offsets: &'a [u64],
    /// Where each edge leads.
    targets: &'a [u32],
}

/// Rows that are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BadGraph {
    /// Too few offsets.
    #[error("row offsets: expected one for each vertex and one more, found {0}")]
    Empty(usize),
    /// Offsets have to ascend from 0.
    #[error("row offsets: expected them to ascend from 0, found {found} at {at}")]
    Offsets {
        /// Which.
        at: usize,
        /// The offset.
        found: u64,
    },
    /// The last offset is the number of edges.
    #[error("row offsets: expected {edges} at the end, the number of edges, found {found}")]
    End {
        /// Edges.
        edges: usize,
        /// The last offset.
        found: u64,
    },
    /// An edge leads nowhere.
    #[error("edge {at}: expected a vertex below {vertices}, found {found}")]
    Target {
        /// Which.
        at: usize,
        /// Vertices.
        vertices: usize,
        /// Where it leads.
        found: u32,
    },
    /// There is no such vertex.
    #[error("source: expected a vertex below {vertices}, found {found}")]
    Source {
        /// Vertices.
        vertices: usize,
        /// The vertex.
        found: usize,
    },
    /// Something has no bytes.
    #[error("expected elements and pages above 0B, found {0}")]
    Size(Bytes),
}

/// The probability that each vertex is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach(Vec<f64>);

impl<'a> Csr<'a> {
    /// A graph of these rows.
    ///
    /// # Errors
    /// They are no graph.
    pub fn new(offsets: &'a [u64], targets: &'a [u32]) -> Result<Self, BadGraph> {
        let [first, .., last] = offsets else { return Err(BadGraph::Empty(offsets.len())) };
        if *first != 0 {
            return Err(BadGraph::Offsets { at: 0, found: *first });
        }
        if let Some(at) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(BadGraph::Offsets { at: at + 1, found: offsets[at + 1] });
        }
        if *last != targets.len() as u64 {
            return Err(BadGraph::End { edges: targets.len(), found: *last });
        }
        let vertices = offsets.len() - 1;
        match targets.iter().position(|target| *target as usize >= vertices) {
            Some(at) => Err(BadGraph::Target { at, vertices, found: targets[at] }),
            None => Ok(Self { offsets, targets }),
        }
    }

    /// Vertices.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The part that a traversal from a random vertex reaches unless it dies out, from degrees alone: one pass over the
    /// edges, and a few over the vertices.
    #[must_use]
    pub fn estimated_reach(&self) -> Reach {
        let mut arriving = vec![0u32; self.vertices()];
        self.targets.iter().for_each(|target| arriving[*target as usize] += 1);
        let leaving = |vertex: usize| (self.offsets[vertex + 1] - self.offsets[vertex]) as f64;
        let reached = |followed: f64, arriving: u32| 1.0 - (1.0 - followed).powf(f64::from(arriving));
        let mut followed = 1.0;
        for _ in 0..MOST_ROUNDS {
            let sum: f64 =
                arriving.iter().enumerate().map(|(vertex, count)| leaving(vertex) * reached(followed, *count)).sum();
            let next = sum / (self.targets.len() as f64).max(1.0);
            let change = followed - next;
            followed = next;
            if change < CLOSE {
                break;
            }
        }
        Reach(arriving.into_iter().map(|count| reached(followed, count)).collect())
    }

    /// The part that a traversal from `source` reaches, found by running it.
    ///
    /// # Errors
    /// There is no such vertex.
    pub fn reach_from(&self, source: usize) -> Result<Reach, BadGraph> {
        let vertices = self.vertices();
        if source >= vertices {
            return Err(BadGraph::Source { vertices, found: source });
        }
        let mut reached = vec![0.0; vertices];
        reached[source] = 1.0;
        let mut left = vec![source];
        while let Some(vertex) = left.pop() {
            for &target in &self.targets[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize] {
                if reached[target as usize] == 0.0 {
                    reached[target as usize] = 1.0;
                    left.push(target as usize);
                }
            }
        }
        Ok(Reach(reached))
    }

    /// σ, by pages, of an array with `element` bytes for each vertex, if only elements of reached vertices are touched.
    ///
    /// # Errors
    /// Elements or pages have no bytes.
    pub fn sigma_of_vertices(&self, reach: &Reach, element: Bytes, page: Bytes) -> Result<Sparsity, BadGraph> {
        let ranges = (0..self.vertices() as u64).map(|vertex| vertex..vertex + 1);
        touched(ranges, reach, self.vertices() as u64, element, page)
    }

    /// σ, by pages, of an array with `element` bytes for each edge, of which those that leave reached vertices are
    /// touched.
    ///
    /// # Errors
    /// As above.
    pub fn sigma_of_edges(&self, reach: &Reach, element: Bytes, page: Bytes) -> Result<Sparsity, BadGraph> {
        let ranges = self.offsets.windows(2).map(|pair| pair[0]..pair[1]);
        touched(ranges, reach, self.targets.len() as u64, element, page)
    }
}

impl Reach {
    /// Vertices that are expected to be reached.
    #[must_use]
    pub fn vertices(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// The share of pages that are touched, if the elements of each vertex are with its probability.
fn touched(
    elements: impl Iterator<Item = Range<u64>>,
    reach: &Reach,
    count: u64,
    element: Bytes,
    page: Bytes,
) -> Result<Sparsity, BadGraph> {
    if element.0 == 0 || page.0 == 0 {
        return Err(BadGraph::Size(if element.0 == 0 { element } else { page }));
    }
    let pages = (count * element.0).div_ceil(page.0).max(1);
    let mut untouched = vec![1.0; pages as usize];
    for (range, reached) in elements.zip(&reach.0).filter(|(range, _)| !range.is_empty()) {
        let bytes = range.start * element.0..range.end * element.0;
        for page in bytes.start / page.0..bytes.end.div_ceil(page.0) {
            untouched[page as usize] *= 1.0 - reached;
        }
    }
    let share = untouched.iter().map(|left| 1.0 - left).sum::<f64>() / pages as f64;
    // A traversal touches its source at least, and rounding may pass the whole.
    Ok(Sparsity::new(share.clamp(1.0 / pages as f64, 1.0)).expect("clamped to what a share can be"))
}
