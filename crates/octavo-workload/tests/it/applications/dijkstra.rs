//! Shortest paths against the kernels run lane by lane on real arrays, with wavefronts in any order.

use octavo_program::{OpSink, Workload};
use octavo_workload::kernels::dijkstra::Dijkstra;

use super::refused;
use crate::lanes::{Lanes, accesses, base, stream, wavefronts};

/// The program's arrays, as the kernels see them.
struct Memory {
    mask: Vec<bool>,
    shortest: Vec<f32>,
    updating: Vec<f32>,
}

fn words(base: u64, vertices: &[u32]) -> Vec<u64> {
    vertices.iter().map(|vertex| base + 4 * u64::from(*vertex)).collect()
}

fn bytes(base: u64, vertices: &[u32]) -> Vec<u64> {
    vertices.iter().map(|vertex| base + u64::from(*vertex)).collect()
}

fn initialise(found: &Dijkstra, memory: &mut Memory, own: &[u32]) -> Lanes {
    let [mask, shortest, updating] =
        ["finalizedVertices", "shortestDistances", "updatingShortestDistances"].map(|name| base(found, name));
    for &vertex in own {
        let distance = if vertex == 0 { 0.0 } else { f32::MAX };
        let at = vertex as usize;
        (memory.mask[at], memory.shortest[at], memory.updating[at]) = (vertex == 0, distance, distance);
    }
    let mut lanes = Lanes::default();
    lanes.store(bytes(mask, own));
    lanes.store(words(shortest, own));
    lanes.store(words(updating, own));
    lanes
}

fn relax(found: &Dijkstra, memory: &mut Memory, own: &[u32], edges: u32, vertices: u32) -> Lanes {
    let [first, targets, weights, mask, shortest, updating] = [
        "vertexArray",
        "edgeArray",
        "weightArray",
        "finalizedVertices",
        "shortestDistances",
        "updatingShortestDistances",
    ]
    .map(|name| base(found, name));
    let mut lanes = Lanes::default();
    lanes.load(bytes(mask, own));
    let marked: Vec<u32> = own.iter().copied().filter(|vertex| memory.mask[*vertex as usize]).collect();
    lanes.store(bytes(mask, &marked));
    lanes.load(words(first, &marked));
    let next: Vec<u32> = marked.iter().map(|vertex| vertex + 1).filter(|vertex| *vertex < vertices).collect();
    lanes.load(words(first, &next));
    marked.iter().for_each(|vertex| memory.mask[*vertex as usize] = false);
    for turn in 0..edges {
        let edge: Vec<u32> = marked.iter().map(|vertex| vertex * edges + turn).collect();
        let found: Vec<(u32, f32)> =
            marked.iter().map(|vertex| found.edges_of(*vertex).nth(turn as usize).unwrap()).collect();
        lanes.load(words(targets, &edge));
        lanes.load(words(shortest, &marked));
        lanes.load(words(weights, &edge));
        let reached: Vec<u32> = found.iter().map(|(target, _)| *target).collect();
        lanes.load(words(updating, &reached));
        lanes.store(words(updating, &reached));
        for (vertex, (target, weight)) in marked.iter().zip(found) {
            let distance = memory.shortest[*vertex as usize] + weight;
            let known = &mut memory.updating[target as usize];
            *known = known.min(distance);
        }
    }
    lanes
}

fn take_over(found: &Dijkstra, memory: &mut Memory, own: &[u32]) -> Lanes {
    let [mask, shortest, updating] =
        ["finalizedVertices", "shortestDistances", "updatingShortestDistances"].map(|name| base(found, name));
    let mut lanes = Lanes::default();
    lanes.load(words(shortest, own));
    lanes.load(words(updating, own));
    let changed: Vec<u32> = own
        .iter()
        .copied()
        .filter(|vertex| memory.shortest[*vertex as usize] > memory.updating[*vertex as usize])
        .collect();
    for &vertex in &changed {
        memory.shortest[vertex as usize] = memory.updating[vertex as usize];
        memory.mask[vertex as usize] = true;
    }
    lanes.store(words(shortest, &changed));
    lanes.store(bytes(mask, &changed));
    lanes.store(words(updating, own));
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches_in_any_order() {
    for (vertices, edges, backwards) in [(700, 2, false), (1000, 5, true), (66, 1, false), (70, 20, true)] {
        let found = Dijkstra::new(vertices, edges, 5);
        let count = vertices as usize;
        let mut memory = Memory { mask: vec![false; count], shortest: vec![0.0; count], updating: vec![0.0; count] };
        for launch in 0..found.launches() {
            if launch % 10 == 1 {
                assert!(memory.mask.contains(&true), "the host had stopped before launch {launch}");
            }
            let mut order: Vec<_> = wavefronts(&found, launch).collect();
            if backwards {
                order.reverse();
            }
            for (group, wavefront) in order {
                let own: Vec<u32> = (group * 16..group * 16 + 16).filter(|vertex| *vertex < vertices).collect();
                let expected = match launch {
                    0 => initialise(&found, &mut memory, &own),
                    _ if launch % 2 == 1 => relax(&found, &mut memory, &own, edges, vertices),
                    _ => take_over(&found, &mut memory, &own),
                };
                let ops = stream(&found, launch, group, wavefront, OpSink::MIN_CAPACITY);
                assert_eq!(accesses(&ops), expected.accesses, "launch {launch}, group {group}");
                assert_eq!(stream(&found, launch, group, wavefront, 1000), ops);
            }
        }
        assert!(!memory.mask.contains(&true) || found.launches() == 31, "the host would have gone on");
        assert_eq!(found.distances(), memory.shortest);
    }
}

/// Fifteen iterations do not reach all of a large sparse graph; where they end sooner, distances are the shortest.
#[test]
fn distances_are_the_shortest_once_nothing_changes() {
    let vertices = 70u32;
    let ends = |seed| Some(Dijkstra::new(vertices, 30, seed)).filter(|found| found.launches() < 31);
    let found = (1..20).find_map(ends).expect("one of them ends before fifteen iterations");
    let mut best = vec![f32::MAX; vertices as usize];
    best[0] = 0.0;
    for _ in 0..vertices {
        for vertex in (0..vertices).filter(|vertex| best[*vertex as usize] < f32::MAX).collect::<Vec<_>>() {
            for (target, weight) in found.edges_of(vertex) {
                let distance = best[vertex as usize] + weight;
                best[target as usize] = best[target as usize].min(distance);
            }
        }
    }
    assert_eq!(found.distances(), best);
    assert_eq!(Dijkstra::new(20_000, 2, 1).launches(), 31);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("dijkstra", &[("vertices", 65)]), "vertices");
    assert_eq!(refused("dijkstra", &[("edges", 0)]), "edges");
    assert_eq!(refused("dijkstra", &[("edges", 64), ("vertices", 1 << 26)]), "edges");
}
