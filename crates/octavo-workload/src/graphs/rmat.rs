//! R-MAT graphs: each edge falls through quadrants of the adjacency matrix, so that degrees are as skewed as those of
//! social graphs and the web (Chakrabarti, Zhan, Faloutsos, SDM 2004; Kronecker graphs of Graph500).

use crate::random::{mixed, permuted};

/// Bits of randomness a level takes.
const LEVEL_BITS: u32 = 16;
/// Levels that one drawn word is for.
const LEVELS_AT_ONCE: u32 = u64::BITS / LEVEL_BITS;
/// A one in each half of a word.
const BOTH: u64 = 1 | 1 << u32::BITS;
/// Edges that are drawn before something is done with them: they stay in the first-level cache.
const AT_A_TIME: u64 = 2048;

/// How a graph is drawn. The same values give the same edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Rmat {
    /// Vertices, at least 2. Edges that would lead beyond are drawn again.
    pub vertices: u32,
    /// Edges; the same two vertices can have several, none leads from a vertex to itself.
    pub edges: u64,
    /// Shares of the quadrants upper left, upper right and lower left; the rest is the lower right's.
    pub quadrants: [f64; 3],
    /// Whether numbers of vertices say nothing of their degrees. Otherwise low numbers have most edges, and near
    /// numbers have common neighbours.
    pub shuffled: bool,
    /// The seed of all draws.
    pub seed: u64,
}

impl Rmat {
    /// Calls with both ends of each edge.
    ///
    /// Edges are drawn in batches: their processing mostly waits for memory, and waits of neighbours overlap if nothing
    /// is drawn between them.
    pub fn each(&self, mut found: impl FnMut(u32, u32)) {
        let draw = Draw::new(self);
        let mut drawn = Vec::with_capacity(AT_A_TIME as usize);
        for first in (0..self.edges).step_by(AT_A_TIME as usize) {
            let ends = |number| {
                let (from, to) = draw.edge(number);
                (self.name(from), self.name(to))
            };
            drawn.extend((first..self.edges.min(first + AT_A_TIME)).map(ends));
            drawn.drain(..).for_each(|(from, to)| found(from, to));
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

/// Values that are the same for all edges.
struct Draw<'a> {
    rmat: &'a Rmat,
    levels: u32,
    /// Added to a draw, these carry where it does not fall into the first, the first two, the first three quadrants;
    /// for two draws at once, one in each half.
    carries: [u64; 3],
}

impl<'a> Draw<'a> {
    fn new(rmat: &'a Rmat) -> Self {
        let [a, b, c] = rmat.quadrants;
        let carries = [a, a + b, a + b + c].map(|share| {
            let bound = (share * f64::from(1u32 << LEVEL_BITS)).round() as u64;
            (1u64 << LEVEL_BITS).saturating_sub(bound) * BOTH
        });
        Self { rmat, levels: rmat.vertices.next_power_of_two().trailing_zeros(), carries }
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
        let (mut from, mut to, mut left) = (0, 0, self.levels);
        while left > 0 {
            *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let (lower, right) = self.four_levels(mixed(*state));
            let levels = left.min(LEVELS_AT_ONCE);
            let unused = LEVELS_AT_ONCE - levels;
            (from, to) = (from << levels | lower >> unused, to << levels | right >> unused);
            left -= levels;
        }
        (from, to)
    }

    /// Whether it goes to the lower and to the right half at each of four levels, the first level in the highest bit.
    /// The first has the lowest bits of the drawn number.
    fn four_levels(&self, drawn: u64) -> (u32, u32) {
        let halves = |draws: u64| {
            let [first, second, third] = self.carries.map(|carry| draws + carry);
            (second, first ^ second ^ third)
        };
        let alternate = u64::from(u16::MAX) * BOTH;
        let ((lower, right), (next_lower, next_right)) =
            (halves(drawn & alternate), halves(drawn >> LEVEL_BITS & alternate));
        (in_order(lower, next_lower), in_order(right, next_right))
    }
}

/// Carries of the first and third level, and those of the second and fourth, as four bits.
fn in_order(odd: u64, even: u64) -> u32 {
    let carried = |sums: u64| sums >> LEVEL_BITS & BOTH;
    let pairs = carried(odd) << 1 | carried(even);
    (pairs << 2 | pairs >> u32::BITS) as u32 & 0xF
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

    /// With a power of two of vertices, a source is in the upper half with probability a + b at each level. So for both
    /// ends of an edge, the first two levels are upper with (a + b)^2, except for edges that are drawn again.
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

    /// Level by level, as it is defined; with all of the first quadrants, no level at all, and numbers of levels that
    /// are no multiple of four.
    #[test]
    fn four_levels_at_once_are_four_levels() {
        let by_level = |rmat: &Rmat, state: &mut u64| {
            let [a, b, c] = rmat.quadrants;
            let bounds = [a, a + b, a + b + c].map(|share| (share * 65536.0).round() as u64);
            let (mut from, mut to, mut bits) = (0, 0, 0);
            for level in 0..rmat.vertices.next_power_of_two().trailing_zeros() {
                if level % 4 == 0 {
                    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                    bits = mixed(*state);
                }
                let drawn = bits >> (level % 4 * 16) & 0xFFFF;
                let quadrant = bounds.iter().filter(|&&bound| drawn >= bound).count() as u32;
                (from, to) = (from << 1 | quadrant >> 1, to << 1 | quadrant & 1);
            }
            (from, to)
        };
        for quadrants in [[0.57, 0.19, 0.19], [0.0, 0.5, 0.5], [0.2, 0.8, 0.0], [0.25, 0.25, 0.25]] {
            for vertices in [2, 5, 16, 1000, 1 << 31] {
                let rmat = Rmat { vertices, quadrants, ..SKEWED };
                let (mut found, mut expected) = (7, 7);
                for _ in 0..2000 {
                    assert_eq!(Draw::new(&rmat).fall(&mut found), by_level(&rmat, &mut expected), "{rmat:?}");
                }
            }
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
