//! Graph analytics: results against slow obvious references, streams against models of single lanes.

use std::collections::BTreeMap;

use crate::lanes::{Lanes, accesses, base, stream, wavefronts};
use octavo_program::{Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::graphs::choice::GraphChoice;
use octavo_workload::graphs::edges::{Edges, List, Rows, Weights};
use octavo_workload::graphs::graph::Graph;
use octavo_workload::kernels::analytics::bfs::{BfsBalanced, BfsOptions, UNREACHED};
use octavo_workload::kernels::analytics::louvain::{Louvain, LouvainOptions};
use octavo_workload::kernels::analytics::mst::Mst;
use octavo_workload::kernels::analytics::pagerank::{PageRank, PageRankOptions};
use octavo_workload::kernels::analytics::sssp::{Sssp, SsspOptions, weight};
use octavo_workload::kernels::analytics::wcc::{Algorithm, Wcc, WccOptions};
use serde_json::json;

/// Rows and edges of a wavefront.
const PART: usize = 448;

fn drawn(name: &str, scale: f64, seed: u64) -> Edges {
    GraphChoice::Name(name.to_owned()).edges(&Size { scale, seed }).expect("a graph")
}

/// Graphs with and without direction, drawn and by hand, with vertices apart from all others.
fn graphs() -> Vec<Edges> {
    let by_hand = |directed| Edges {
        vertices: 9,
        directed,
        list: List::Here(vec![(0, 1), (1, 2), (2, 0), (2, 3), (5, 4), (4, 6), (6, 4), (1, 2), (3, 7)]),
        weights: Weights::default(),
    };
    let mut all = vec![by_hand(true), by_hand(false)];
    for seed in [1, 2] {
        all.extend([drawn("soc-sinaweibo", 1e-5, seed), drawn("web-uk-2005", 2e-5, seed)]);
    }
    all
}

/// Every arc (from, to).
fn arcs(edges: &Edges) -> Vec<(u32, u32)> {
    let graph = edges.rows(Rows::Out);
    (0..graph.nodes())
        .flat_map(|from| graph.targets(from).iter().map(move |&to| (from, to)).collect::<Vec<_>>())
        .collect()
}

#[test]
fn ranks_solve_the_equation_of_page_rank() {
    for edges in graphs() {
        let options = PageRankOptions { tolerance: 1e-12, rounds: 1000, ..PageRankOptions::default() };
        let found = PageRank::new(&options, &edges).expect("ranks");
        let (ranks, vertices) = (found.ranks(), f64::from(edges.vertices));
        let mut leaving = vec![0.0; ranks.len()];
        arcs(&edges).iter().for_each(|&(from, _)| leaving[from as usize] += 1.0);
        let idle: f64 = ranks.iter().zip(&leaving).filter(|(_, out)| **out == 0.0).map(|(rank, _)| rank).sum();
        let mut expected = vec![0.15 / vertices + 0.85 * idle / vertices; ranks.len()];
        arcs(&edges).iter().for_each(|&(from, to)| {
            expected[to as usize] += 0.85 * ranks[from as usize] / leaving[from as usize];
        });
        for (found, expected) in ranks.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-11, "{found} {expected}");
        }
        assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn rounds_end_at_the_tolerance_or_the_limit() {
    let launches = |tolerance, rounds| {
        let options = PageRankOptions { tolerance, rounds, ..PageRankOptions::default() };
        PageRank::new(&options, &graphs()[2]).expect("ranks").launches()
    };
    assert_eq!((launches(10.0, 50), launches(0.0, 7)), (3, 15), "a start, and two launches a round");
    assert!(launches(1e-3, 100) < launches(1e-5, 100));
}

#[test]
fn levels_are_distances_in_edges() {
    for edges in graphs() {
        let graph = edges.rows(Rows::Out);
        let degrees: Vec<usize> = (0..graph.nodes()).map(|vertex| graph.targets(vertex).len()).collect();
        let most = degrees.iter().max().expect("vertices");
        let source = degrees.iter().position(|degree| degree == most).expect("one of them");
        let found = BfsBalanced::new(&BfsOptions::default(), &edges).expect("levels");
        assert_eq!(reached(found.levels()), relaxed(&edges, source, |_, _| 1));
        let from_3 = BfsBalanced::new(&BfsOptions { source: Some(3), ..BfsOptions::default() }, &edges);
        assert_eq!(reached(from_3.expect("levels").levels()), relaxed(&edges, 3, |_, _| 1));
    }
}

#[test]
fn distances_are_those_of_shortest_paths() {
    for edges in graphs() {
        let options = SsspOptions { source: Some(2), largest_weight: 9, ..SsspOptions::default() };
        let found = Sssp::new(&options, &edges, 5).expect("distances");
        assert_eq!(found.distances(), relaxed(&edges, 2, |from, to| weight(from, to, 9, 5)));
    }
}

#[test]
fn weights_of_a_file_count_unless_they_are_to_be_drawn() {
    let ends = [(0, 1), (1, 2), (0, 2)];
    let graph = |third: f64| {
        let weights = Weights::of(true, &ends, &[1.5, 2.0, third]);
        Edges { vertices: 3, directed: true, list: List::Here(ends.to_vec()), weights }
    };
    let options = |draw_weights| SsspOptions { source: Some(0), draw_weights, ..SsspOptions::default() };
    let found = |third, draw| Sssp::new(&options(draw), &graph(third), 1).map(|sssp| sssp.distances().to_vec());
    assert_eq!(found(9.0, false).expect("distances"), [0.0, 1.5, 3.5]);
    assert_eq!(found(3.25, false).expect("distances"), [0.0, 1.5, 3.25]);
    assert!(found(-1.0, false).is_err());
    assert_eq!(found(-1.0, true).expect("distances"), found(9.0, true).expect("distances"));
}

/// Numbers of which the largest means that a vertex was not reached.
fn reached(levels: &[u32]) -> Vec<f64> {
    levels.iter().map(|&level| if level == u32::MAX { f64::INFINITY } else { level.into() }).collect()
}

/// Distances by relaxing one arc after another, as often as there are vertices or until nothing changes.
fn relaxed(edges: &Edges, source: usize, weight: impl Fn(u32, u32) -> u32) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; edges.vertices as usize];
    distances[source] = 0.0;
    let arcs = arcs(edges);
    loop {
        let before = distances.clone();
        for &(from, to) in arcs.iter().rev() {
            let through = distances[from as usize] + f64::from(weight(from, to));
            distances[to as usize] = distances[to as usize].min(through);
        }
        if distances == before {
            return distances;
        }
    }
}

