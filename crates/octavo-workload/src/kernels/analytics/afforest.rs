//! Components by sampling (Afforest, Sutton and others, IPDPS 2018): each vertex is linked with its first two
//! neighbours, one after the other, and trees are made flat after each. Then the vertices outside the most frequent
//! component are linked with the rest of theirs.
//!
//! Kernels: `start` writes each vertex's own number. `link` loads a vertex's row and the neighbour, the labels of both,
//! the label of the higher one, and stores it if that is a root. `compress` follows labels until they end and stores
//! where. `sample` looks at the labels of 1024 vertices. `link_rest` goes through all rows, edge-balanced, and passes
//! over those of the most frequent component. Walks of a launch see the labels that the previous launch left, so that
//! no stream depends on the order of wavefronts; the labels left are those of processing vertices in order.

use std::ops::Range;

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink};

use super::balance::{LANES, Parts, Share, WAVEFRONTS};
use super::cost;
use super::labels::follow;
use super::walk::{Visit, walk};
use crate::emit::{load_lanes, load_span, push_all, steps, store_lanes, store_span};
use crate::graphs::graph::Graph;

const WORD: u64 = 4;
/// Neighbours that all vertices are linked with (`neighbor_rounds` of the authors' code).
const FIRST: u32 = 2;
/// Vertices that are looked at for the most frequent component (the authors' code).
const SAMPLES: u32 = 1024;
/// Launches before `link_rest`: `start`, `link` and `compress` twice, `sample`.
const SAMPLE: u32 = 1 + 2 * FIRST;

/// Components of one graph, and the labels that each launch leaves.
pub struct Afforest {
    graph: Graph,
    /// After `link` and `compress`, in turn; then after `link_rest`.
    left: Vec<Vec<u32>>,
    labels: Vec<u32>,
    /// The most frequent component of the sample.
    most: u32,
    offsets: Buffer,
    neighbours: Buffer,
    at: Buffer,
    sampled: Buffer,
    buffers: Vec<Buffer>,
}

impl Afforest {
    pub fn new(graph: Graph) -> Self {
        let mut labels: Vec<u32> = (0..graph.nodes()).collect();
        let mut left = vec![labels.clone()];
        for round in 0..FIRST as usize {
            for vertex in 0..graph.nodes() {
                graph.targets(vertex).get(round).iter().for_each(|&&other| link(&mut labels, vertex, other));
            }
            left.push(labels.clone());
            compress(&mut labels);
            left.push(labels.clone());
        }
        let most = most_frequent(&labels);
        for vertex in 0..graph.nodes() {
            if labels[vertex as usize] != most {
                let rest = graph.targets(vertex).iter().skip(FIRST as usize);
                rest.for_each(|&other| link(&mut labels, vertex, other));
            }
        }
        left.push(labels.clone());
        compress(&mut labels);
        let vertices = u64::from(graph.nodes());
        let mut space = AddressSpace::default();
        let offsets = space.allocate("offsets", (vertices + 1) * WORD);
        let neighbours = space.allocate("neighbours", (graph.edges.len() as u64).max(1) * WORD);
        let at = space.allocate("labels", vertices * WORD);
        let sampled = space.allocate("sampled", WORD);
        let buffers = space.buffers().to_vec();
        Self { graph, left, labels, most, offsets, neighbours, at, sampled, buffers }
    }

    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    pub fn launches(&self) -> u32 {
        SAMPLE + 3
    }

    pub fn launch(&self, index: u32) -> Launch {
        let by_vertex = self.graph.nodes().div_ceil(LANES * WAVEFRONTS);
        let (kernel, work_groups) = match index {
            0 => ("start", by_vertex),
            SAMPLE => ("sample", SAMPLES.div_ceil(LANES * WAVEFRONTS)),
            _ if index == SAMPLE + 1 => ("link_rest", Parts::new(&self.graph.offsets).work_groups()),
            _ if index % 2 == 1 && index < SAMPLE => ("link", by_vertex),
            _ => ("compress", by_vertex),
        };
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: WAVEFRONTS }
    }

    /// The host reads which component is the most frequent.
    pub fn host_side(&self) -> HostSide {
        let side = HostSide::of(&self.buffers).inputs(["offsets", "neighbours"]).scratch(["sampled"]);
        side.outputs(["labels"]).reads_before(SAMPLE + 1, ["sampled"]).build()
    }

    pub fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let wavefront = group * WAVEFRONTS + wavefront;
        let first = wavefront * LANES;
        let lanes = first..self.graph.nodes().min(first.saturating_add(LANES)).max(first);
        match launch {
            0 => steps(cursor, out, 1, |_, out| {
                store_span(out, self.at.base + u64::from(first) * WORD, lanes.len() as u64 * WORD);
            }),
            SAMPLE => steps(cursor, out, 1, |_, out| self.sample(first, out)),
            _ if launch == SAMPLE + 1 => {
                walk((Parts::new(&self.graph.offsets), &self.offsets), wavefront, cursor, out, self);
            }
            _ if launch % 2 == 1 && launch < SAMPLE => {
                steps(cursor, out, 5, |part, out| self.link((launch - 1) / 2, &lanes, part, out));
            }
            _ => {
                let before = if launch < SAMPLE { launch - 1 } else { SAMPLE };
                follow(&self.left[before as usize], &self.at, &lanes, cursor, out, |_, out| out.push(Op::END));
            }
        }
    }

    /// Each vertex and its neighbour of that round: ends of rows, neighbours, then a [`walk`](Self::walk).
    fn link(&self, round: u32, lanes: &Range<u32>, part: u32, out: &mut OpSink<'_>) {
        let with = lanes.clone().filter(|&vertex| self.graph.row(vertex).len() as u32 > round);
        let edge = |vertex: u32| self.graph.row(vertex).start + round;
        match part {
            _ if lanes.is_empty() => {}
            0 => {
                load_span(out, self.offsets.at(lanes.start.into(), WORD), (lanes.len() as u64 + 1) * WORD);
                push_all(out, &[Op::WAIT, cost::VERTEX]);
                load_lanes(out, with.map(|vertex| self.neighbours.at(edge(vertex).into(), WORD)));
                push_all(out, &[Op::WAIT, cost::ADDRESS]);
            }
            _ => {
                let pairs = with.map(|vertex| (vertex, self.graph.edges[edge(vertex) as usize]));
                self.walk(&self.left[2 * round as usize], pairs, part - 1, out);
            }
        }
    }

    /// Labels of one end, of the other, the label of the higher of these, and that stored if it is a root, as all are:
    /// trees are flat.
    fn walk(&self, labels: &[u32], pairs: impl Iterator<Item = (u32, u32)>, part: u32, out: &mut OpSink<'_>) {
        let (of, at) = (|vertex: u32| labels[vertex as usize], |vertex: u32| self.at.at(vertex.into(), WORD));
        let before = out.len();
        match part {
            0 => load_lanes(out, pairs.map(|(one, _)| at(one))),
            1 => load_lanes(out, pairs.map(|(_, other)| at(other))),
            _ => {
                let ends = pairs.map(|(one, other)| (of(one), of(other)));
                let higher = ends.filter(|(one, other)| one != other).map(|(one, other)| at(one.max(other)));
                if part == 2 { load_lanes(out, higher) } else { store_lanes(out, higher, WORD) }
            }
        }
        if out.len() > before && part < 3 {
            push_all(out, &[Op::WAIT, cost::ADDRESS]);
        }
    }

    /// The labels of vertices at equal distances, counted in local memory.
    fn sample(&self, first: u32, out: &mut OpSink<'_>) {
        let vertices = sampled(self.graph.nodes()).skip(first as usize).take(LANES as usize);
        load_lanes(out, vertices.map(|vertex| self.at.at(vertex.into(), WORD)));
        push_all(out, &[Op::WAIT, cost::SUM]);
        if first == 0 {
            store_span(out, self.sampled.base, WORD);
        }
    }
}

