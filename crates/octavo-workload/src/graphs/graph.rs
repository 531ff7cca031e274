//! The graph that is searched: how it is generated and stored.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

use crate::random;

/// A graph in compressed sparse rows: the edges of node `v` lead to `edges[offsets[v]..offsets[v + 1]]`. Every edge is
/// stored in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// First edge of each node, and the number of edges at the end; one more entry than nodes.
    pub offsets: Vec<u32>,
    /// Target nodes.
    pub edges: Vec<u32>,
}

impl Graph {
    /// Connected: a random recursive tree (node `i` hangs on a node before it) and random further edges up to an
    /// average of `degree` edges a node, as MGPUSim's BFS generates. At least two nodes; `degree` at least 2.
    #[must_use]
    pub fn random_tree(nodes: u32, degree: u32, seed: u64) -> Self {
        let mut random = random::generator(seed, 0);
        let mut pairs: Vec<_> = (1..nodes).map(|node| (below(&mut random, node), node)).collect();
        add_random_edges(&mut pairs, nodes, degree, &mut random);
        Self::from_pairs(nodes, &pairs)
    }

    /// Random edges only, `degree` a node on average; nodes may be out of reach. At least two nodes.
    #[must_use]
    pub fn uniform(nodes: u32, degree: u32, seed: u64) -> Self {
        let mut pairs = Vec::new();
        add_random_edges(&mut pairs, nodes, degree, &mut random::generator(seed, 0));
        Self::from_pairs(nodes, &pairs)
    }

    /// The tree in which node `i` has children `i * ways + 1` to `i * ways + ways`, as SHOC generates: children first,
    /// then the parent. `ways` at least 1.
    #[must_use]
    pub fn k_way(nodes: u32, ways: u32) -> Self {
        let mut offsets = vec![0];
        let mut edges = Vec::with_capacity(2 * nodes as usize);
        for node in 0..u64::from(nodes) {
            let first = node * u64::from(ways) + 1;
            edges.extend(
                (first..first + u64::from(ways)).take_while(|&child| child < u64::from(nodes)).map(|c| c as u32),
            );
            edges.extend(node.checked_sub(1).map(|before| (before / u64::from(ways)) as u32));
            offsets.push(edges.len() as u32);
        }
        Self { offsets, edges }
    }

    /// Rows of arcs, each row in ascending order. `each` is called twice, and hands out the same arcs (from, to) both
    /// times: fewer than 2^32 of nodes below `nodes`.
    #[must_use]
    pub fn of_arcs(nodes: u32, each: impl Fn(&mut dyn FnMut(u32, u32))) -> Self {
        let mut offsets = vec![0u32; nodes as usize + 1];
        each(&mut |from, _| offsets[from as usize + 1] += 1);
        for node in 0..nodes as usize {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut edges = vec![0; offsets[nodes as usize] as usize];
        each(&mut |from, to| {
            let slot = &mut next[from as usize];
            edges[*slot as usize] = to;
            *slot += 1;
        });
        drop(next);
        offsets.windows(2).for_each(|row| edges[row[0] as usize..row[1] as usize].sort_unstable());
        Self { offsets, edges }
    }

    /// The edges of a node, by their number.
    #[must_use]
    pub fn row(&self, node: u32) -> std::ops::Range<u32> {
        self.offsets[node as usize]..self.offsets[node as usize + 1]
    }

    /// The targets of a node's edges.
    #[must_use]
    pub fn targets(&self, node: u32) -> &[u32] {
        let row = self.row(node);
        &self.edges[row.start as usize..row.end as usize]
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// Both directions of each pair of nodes below `nodes`, each node's edges in the order of the pairs.
    #[must_use]
    pub fn from_pairs(nodes: u32, pairs: &[(u32, u32)]) -> Self {
        let mut offsets = vec![0u32; nodes as usize + 1];
        for &(a, b) in pairs {
            offsets[a as usize + 1] += 1;
            offsets[b as usize + 1] += 1;
        }
        for node in 0..nodes as usize {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut edges = vec![0; 2 * pairs.len()];
        let mut put = |from: u32, to: u32| {
            let slot = &mut next[from as usize];
            edges[*slot as usize] = to;
            *slot += 1;
        };
        for &(a, b) in pairs {
            put(a, b);
            put(b, a);
        }
        Self { offsets, edges }
    }
}

/// Adds edges between random different nodes until there are `degree` a node, counted in both directions.
fn add_random_edges(pairs: &mut Vec<(u32, u32)>, nodes: u32, degree: u32, random: &mut ChaCha8Rng) {
    let wanted = (u64::from(nodes) * u64::from(degree) / 2) as usize;
    pairs.reserve(wanted.saturating_sub(pairs.len()));
    while pairs.len() < wanted {
        let (a, b) = (below(random, nodes), below(random, nodes));
        if a != b {
            pairs.push((a, b));
        }
    }
}

/// A random number below `bound`; its bias (less than `bound` / 2^32) is far below what a search could show.
fn below(random: &mut ChaCha8Rng, bound: u32) -> u32 {
    ((u64::from(random.next_u32()) * u64::from(bound)) >> 32) as u32
}