fn components(edges: &Edges, algorithm: Algorithm) -> Wcc {
    Wcc::new(&WccOptions { algorithm, ..WccOptions::default() }, edges).expect("labels")
}

#[test]
fn labels_are_the_least_of_what_is_joined() {
    for edges in graphs() {
        let mut expected: Vec<u32> = (0..edges.vertices).collect();
        for (one, other) in arcs(&edges) {
            let [one, other] = [expected[one as usize], expected[other as usize]];
            expected.iter_mut().filter(|label| **label == one.max(other)).for_each(|label| *label = one.min(other));
        }
        for algorithm in [Algorithm::LabelPropagation, Algorithm::Afforest] {
            assert_eq!(components(&edges, algorithm).labels(), expected, "{algorithm:?}");
        }
    }
}

#[test]
fn communities_have_the_modularity_that_is_said_and_it_is_better_than_alone() {
    for edges in graphs() {
        let found =
            Louvain::new(&LouvainOptions { threshold: 0.0, ..LouvainOptions::default() }, &edges).expect("labels");
        let arcs: Vec<(u32, u32)> = arcs(&Edges { directed: false, ..edges.clone() });
        let modularity = |labels: &[u32]| {
            let inside = arcs.iter().filter(|(one, other)| labels[*one as usize] == labels[*other as usize]).count();
            let mut totals = vec![0.0; labels.len()];
            arcs.iter().for_each(|(one, _)| totals[labels[*one as usize] as usize] += 1.0);
            let all = arcs.len() as f64;
            inside as f64 / all - totals.iter().map(|total: &f64| (total / all).powi(2)).sum::<f64>()
        };
        let alone: Vec<u32> = (0..edges.vertices).collect();
        let reached = modularity(found.labels());
        assert!((reached - found.modularity()).abs() < 1e-9);
        assert!(reached > modularity(&alone) + 0.05, "{reached}");
    }
}

