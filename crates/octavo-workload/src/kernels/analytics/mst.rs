//! The minimum spanning forest of a graph (Borůvka): every tree takes its lightest edge to another one, again and
//! again.
//!
//! Kernels: `start` writes each vertex's own number and no best edge. A round is `find`, `hook` and `flatten`. `find`
//! goes through all rows, edge-balanced: neighbours, weights, the labels of both ends; Where these differ, the row's
//! lightest edge joins the best one of its tree by an atomic minimum of weight and the other tree's label, eight bytes.
//! `hook`: the root of each tree loads its best edge and that of the tree it leads to, and hangs itself there; where
//! two chose each other, the lower stays. Its choice remains: the forest consists of the choices of all vertices that
//! are no roots. `flatten` follows labels to the roots, and clears the best edges of those. The host resets a word
//! (`state`) before each round and reads behind it whether any tree was hung.
//!
//! Weights are all different, the ranks of the edges in an order that is drawn, so that the forest is the only one.
//! Walks of a launch see the labels that the launch before has left, so that no stream depends on the order of
//! wavefronts.
//!
//! Scale 1 is soc-twitter-2010: 530 million arcs, each with a weight.

mod forest;

use std::ops::Range;

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::forest::{Forest, NONE};
use super::balance::{LANES, Parts, Share, WAVEFRONTS};
use super::cost;
use super::labels::follow;
use super::result::{Numbers, numbers, of_vertices};
use super::walk::{Visit, walk};
use crate::emit::{load_lanes, load_span, push_all, steps, store_lanes, store_span};
use crate::graphs::choice::GraphChoice;
use crate::graphs::edges::{Edges, Rows};
use crate::graphs::graph::Graph;

const WORD: u64 = 4;
/// Bytes of a best edge: its weight, and the label of the tree that it leads to.
const BEST: u64 = 8;
/// Launches of a round.
const ROUND: u32 = 3;

/// Options of `mst`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MstOptions {
    /// The graph; directions do not count. Default `soc-twitter-2010` (HUVM, USENIX ATC 2022).
    pub graph: GraphChoice,
}

/// The forest of one graph, found round by round.
pub struct Mst {
    graph: Graph,
    weights: Vec<u32>,
    forest: Forest,
    offsets: Buffer,
    neighbours: Buffer,
    weight: Buffer,
    label: Buffer,
    best: Buffer,
    state: Buffer,
    buffers: Vec<Buffer>,
}

impl Mst {
    /// The forest of `edges`, with weights from a seed.
    ///
    /// # Errors
    /// Graphs of more arcs than can be numbered.
    pub fn new(edges: &Edges, seed: u64) -> Result<Self, OptionError> {
        edges.few_enough(Rows::Both)?;
        let graph = edges.rows(Rows::Both);
        let weights = forest::ranks(&graph, seed);
        let forest = Forest::of(&graph, &weights);
        let (vertices, arcs) = (u64::from(graph.nodes()), (graph.edges.len() as u64).max(1));
        let mut space = AddressSpace::default();
        let offsets = space.allocate("offsets", (vertices + 1) * WORD);
        let neighbours = space.allocate("neighbours", arcs * WORD);
        let weight = space.allocate("weights", arcs * WORD);
        let label = space.allocate("labels", vertices * WORD);
        let best = space.allocate("best", vertices * BEST);
        let state = space.allocate("state", WORD);
        let buffers = space.buffers().to_vec();
        Ok(Self { graph, weights, forest, offsets, neighbours, weight, label, best, state, buffers })
    }

    /// The weight of each arc, in the order of the rows.
    #[must_use]
    pub fn weights(&self) -> &[u32] {
        &self.weights
    }

    /// For each vertex, the weight of the edge that attached its tree when it was the root; 0 if it still is.
    #[must_use]
    pub fn chosen(&self) -> &[u32] {
        &self.forest.chosen
    }

    /// Labels before a launch of a round.
    fn labels(&self, launch: u32) -> &[u32] {
        let [round, part] = [launch / ROUND, launch % ROUND];
        let round = &self.forest.rounds[round as usize];
        if part == 2 { &round.hooked } else { &round.labels }
    }

    fn start(&self, lanes: &Range<u32>, out: &mut OpSink<'_>) {
        if !lanes.is_empty() {
            out.push(cost::VERTEX);
            store_span(out, self.label.at(lanes.start.into(), WORD), lanes.len() as u64 * WORD);
            store_span(out, self.best.at(lanes.start.into(), BEST), lanes.len() as u64 * BEST);
        }
    }

    /// Labels and best edges of the lanes; best edges of the trees that roots would hang on; labels of those that do.
    fn hook(&self, round: u32, lanes: &Range<u32>, part: u32, out: &mut OpSink<'_>) {
        let round = &self.forest.rounds[round as usize];
        let other = |vertex: u32| round.best[vertex as usize].1;
        let is_root = |vertex: &u32| round.labels[*vertex as usize] == *vertex;
        let wanting = lanes.clone().filter(|vertex| is_root(vertex) && other(*vertex) != NONE);
        match part {
            _ if lanes.is_empty() => {}
            0 => {
                load_span(out, self.label.at(lanes.start.into(), WORD), lanes.len() as u64 * WORD);
                push_all(out, &[Op::WAIT, cost::VERTEX]);
                load_lanes(out, lanes.clone().filter(is_root).map(|vertex| self.best.at(vertex.into(), BEST)));
                push_all(out, &[Op::WAIT, cost::ADDRESS]);
            }
            1 if wanting.clone().next().is_some() => {
                load_lanes(out, wanting.map(|vertex| self.best.at(other(vertex).into(), BEST)));
                push_all(out, &[Op::WAIT, cost::VERTEX]);
            }
            _ => {
                let hung = wanting.filter(|&vertex| round.hooked[vertex as usize] != vertex);
                if hung.clone().next().is_some() && part == 2 {
                    store_lanes(out, hung.map(|vertex| self.label.at(vertex.into(), WORD)), WORD);
                    push_all(out, &[cost::SUM]);
                    store_span(out, self.state.base, WORD);
                }
            }
        }
    }