/// `link_rest`.
impl Visit for Afforest {
    const PARTS: u32 = 5;

    /// Ends of rows, and the labels of their vertices.
    fn rows(&self, Share { rows, .. }: &Share, out: &mut OpSink<'_>) {
        out.push(cost::SET_UP);
        let count = u64::from((rows.end + 1).min(self.graph.nodes()) - rows.start);
        load_span(out, self.offsets.at(rows.start.into(), WORD), (count + 1) * WORD);
        load_span(out, self.at.at(rows.start.into(), WORD), count * WORD);
        out.push(Op::WAIT);
    }

    /// Edges beyond the first of vertices outside the most frequent component.
    fn edges(&self, from: u32, edges: Range<u32>, part: u32, out: &mut OpSink<'_>) {
        let (all, labels) = (Parts::new(&self.graph.offsets), &self.left[2 * FIRST as usize]);
        let mut row = from;
        let of_rows = edges.map(|edge| {
            row = all.row_of(edge, row);
            (row, edge)
        });
        let rest = of_rows.filter(|&(row, edge)| edge - all.first(row) >= FIRST && labels[row as usize] != self.most);
        if part > 0 {
            let pairs = rest.map(|(row, edge)| (row, self.graph.edges[edge as usize]));
            return self.walk(labels, pairs, part - 1, out);
        }
        let before = out.len();
        load_lanes(out, rest.map(|(_, edge)| self.neighbours.at(edge.into(), WORD)));
        if out.len() > before {
            push_all(out, &[Op::WAIT, cost::ADDRESS]);
        }
    }
}

/// Joins the trees of two vertices.
fn link(labels: &mut [u32], vertex: u32, other: u32) {
    let (mut one, mut two) = (labels[vertex as usize], labels[other as usize]);
    while one != two {
        let (low, high) = (one.min(two), one.max(two));
        let above = labels[high as usize];
        if above == high {
            labels[high as usize] = low;
            return;
        }
        (one, two) = (labels[above as usize], labels[low as usize]);
    }
}

/// Every vertex gets the root of its tree, which is the lowest of it.
fn compress(labels: &mut [u32]) {
    for vertex in 0..labels.len() {
        labels[vertex] = labels[labels[vertex] as usize];
    }
}

/// The vertices that are looked at.
fn sampled(vertices: u32) -> impl Iterator<Item = u32> {
    let count = SAMPLES.min(vertices);
    (0..count).map(move |number| (u64::from(number) * u64::from(vertices) / u64::from(count)) as u32)
}

/// The label of most of the sample, the least of several.
fn most_frequent(labels: &[u32]) -> u32 {
    let mut found: Vec<u32> = sampled(labels.len() as u32).map(|vertex| labels[vertex as usize]).collect();
    found.sort_unstable();
    let groups = found.chunk_by(|one, other| one == other);
    groups.rev().max_by_key(|group| group.len()).map_or(0, |group| group[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_the_lowest_of_what_is_linked() {
        let path = Graph::from_pairs(7, &[(6, 5), (5, 4), (4, 6), (1, 3), (3, 6)]);
        assert_eq!(Afforest::new(path).labels(), [0, 1, 2, 1, 1, 1, 1]);
    }

    #[test]
    fn the_most_frequent_label_is_the_least_of_several() {
        assert_eq!(most_frequent(&[4, 1, 1, 2, 2]), 1);
        assert_eq!(most_frequent(&[3, 3, 1]), 3);
    }
}