/// The forest by taking edges in order of their weight (Kruskal): sum of the weights of those that join two trees.
#[test]
fn forests_are_those_of_edges_taken_in_order_of_their_weights() {
    for edges in graphs() {
        let found = Mst::new(&edges, 4).expect("a forest");
        let graph = edges.rows(Rows::Both);
        let ends = |from: u32| graph.row(from).map(move |edge| (edge as usize, from));
        let mut arcs: Vec<(u32, u32, u32)> = (0..graph.nodes())
            .flat_map(ends)
            .map(|(edge, from)| (found.weights()[edge], from, graph.edges[edge]))
            .collect();
        arcs.sort_unstable();
        let mut trees: Vec<u32> = (0..graph.nodes()).collect();
        let mut expected = Vec::new();
        for (weight, from, to) in arcs {
            let [one, other] = [from, to].map(|vertex| trees[vertex as usize]);
            if one != other {
                trees.iter_mut().filter(|tree| **tree == one).for_each(|tree| *tree = other);
                expected.push(weight);
            }
        }
        let mut chosen: Vec<u32> = found.chosen().iter().copied().filter(|weight| *weight > 0).collect();
        chosen.sort_unstable();
        assert_eq!(chosen, expected);
    }
}

/// Labels before and behind each launch of a search for a forest, from the definition of the kernels alone.
fn labels_of_rounds(found: &Mst, graph: &Graph) -> Vec<[Vec<u32>; 2]> {
    let mut labels: Vec<u32> = (0..graph.nodes()).collect();
    let mut rounds = Vec::new();
    loop {
        let mut hung = labels.clone();
        for root in (0..graph.nodes()).filter(|&vertex| labels[vertex as usize] == vertex) {
            let best = |tree: u32| best_of(found, graph, &labels, tree).map(|(_, other)| other);
            let Some(other) = best(root) else { continue };
            if best(other) != Some(root) || other < root {
                hung[root as usize] = other;
            }
        }
        rounds.push([labels.clone(), hung.clone()]);
        if hung == labels {
            return rounds;
        }
        labels = hung.clone();
        for _ in 0..graph.nodes() {
            labels = labels.iter().map(|&label| hung[label as usize]).collect();
        }
    }
}

fn best_of(found: &Mst, graph: &Graph, labels: &[u32], tree: u32) -> Option<(u32, u32)> {
    let own = (0..graph.nodes()).filter(|&vertex| labels[vertex as usize] == tree);
    let out = own
        .flat_map(|vertex| graph.row(vertex))
        .map(|edge| (found.weights()[edge as usize], labels[graph.edges[edge as usize] as usize]));
    out.filter(|(_, other)| *other != tree).min()
}

#[test]
fn finding_hooking_and_flattening_are_those_of_single_lanes() {
    for edges in graphs().into_iter().take(4) {
        let found = Mst::new(&edges, 4).expect("a forest");
        let graph = edges.rows(Rows::Both);
        let rounds = labels_of_rounds(&found, &graph);
        assert_eq!(found.launches() as usize, 1 + 3 * rounds.len());
        let [label, best, state] = ["labels", "best", "state"].map(|name| base(&found, name));
        let word = |vertex: u32| label + 4 * u64::from(vertex);
        let pair = |vertex: u32| best + 8 * u64::from(vertex);
        for (round, [labels, hung]) in rounds.iter().enumerate() {
            let of = |labels: &[u32], vertex: u32| labels[vertex as usize];
            let first = 1 + 3 * round as u32;
            // Each row with an edge to another tree updates the best edge of its own.
            let crossing = |&vertex: &u32| graph.targets(vertex).iter().any(|&to| of(labels, to) != of(labels, vertex));
            let updated: std::collections::BTreeSet<u64> =
                (0..graph.nodes()).filter(crossing).map(|vertex| pair(of(labels, vertex)) / 64).collect();
            let stored: Vec<u64> = lines_of(&found, first, "best", true).into_keys().collect();
            assert_eq!(stored, updated.into_iter().collect::<Vec<_>>(), "round {round}");
            for (index, (group, wavefront)) in wavefronts(&found, first + 1).enumerate() {
                let lanes = || (index as u32 * 64..graph.nodes()).take(64);
                let roots = || lanes().filter(|&vertex| of(labels, vertex) == vertex);
                let mut expected = Lanes::default();
                expected.load(lanes().map(word));
                expected.load(roots().map(pair));
                expected.load(roots().filter_map(|root| best_of(&found, &graph, labels, root)).map(|(_, to)| pair(to)));
                let moved = || roots().filter(|&root| of(hung, root) != root);
                expected.store(moved().map(word));
                expected.store(moved().take(1).map(|_| state));
                assert_eq!(accesses(&stream(&found, first + 1, group, wavefront, 512)), expected.accesses, "hook");
                let mut expected = Lanes::default();
                let mut at: Vec<u32> = lanes().collect();
                expected.load(at.iter().copied().map(word));
                while at.iter().any(|&vertex| of(hung, vertex) != vertex) {
                    at = at.iter().map(|&vertex| of(hung, vertex)).collect();
                    expected.load(at.iter().copied().filter(|&vertex| of(hung, vertex) != vertex).map(word));
                }
                expected.store(lanes().filter(|&lane| of(hung, of(hung, lane)) != of(hung, lane)).map(word));
                expected.store(lanes().filter(|&lane| of(hung, lane) == lane).map(pair));
                assert_eq!(accesses(&stream(&found, first + 2, group, wavefront, 512)), expected.accesses, "flatten");
            }
        }
    }
}

