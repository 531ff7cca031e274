//! The search itself, run once: which launch reaches each node, and which edges write a level.
//!
//! The kernel races: within one launch several edges may lead to the same unreached node, and whether a later one
//! still finds it unreached depends on timing. Here wavefronts are taken to run one after another in the order of
//! their ids, as in an emulator, and the lanes of one instruction at once. So the first wavefront to see a node writes
//! its level; two lanes of one instruction that see the same unreached node both write it, to the same line.

use std::ops::Range;

use super::Graph;

/// Lanes that expand one node together, and nodes that they expand one after another (`W_SZ`, `CHUNK_SZ`).
pub(super) const TEAM: u32 = 32;
/// Teams of a wavefront.
const TEAMS: usize = 2;
/// Nodes of a wavefront.
pub(super) const NODES: u32 = TEAM * TEAMS as u32;

/// Level of a node that the search has not reached.
pub const UNREACHED: u32 = u32::MAX;

/// The result of a search from node 0.
pub(super) struct Search {
    /// Distance of each node from node 0, [`UNREACHED`] if there is no path.
    pub levels: Vec<u32>,
    /// Launches until one reaches no new node: one more than the highest level.
    pub launches: u32,
    /// One bit for each edge: whether it writes its target's level when its source is expanded.
    writes: Vec<u64>,
}

impl Search {
    /// Searches `graph`.
    pub fn run(graph: &Graph) -> Self {
        let mut levels = vec![UNREACHED; graph.nodes() as usize];
        levels[0] = 0;
        let mut search = Self { levels, launches: 0, writes: vec![0; graph.edges.len().div_ceil(64)] };
        while search.expand_level(graph) {}
        search
    }

    /// Whether edge `edge` writes its target's level.
    #[inline]
    pub fn writes(&self, edge: u32) -> bool {
        self.writes[edge as usize / 64] >> (edge % 64) & 1 != 0
    }

    /// The nodes that a wavefront whose first node is `first` expands in its `step`-th turn of launch `level`.
    #[inline]
    pub fn frontier(&self, level: u32, first: u32, step: u32) -> [Option<u32>; TEAMS] {
        let on_level = |node: u32| (self.levels.get(node as usize) == Some(&level)).then_some(node);
        [on_level(first + step), on_level(first + TEAM + step)]
    }

    /// One launch; false when it reached nothing.
    fn expand_level(&mut self, graph: &Graph) -> bool {
        let mut reached = false;
        for first in (0..graph.nodes()).step_by(NODES as usize) {
            for step in 0..TEAM {
                let frontier = self.frontier(self.launches, first, step);
                let mut trip = 0;
                while let Some(edges) = edges_of_trip(graph, frontier, trip) {
                    reached |= self.expand(graph, edges);
                    trip += 1;
                }
            }
        }
        self.launches += 1;
        reached
    }

    /// One instruction's worth of edges: all lanes look before any writes.
    fn expand(&mut self, graph: &Graph, edges: [Range<u32>; TEAMS]) -> bool {
        let mut reached = false;
        for edge in edges.iter().cloned().flatten() {
            if self.levels[graph.edges[edge as usize] as usize] == UNREACHED {
                self.writes[edge as usize / 64] |= 1 << (edge % 64);
                reached = true;
            }
        }
        for edge in edges.into_iter().flatten().filter(|_| reached) {
            if self.writes(edge) {
                self.levels[graph.edges[edge as usize] as usize] = self.launches + 1;
            }
        }
        reached
    }
}

/// The edges that the teams' lanes follow in the `trip`-th turn of the loop over neighbours, nothing when all are done.
#[inline]
pub(super) fn edges_of_trip(graph: &Graph, frontier: [Option<u32>; TEAMS], trip: u32) -> Option<[Range<u32>; TEAMS]> {
    let of_team = |node: Option<u32>| {
        let Some(node) = node else { return 0..0 };
        let (start, end) = (graph.offsets[node as usize], graph.offsets[node as usize + 1]);
        let first = end.min(start + trip * TEAM);
        first..end.min(first + TEAM)
    };
    // Spelt out: mapping the array is not inlined, and this is on the hot path.
    let edges = [of_team(frontier[0]), of_team(frontier[1])];
    (!edges[0].is_empty() || !edges[1].is_empty()).then_some(edges)
}