    /// Labels become those of the roots, which then clear their best edges.
    fn flatten(&self, labels: &[u32], lanes: &Range<u32>, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        follow(labels, &self.label, lanes, cursor, out, |part, out| {
            if part > 0 {
                return out.push(Op::END);
            }
            let roots = lanes.clone().filter(|&vertex| labels[vertex as usize] == vertex);
            store_lanes(out, roots.map(|vertex| self.best.at(vertex.into(), BEST)), BEST);
        });
    }
}

/// `find`, of one round.
struct Find<'a> {
    all: &'a Mst,
    labels: &'a [u32],
}

impl Visit for Find<'_> {
    const PARTS: u32 = 2;

    /// Ends of rows, and the labels of their vertices.
    fn rows(&self, Share { rows, .. }: &Share, out: &mut OpSink<'_>) {
        let all = self.all;
        out.push(cost::SET_UP);
        let count = u64::from((rows.end + 1).min(all.graph.nodes()) - rows.start);
        load_span(out, all.offsets.at(rows.start.into(), WORD), (count + 1) * WORD);
        load_span(out, all.label.at(rows.start.into(), WORD), count * WORD);
        out.push(Op::WAIT);
    }

    /// Where edges lead and their weights, then the best edges of trees that rows with edges to other trees belong to.
    fn edges(&self, from: u32, edges: Range<u32>, part: u32, out: &mut OpSink<'_>) {
        let (all, of) = (self.all, |vertex: u32| self.labels[vertex as usize]);
        let target = |edge: u32| all.graph.edges[edge as usize];
        if part == 0 {
            for buffer in [&all.neighbours, &all.weight] {
                load_span(out, buffer.at(edges.start.into(), WORD), edges.len() as u64 * WORD);
            }
            push_all(out, &[Op::WAIT, cost::ADDRESS]);
            load_lanes(out, edges.map(|edge| all.label.at(target(edge).into(), WORD)));
            return push_all(out, &[Op::WAIT, cost::REDUCE]);
        }
        let rows = Parts::new(&all.graph.offsets);
        let (mut row, mut last) = (from, None);
        let crossing = edges.filter_map(|edge| {
            row = rows.row_of(edge, row);
            (of(row) != of(target(edge)) && last.replace(row) != Some(row)).then_some(of(row))
        });
        store_lanes(out, crossing.map(|tree| all.best.at(tree.into(), BEST)), BEST);
    }
}

impl Workload for Mst {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        self.footprint()
    }

    fn launches(&self) -> u32 {
        1 + ROUND * self.forest.rounds.len() as u32
    }

    fn launch(&self, index: u32) -> Launch {
        let by_vertex = self.graph.nodes().div_ceil(LANES * WAVEFRONTS);
        let (kernel, work_groups) = match (index.checked_sub(1), index % ROUND) {
            (None, _) => ("start", by_vertex),
            (_, 1) => ("find", Parts::new(&self.graph.offsets).work_groups()),
            (_, 2) => ("hook", by_vertex),
            _ => ("flatten", by_vertex),
        };
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: WAVEFRONTS }
    }

    /// The host resets the state before each round, and examines it afterwards; in the end it reads the choices.
    fn host_side(&self) -> HostSide {
        let mut side = HostSide::of(&self.buffers)
            .inputs(["offsets", "neighbours", "weights"])
            .scratch(["labels", "state"])
            .outputs(["best"]);
        for first in (1..self.launches()).step_by(ROUND as usize) {
            side = side.writes_before(first, ["state"]).reads_before(first + ROUND, ["state"]);
        }
        side.build()
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let wavefront = group * WAVEFRONTS + wavefront;
        let first = wavefront * LANES;
        let lanes = first..self.graph.nodes().min(first.saturating_add(LANES)).max(first);
        let Some(launch) = launch.checked_sub(1) else {
            return steps(cursor, out, 1, |_, out| self.start(&lanes, out));
        };
        match launch % ROUND {
            0 => {
                let find = Find { all: self, labels: self.labels(launch) };
                walk((Parts::new(&self.graph.offsets), &self.offsets), wavefront, cursor, out, &find);
            }
            1 => steps(cursor, out, 3, |part, out| self.hook(launch / ROUND, &lanes, part, out)),
            _ => self.flatten(self.labels(launch), &lanes, cursor, out),
        }
    }

    fn result(&self) -> Numbers {
        let chosen = self.chosen().iter().map(|&weight| if weight == 0 { f64::INFINITY } else { weight.into() });
        let mut found = of_vertices("chosen", chosen.collect(), &self.graph);
        found.push(("weights", numbers(&self.weights)));
        found
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "mst",
    summary: "minimum spanning forest of a graph, round by round over all edges, edge-balanced",
    source: "Borůvka's algorithm; one of MemMap's applications (PACT 2020), graphs from HUVM (USENIX ATC 2022)",
    schema: typed::schema::<MstOptions>,
    resolve: typed::resolve::<MstOptions>,
    build: |options, size: &Size| {
        let options: MstOptions = typed::parse(options)?;
        Ok(Box::new(Mst::new(&options.graph.edges(size)?, size.seed)?))
    },
};