/// Wavefronts of `find` load all that their rows and edges need, in order.
#[test]
fn finding_loads_every_edge_and_the_labels_of_both_ends() {
    for edges in graphs().into_iter().take(3) {
        let found = Mst::new(&edges, 4).expect("a forest");
        let graph = edges.rows(Rows::Both);
        let all: Vec<u32> = (0..graph.edges.len() as u32).collect();
        for name in ["neighbours", "weights"] {
            let start = base(&found, name);
            let loaded: Vec<u64> = lines_of(&found, 1, name, false).into_keys().collect();
            let mut expected: Vec<u64> = all.iter().map(|&edge| (start + 4 * u64::from(edge)) / 64).collect();
            expected.dedup();
            assert_eq!(loaded, expected, "{name}");
        }
        let start = base(&found, "labels");
        let ends = graph.edges.iter().copied().chain(0..graph.nodes());
        let expected: std::collections::BTreeSet<u64> = ends.map(|end| (start + 4 * u64::from(end)) / 64).collect();
        let loaded: Vec<u64> = lines_of(&found, 1, "labels", false).into_keys().collect();
        assert_eq!(loaded, expected.into_iter().collect::<Vec<_>>());
    }
}

/// The loads and stores of `gather` other than its search: wavefronts take rows and edges in order, `PART` of both at a
/// time.
fn gathered(workload: &dyn Workload, graph: &Graph, values: &str, wavefront: usize) -> Lanes {
    let [offsets, neighbours, values, sums] =
        ["offsets", "neighbours", values, "sums"].map(|name| base(workload, name));
    let item = |row: u32| graph.row(row).map(move |edge| (row, Some(edge))).chain([(row, None)]);
    let items: Vec<(u32, Option<u32>)> = (0..graph.nodes()).flat_map(item).collect();
    let mut lanes = Lanes::default();
    let Some(own) = items.chunks(PART).nth(wavefront) else { return lanes };
    let next = items.get((wavefront + 1) * PART);
    let first = own[0].0;
    let last = next.map_or(graph.nodes(), |(row, _)| *row);
    let words = |base: u64, numbers: std::ops::Range<u32>| numbers.map(move |number| base + u64::from(number) * 4);
    let own_edges: Vec<u32> = own.iter().filter_map(|(_, edge)| *edge).collect();
    lanes.load(words(offsets, first..(last + 1).min(graph.nodes()) + 1));
    for edges in own_edges.chunks(64) {
        lanes.load(words(neighbours, edges[0]..edges[0] + edges.len() as u32));
        lanes.load(edges.iter().map(|&edge| values + u64::from(graph.edges[edge as usize]) * 4));
    }
    let ended: Vec<u32> = own.iter().filter(|(_, edge)| edge.is_none()).map(|(row, _)| *row).collect();
    if let (Some(first), Some(last)) = (ended.first(), ended.last()) {
        lanes.store(words(sums, *first..*last + 1));
    }
    // Of the row behind, something was gathered.
    if own.last().is_some_and(|(_, edge)| edge.is_some()) {
        lanes.store(words(sums, last..last + 1));
    }
    lanes
}

#[test]
fn gathering_is_that_of_single_lanes_in_order() {
    for edges in graphs() {
        let ranks = PageRank::new(&PageRankOptions { rounds: 2, ..PageRankOptions::default() }, &edges).expect("ranks");
        let graph = edges.rows(Rows::In);
        for (index, (group, wavefront)) in wavefronts(&ranks, 3).enumerate() {
            let found = accesses(&stream(&ranks, 3, group, wavefront, 512));
            let expected = gathered(&ranks, &graph, "shares", index).accesses;
            let searched = found.len() - expected.len();
            assert_eq!(found[searched..], expected, "wavefront {index}");
            let ends = base(&ranks, "offsets") / 64..=(base(&ranks, "offsets") + u64::from(edges.vertices) * 4) / 64;
            assert!(found[..searched].iter().flat_map(|access| &access.lines).all(|line| ends.contains(line)));
        }
    }
}

