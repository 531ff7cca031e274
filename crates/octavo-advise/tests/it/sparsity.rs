//! Estimated sparsity compared with graphs where it is known.

use octavo_advise::sparsity::{BadGraph, Csr};
use octavo_units::Bytes;
use proptest::prelude::*;

const WORD: Bytes = Bytes(4);
const PAGE: Bytes = Bytes(64);

/// Rows of edges, which may repeat.
fn rows(vertices: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> (Vec<u64>, Vec<u32>) {
    let mut sorted: Vec<_> = edges.into_iter().collect();
    sorted.sort_unstable();
    let offsets = (0..=vertices).map(|vertex| sorted.partition_point(|edge| edge.0 < vertex) as u64).collect();
    (offsets, sorted.into_iter().map(|edge| edge.1).collect())
}

/// A generator with a fixed seed (splitmix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[test]
fn a_ring_is_reached_whole() {
    let (offsets, targets) = rows(64, (0..64).map(|vertex| (vertex, (vertex + 1) % 64)));
    let ring = Csr::new(&offsets, &targets).unwrap();
    let reach = ring.estimated_reach();
    assert_eq!(reach.vertices(), 64.0);
    assert_eq!(ring.sigma_of_vertices(&reach, WORD, PAGE).unwrap().get(), 1.0);
    assert_eq!(reach, ring.reach_from(17).unwrap());
}

#[test]
fn nothing_is_reached_without_edges_but_the_source() {
    let (offsets, targets) = rows(64, []);
    let bare = Csr::new(&offsets, &targets).unwrap();
    assert_eq!(bare.estimated_reach().vertices(), 0.0);
    let alone = bare.reach_from(3).unwrap();
    assert_eq!(bare.sigma_of_vertices(&alone, WORD, PAGE).unwrap().get(), 0.25);
    assert_eq!(bare.sigma_of_vertices(&bare.estimated_reach(), WORD, PAGE).unwrap().get(), 0.25);
}

#[test]
fn half_a_graph_touches_the_pages_that_it_lies_on() {
    // Vertices 0 to 31 are a ring, 32 to 63 have no edges.
    let (offsets, targets) = rows(64, (0..32).map(|vertex| (vertex, (vertex + 1) % 32)));
    let graph = Csr::new(&offsets, &targets).unwrap();
    let reach = graph.estimated_reach();
    assert_eq!(graph.sigma_of_vertices(&reach, WORD, PAGE).unwrap().get(), 0.5);
    assert_eq!(graph.sigma_of_edges(&reach, WORD, PAGE).unwrap().get(), 1.0);
    assert_eq!(graph.sigma_of_vertices(&reach, WORD, Bytes(1024)).unwrap().get(), 1.0, "one page has both");
}

#[test]
fn random_graphs_are_reached_as_far_as_estimated() {
    for degree in [2, 3, 8] {
        let mut state = degree;
        let vertices = 20_000u32;
        let mut draw = || (random(&mut state) % u64::from(vertices)) as u32;
        let edges: Vec<_> = (0..u64::from(vertices) * degree).map(|_| (draw(), draw())).collect();
        let (offsets, targets) = rows(vertices, edges);
        let graph = Csr::new(&offsets, &targets).unwrap();
        let largest = (0..8).map(|source| graph.reach_from(source).unwrap().vertices()).fold(0.0, f64::max);
        let estimated = graph.estimated_reach().vertices();
        assert!((estimated / largest - 1.0).abs() < 0.02, "degree {degree}: {estimated} is not {largest}");
        // The share s of a random graph solves s = 1 - exp(-degree s).
        let share = estimated / f64::from(vertices);
        assert!((share - (1.0 - (-(degree as f64) * share).exp())).abs() < 0.02, "degree {degree}: {share}");
    }
}

#[test]
fn rows_that_are_no_graph_are_refused() {
    let refused = |offsets: &[u64], targets: &[u32]| Csr::new(offsets, targets).unwrap_err();
    assert_eq!(refused(&[], &[]), BadGraph::Empty(0));
    assert_eq!(refused(&[1, 2], &[0, 0]), BadGraph::Offsets { at: 0, found: 1 });
    assert_eq!(refused(&[0, 2, 1], &[0]), BadGraph::Offsets { at: 2, found: 1 });
    assert_eq!(refused(&[0, 2], &[0]), BadGraph::End { edges: 1, found: 2 });
    assert_eq!(refused(&[0, 1], &[1]).to_string(), "edge 0: expected a vertex below 1, found 1");
    let (offsets, targets) = ([0u64, 1], [0u32]);
    let graph = Csr::new(&offsets, &targets).unwrap();
    assert_eq!(graph.reach_from(1).unwrap_err(), BadGraph::Source { vertices: 1, found: 1 });
    let reach = graph.estimated_reach();
    assert_eq!(graph.sigma_of_edges(&reach, Bytes(0), PAGE).unwrap_err(), BadGraph::Size(Bytes(0)));
}

proptest! {
    #[test]
    fn more_edges_reach_no_fewer(
        edges in prop::collection::vec((0u32..50, 0u32..50), 0..200), more in prop::collection::vec((0u32..50, 0u32..50), 0..50),
        source in 0usize..50,
    ) {
        let (offsets, targets) = rows(50, edges.iter().copied());
        let (all_offsets, all_targets) = rows(50, edges.iter().chain(&more).copied());
        let (graph, larger) = (Csr::new(&offsets, &targets).unwrap(), Csr::new(&all_offsets, &all_targets).unwrap());
        let (few, many) = (graph.reach_from(source).unwrap(), larger.reach_from(source).unwrap());
        prop_assert!(few.vertices() <= many.vertices());
        let [less, most] = [(&graph, &few), (&larger, &many)].map(|(graph, reach)| graph.sigma_of_vertices(reach, WORD, PAGE).unwrap());
        prop_assert!(less <= most);
    }

    #[test]
    fn larger_pages_are_touched_no_less(edges in prop::collection::vec((0u32..50, 0u32..50), 1..200)) {
        let (offsets, targets) = rows(50, edges);
        let graph = Csr::new(&offsets, &targets).unwrap();
        let reach = graph.estimated_reach();
        let [small, large] = [64, 256].map(|page| graph.sigma_of_vertices(&reach, Bytes(16), Bytes(page)).unwrap().get());
        // The last large page may be partly empty, which the mean over pages counts in full.
        prop_assert!(small <= large + 0.25 + 1e-12);
        prop_assert!(reach.vertices() <= 50.0 + 1e-9);
    }
}
