//! The search against its kernels run lane by lane on real masks, with wavefronts in any order.

use crate::lanes::{Lanes, accesses, base, launch_totals, stream, wavefronts};
use octavo_program::{OpSink, Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::bfs_rodinia::BfsRodinia;
use octavo_workload::kernels::bfs_shoc::Graph;

/// The program's arrays, as the kernels see them.
struct Memory {
    mask: Vec<bool>,
    updating: Vec<bool>,
    visited: Vec<bool>,
    cost: Vec<i32>,
    over: bool,
}

impl Memory {
    fn new(nodes: usize) -> Self {
        let mut memory = Self {
            mask: vec![false; nodes],
            updating: vec![false; nodes],
            visited: vec![false; nodes],
            cost: vec![-1; nodes],
            over: false,
        };
        (memory.mask[0], memory.visited[0], memory.cost[0]) = (true, true, 0);
        memory
    }
}

/// The first kernel: all 64 lanes take each statement together.
fn expand(bfs: &BfsRodinia, memory: &mut Memory, nodes: &[usize]) -> Lanes {
    let [records, edges_at, mask, updating, visited, cost] =
        ["graph_nodes", "graph_edges", "graph_mask", "updating_graph_mask", "graph_visited", "cost"]
            .map(|name| base(bfs, name));
    let graph = bfs.graph();
    let bytes = |base: u64, nodes: &[usize]| nodes.iter().map(|node| base + *node as u64).collect::<Vec<_>>();
    let words = |base: u64, nodes: &[usize]| nodes.iter().map(|node| base + 4 * *node as u64).collect::<Vec<_>>();
    let pairs = |base: u64, nodes: &[usize]| nodes.iter().map(|node| base + 8 * *node as u64).collect::<Vec<_>>();
    let mut lanes = Lanes::default();
    lanes.load(bytes(mask, nodes));
    let frontier: Vec<usize> = nodes.iter().copied().filter(|node| memory.mask[*node]).collect();
    lanes.store(bytes(mask, &frontier));
    frontier.iter().for_each(|node| memory.mask[*node] = false);
    lanes.load(pairs(records + 4, &frontier));
    let edges = |node: usize| graph.offsets[node]..graph.offsets[node + 1];
    lanes.load(pairs(records, &frontier.iter().copied().filter(|n| !edges(*n).is_empty()).collect::<Vec<_>>()));
    for turn in 0.. {
        let active: Vec<(usize, u32)> =
            frontier.iter().filter_map(|node| Some((*node, edges(*node).nth(turn)?))).collect();
        if active.is_empty() {
            break;
        }
        lanes.load(active.iter().map(|(_, edge)| edges_at + 4 * u64::from(*edge)));
        let followed: Vec<(usize, usize)> =
            active.iter().map(|(node, edge)| (*node, graph.edges[*edge as usize] as usize)).collect();
        lanes.load(followed.iter().map(|(_, target)| visited + *target as u64));
        let found: Vec<_> = followed.into_iter().filter(|(_, target)| !memory.visited[*target]).collect();
        let (sources, targets): (Vec<usize>, Vec<usize>) = found.iter().copied().unzip();
        lanes.load(words(cost, &sources));
        lanes.store(words(cost, &targets));
        found.iter().for_each(|(source, target)| memory.cost[*target] = memory.cost[*source] + 1);
        lanes.store(bytes(updating, &targets));
        targets.iter().for_each(|target| memory.updating[*target] = true);
        lanes.load(pairs(records, &sources));
    }
    lanes
}

fn advance(bfs: &BfsRodinia, memory: &mut Memory, nodes: &[usize]) -> Lanes {
    let [mask, updating, visited, over] =
        ["graph_mask", "updating_graph_mask", "graph_visited", "over"].map(|name| base(bfs, name));
    let bytes = |base: u64, nodes: &[usize]| nodes.iter().map(|node| base + *node as u64).collect::<Vec<_>>();
    let mut lanes = Lanes::default();
    lanes.load(bytes(updating, nodes));
    let marked: Vec<usize> = nodes.iter().copied().filter(|node| memory.updating[*node]).collect();
    lanes.store(bytes(mask, &marked));
    lanes.store(bytes(visited, &marked));
    lanes.store(marked.iter().map(|_| over));
    lanes.store(bytes(updating, &marked));
    for node in marked {
        (memory.mask[node], memory.visited[node], memory.updating[node], memory.over) = (true, true, false, true);
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches_in_any_order() {
    for (graph, backwards) in
        [(Graph::uniform(3000, 6, 1), false), (Graph::uniform(700, 2, 2), true), (Graph::k_way(1000, 70), true)]
    {
        let bfs = BfsRodinia::new(graph);
        let nodes = bfs.graph().nodes() as usize;
        let mut memory = Memory::new(nodes);
        for launch in 0..bfs.launches() {
            assert!(launch == 0 || launch % 2 == 1 || std::mem::take(&mut memory.over), "the host had stopped");
            let mut order: Vec<_> = wavefronts(&bfs, launch).collect();
            if backwards {
                order.reverse();
            }
            for (group, wavefront) in order {
                let first = group as usize * 512 + wavefront as usize * 64;
                let own: Vec<usize> = (first..first + 64).filter(|node| *node < nodes).collect();
                let kernel = if launch % 2 == 0 { expand } else { advance };
                let expected = kernel(&bfs, &mut memory, &own).accesses;
                let ops = stream(&bfs, launch, group, wavefront, OpSink::MIN_CAPACITY);
                assert_eq!(accesses(&ops), expected, "launch {launch}, group {group}, wavefront {wavefront}");
                assert_eq!(stream(&bfs, launch, group, wavefront, 1000), ops);
            }
        }
        assert!(!memory.over, "there was another level");
    }
}

/// Two nodes and one edge. The first launch: node 0 is on the frontier, its target not visited.
#[test]
fn counts_are_those_of_the_compiled_kernels() {
    let bfs = BfsRodinia::new(Graph::from_pairs(2, &[(0, 1)]));
    assert_eq!(bfs.launches(), 4);
    let idle = 7 * (2 + 1 + 3 + 1);
    let look = 6 + (1 + 1 + 3 + 1 + 1 + 3) + (1 + 1 + 6 + 1 + 1 + 3) + (4 + 1 + 7 + 1 + 6);
    let follow = (1 + 1 + 1 + 3) + (1 + 1 + 3) + (1 + 7 + 1 + 1) + 1 + (1 + 1 + 1) + (2 + 1 + 7);
    let first = launch_totals(&bfs, 0);
    assert_eq!(first.instructions, idle + look + follow + 1);
    assert_eq!((first.vector_memory, first.lines), (4 + 6, 10));
    let second = launch_totals(&bfs, 1);
    assert_eq!(second.instructions, idle + 6 + (1 + 1 + 3 + 1 + 1 + 3) + (9 + 3 + 1 + 1) + 1);
    assert_eq!((second.vector_memory, second.lines), (5, 5));
}

#[test]
fn scale_and_options_are_checked() {
    let build = |scale, options: &[(&str, u64)]| {
        let mut choice = Choice::named("bfs-rodinia");
        choice.options.extend(options.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())));
        WORKLOADS.build(&choice, &Size { scale, seed: 3 })
    };
    // A million nodes: 8 bytes and 3, a cost of 4 and six edges of 4 each, and the flag.
    assert_eq!(build(0.01, &[]).unwrap().footprint(), 10_000 * (8 + 3 + 4 + 24) + 1);
    assert_eq!(build(1.0, &[("nodes", 1)]).err().unwrap().key, "nodes");
    assert_eq!(build(1e-6, &[]).err().unwrap().key, "scale");
    assert_eq!(build(1.0, &[("degree", 0)]).err().unwrap().key, "degree");
    assert_eq!(build(1.0, &[("degree", 64), ("nodes", 1 << 26)]).err().unwrap().key, "degree");
}