/// Lines of a buffer that a launch loads or stores, by number of instructions.
fn lines_of(workload: &dyn Workload, launch: u32, name: &str, store: bool) -> BTreeMap<u64, u32> {
    let buffer = workload.buffers().iter().find(|buffer| buffer.name == name).expect("a buffer");
    let inside = buffer.base / 64..(buffer.base + buffer.bytes).div_ceil(64);
    let mut lines = BTreeMap::new();
    for (group, wavefront) in wavefronts(workload, launch) {
        let found = accesses(&stream(workload, launch, group, wavefront, 512));
        for line in found.into_iter().filter(|access| access.store == store).flat_map(|access| access.lines) {
            if inside.contains(&line) {
                *lines.entry(line).or_default() += 1;
            }
        }
    }
    lines
}

#[test]
fn each_level_is_stored_in_the_launch_that_reaches_it() {
    let edges = drawn("soc-twitter-2010", 2e-5, 3);
    let search = BfsBalanced::new(&BfsOptions::default(), &edges).expect("levels");
    let [levels, neighbours] = ["levels", "neighbours"].map(|name| base(&search, name));
    let graph = edges.rows(Rows::Out);
    let depth = search.levels().iter().filter(|level| **level != UNREACHED).max().expect("a source");
    assert_eq!(search.launches(), 2 * (depth + 1) + 1);
    for level in 0..=*depth {
        let at = |expected: u32| {
            let levels = search.levels();
            (0..edges.vertices).filter(|&vertex| levels[vertex as usize] == expected).collect::<Vec<_>>()
        };
        let lines = |addresses: Vec<u64>| addresses.into_iter().map(|address| address / 64).collect::<Vec<_>>();
        let unique = |mut lines: Vec<u64>| {
            lines.sort_unstable();
            lines.dedup();
            lines
        };
        let stored = at(level + 1).iter().map(|&vertex| levels + u64::from(vertex) * 4).collect();
        let found: Vec<u64> = lines_of(&search, 1 + 2 * level, "levels", true).into_keys().collect();
        assert_eq!(found, unique(lines(stored)), "level {level}");
        let here = at(level);
        let followed = here.iter().flat_map(|&vertex| graph.row(vertex)).map(|edge| neighbours + u64::from(edge) * 4);
        let found: Vec<u64> = lines_of(&search, 1 + 2 * level, "neighbours", false).into_keys().collect();
        assert_eq!(found, unique(lines(followed.collect())), "level {level}");
        let queued = lines_of(&search, 2 + 2 * level, "frontier", true);
        assert_eq!(queued.len(), (at(level + 1).len() * 4).div_ceil(64), "level {level}");
    }
}

#[test]
fn labels_are_stored_in_the_round_in_which_they_change() {
    let list = List::Here(vec![(0, 1), (1, 2), (2, 3), (3, 4)]);
    let path = Edges { vertices: 5, directed: false, list, weights: Weights::default() };
    let labels = components(&path, Algorithm::LabelPropagation);
    assert_eq!(labels.launches(), 11, "four rounds along the path, and one that finds nothing");
    let stored = |round: u32| lines_of(&labels, 2 + 2 * round, "labels", true).len();
    assert_eq!([0, 3, 4].map(stored), [1, 1, 0]);
}

#[test]
fn published_graphs_have_their_size_and_skew() {
    let Edges { vertices, directed, .. } = drawn("soc-twitter-2010", 0.01, 1);
    assert_eq!((vertices, directed), (212_978, false));
    assert_eq!(drawn("soc-twitter-2010", 0.01, 1).arcs(Rows::Out), 2 * 2_650_258);
    assert_eq!(drawn("web-uk-2005", 0.001, 1).arcs(Rows::In), 936_364);
    let graph = drawn("soc-twitter-2010", 0.01, 1).rows(Rows::Both);
    let mut degrees: Vec<usize> = (0..graph.nodes()).map(|vertex| graph.targets(vertex).len()).collect();
    degrees.sort_unstable();
    let top: usize = degrees.iter().rev().take(degrees.len() / 100).sum();
    let share = top as f64 / graph.edges.len() as f64;
    assert!((0.2..0.6).contains(&share), "the hundredth of vertices with most arcs has {share} of them");
}

