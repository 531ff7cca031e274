//! R-MAT graphs: each edge falls through quadrants of the adjacency matrix, so that degrees are as skewed as those of social
//! graphs and the web (Chakrabarti, Zhan, Faloutsos, SDM 2004; Kronecker graphs of Graph500).

use crate::random::{mixed, permuted};

/// Bits of randomness a level takes.
const LEVEL_BITS: u32 = 16;

/// How a graph is drawn. The same values give the same edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Rmat {
    /// Vertices, at least 2. Edges that would lead beyond are drawn again.
    pub vertices: u32,
    /// Edges; the same two vertices can have several, none leads from a vertex to itself.
    pub edges: u64,
    /// Shares of the quadrants upper left, upper right and lower left; the rest is the lower right's.
    pub quadrants: [f64; 3],
    /// Whether numbers of vertices say nothing of their degrees. Otherwise low numbers have most edges, and near numbers
    /// have common neighbours.
    pub shuffled: bool,
    /// What all is drawn from.
    pub seed: u64,
}

impl Rmat {
    /// Calls with both ends of each edge.
    pub fn each(&self, mut found: impl FnMut(u32, u32)) {
        let draw = Draw::new(self);
        for edge in 0..self.edges {
            let (from, to) = draw.edge(edge);
            found(self.name(from), self.name(to));
        }
    }

    /// The number that a vertex gets.
    fn name(&self, vertex: u32) -> u32 {
        if !self.shuffled {
            return vertex;
        }
        let places = u64::from(self.vertices).next_power_of_two();
        let mut place = u64::from(vertex);
        loop {
            place = permuted(place, places, self.seed);
            if place < u64::from(self.vertices) {
                return place as u32;
            }
        }
    }
}

/// What stays the same from edge to edge.
struct Draw<'a> {
    rmat: &'a Rmat,
    levels: u32,
    /// Below these a draw falls into the first, the first two, the first three quadrants.
    bounds: [u64; 3],
}

impl<'a> Draw<'a> {
    fn new(rmat: &'a Rmat) -> Self {
        let [a, b, c] = rmat.quadrants;
        let bounds = [a, a + b, a + b + c].map(|share| (share * f64::from(1u32 << LEVEL_BITS)).round() as u64);
        Self { rmat, levels: rmat.vertices.next_power_of_two().trailing_zeros(), bounds }
    }

    fn edge(&self, number: u64) -> (u32, u32) {
        let mut state = mixed(self.rmat.seed ^ mixed(number));
        loop {
            let (from, to) = self.fall(&mut state);
            if from != to && from.max(to) < self.rmat.vertices {
                return (from, to);
            }
        }
    }

    fn fall(&self, state: &mut u64) -> (u32, u32) {
        let (mut from, mut to, mut bits) = (0, 0, 0);
        for level in 0..self.levels {
            if level % (64 / LEVEL_BITS) == 0 {
                *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                bits = mixed(*state);
            }
            let drawn = bits & ((1 << LEVEL_BITS) - 1);
            bits >>= LEVEL_BITS;
            let lower = u32::from(drawn >= self.bounds[1]);
            let right = u32::from(drawn >= self.bounds[0]) ^ lower ^ u32::from(drawn >= self.bounds[2]);
            (from, to) = (from << 1 | lower, to << 1 | right);
        }
        (from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(rmat: &Rmat) -> Vec<(u32, u32)> {
        let mut edges = Vec::new();
        rmat.each(|from, to| edges.push((from, to)));
        edges
    }

    const SKEWED: Rmat =
        Rmat { vertices: 1000, edges: 50_000, quadrants: [0.57, 0.19, 0.19], shuffled: false, seed: 7 };

    #[test]
    fn edges_are_those_of_the_seed_and_inside() {
        let edges = drawn(&SKEWED);
        assert_eq!(edges.len(), 50_000);
        assert!(edges.iter().all(|&(from, to)| from != to && from < 1000 && to < 1000));
        assert_eq!(drawn(&SKEWED), edges);
        assert_ne!(drawn(&Rmat { seed: 8, ..SKEWED }), edges);
    }

    /// Of a power of two of vertices, a source is in the upper half with a + b at each level: both of the first two levels are
    /// upper for (a + b)^2, but for those drawn again.
    #[test]
    fn quadrants_get_their_shares() {
        let rmat = Rmat { vertices: 1 << 16, edges: 200_000, quadrants: [0.5, 0.3, 0.15], shuffled: false, seed: 1 };
        let edges = drawn(&rmat);
        let share = |lower: bool, right: bool| {
            let half = 1 << 15;
            let inside = |&&(from, to): &&(u32, u32)| (from >= half, to >= half) == (lower, right);
            edges.iter().filter(inside).count() as f64 / 2e5
        };
        for (found, expected) in [
            (share(false, false), 0.5),
            (share(false, true), 0.3),
            (share(true, false), 0.15),
            (share(true, true), 0.05),
        ] {
            assert!((found - expected).abs() < 0.005, "{found} for {expected}");
        }
    }

    #[test]
    fn shuffling_renames_vertices_and_nothing_else() {
        let count = |edges: &[(u32, u32)]| {
            let mut degrees = vec![0u32; 1000];
            edges.iter().for_each(|&(from, _)| degrees[from as usize] += 1);
            degrees
        };
        let (plain, shuffled) = (count(&drawn(&SKEWED)), count(&drawn(&Rmat { shuffled: true, ..SKEWED })));
        assert_ne!(plain, shuffled);
        let sorted = |mut degrees: Vec<u32>| {
            degrees.sort_unstable();
            degrees
        };
        assert_eq!(sorted(plain), sorted(shuffled));
    }
}