#[test]
fn options_are_checked() {
    let error = |name: &str, options: serde_json::Value| {
        let mut choice = Choice::named(name);
        choice.options.extend(options.as_object().expect("options").clone());
        WORKLOADS.build(&choice, &Size { scale: 1e-4, seed: 1 }).err().map_or(String::new(), |error| error.to_string())
    };
    let unknown = error("pagerank", json!({"graph": "soc-twiter-2010"}));
    assert!(unknown.ends_with("or a file; did you mean `soc-twitter-2010`?"), "{unknown}");
    let graph = |vertices: u64, edges: u64| json!({"graph": {"vertices": vertices, "edges": edges}});
    assert_eq!(error("wcc", graph(10, 20)), "");
    assert_eq!(error("wcc", graph(1, 20)), "`graph.vertices`: expected 2 to 2^31 vertices, found 1");
    assert_eq!(error("wcc", graph(10, 0)), "`graph.edges`: expected 1 to 2^31 edges, found 0");
    let quadrants = error("wcc", json!({"graph": {"vertices": 9, "edges": 9, "quadrants": [0.9, 0.9, 0.9]}}));
    assert!(quadrants.starts_with("`graph.quadrants`: expected three shares"), "{quadrants}");
    let source = json!({"graph": {"vertices": 10, "edges": 20}, "source": 10});
    assert_eq!(error("sssp", source.clone()), "`source`: expected a vertex from 0 to 9, found 10");
    assert_eq!(error("bfs-balanced", source), "`source`: expected a vertex from 0 to 9, found 10");
    assert_eq!(error("pagerank", json!({"damping": 1.5})), "`damping`: expected 0 to 1, found 1.5");
    assert!(error("pagerank", json!({"graph": "missing.mtx"})).starts_with("`graph`: cannot read missing.mtx: "));
}

/// A drawn graph of parts, by the options that a user gives.
fn of_parts(options: serde_json::Value) -> Edges {
    let choice: GraphChoice = serde_json::from_value(options).expect("a graph");
    choice.edges(&Size { scale: 1.0, seed: 3 }).expect("edges")
}

#[test]
fn no_edge_leads_from_a_part_to_another() {
    for (parts, largest, ends) in [
        (json!(1), json!(null), vec![1000]),
        (json!(4), json!(null), vec![250, 500, 750, 1000]),
        (json!(3), json!(0.5), vec![500, 750, 1000]),
    ] {
        let edges =
            of_parts(json!({"vertices": 1000, "edges": 8000, "directed": true, "parts": parts, "largest": largest}));
        let part = |vertex: u32| ends.iter().position(|end| vertex < *end).expect("a part");
        let found = arcs(&edges);
        assert_eq!((found.len(), edges.count()), (8000, 8000));
        assert!(found.iter().all(|&(from, to)| part(from) == part(to)));
        let mut before = 0;
        for (number, &end) in ends.iter().enumerate() {
            let within = found.iter().filter(|(from, _)| part(*from) == number).count() as u32;
            assert_eq!(within, 8 * (end - before), "edges are shared out as vertices are");
            before = end;
        }
        let search = BfsBalanced::new(&BfsOptions::default(), &edges).expect("a search");
        let reached: Vec<u32> =
            (0..).zip(search.levels()).filter(|(_, level)| **level != UNREACHED).map(|(vertex, _)| vertex).collect();
        assert!(reached.iter().all(|vertex| part(*vertex) == part(reached[0])));
    }
}

#[test]
fn one_part_is_the_graph_as_ever() {
    let graph = json!({"vertices": 1000, "edges": 8000});
    let mut alone = graph.clone();
    alone["parts"] = json!(1);
    assert_eq!(of_parts(graph), of_parts(alone));
}

#[test]
fn parts_are_checked() {
    let error = |parts: serde_json::Value, largest: serde_json::Value| {
        let graph = json!({"vertices": 10, "edges": 20, "parts": parts, "largest": largest});
        let choice: GraphChoice = serde_json::from_value(graph).expect("a graph");
        choice.edges(&Size { scale: 1.0, seed: 3 }).err().map_or(String::new(), |error| error.to_string())
    };
    assert_eq!(error(json!(5), json!(null)), "");
    assert_eq!(error(json!(2), json!(0.8)), "");
    for (parts, largest, key) in
        [(0, None, "parts"), (6, None, "parts"), (1, Some(0.5), "largest"), (2, Some(1.0), "largest")]
    {
        let found = error(json!(parts), json!(largest));
        assert!(found.starts_with(&format!("`graph.{key}`: expected ")), "{found}");
    }
    assert!(error(json!(5), json!(0.9)).contains("found one of 0"));
}
