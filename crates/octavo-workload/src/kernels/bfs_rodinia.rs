//! Breadth-first search (Rodinia `bfs`): a node for each thread, two launches for each level.
//!
//! The first kernel looks at a mask of the frontier, one byte a node. The lanes on the frontier clear their byte, read
//! where their edges are and follow them one after another, each at its own pace. They load the edge and whether its
//! target was visited. If not, they store the target's cost and mark it in a second mask. The second kernel makes the
//! marked nodes the next frontier, visited, and sets a flag that asks the host for one more pair of launches.
//! Work-groups of
//! 512. `bfs-shoc` is the same search by teams of lanes (SHOC).
//!
//! The graph is generated and searched for real. Nodes count as visited only from the next level on, so which stores
//! are made does not depend on the order of wavefronts. Rodinia's generator gives each node a few undirected edges to
//! random nodes, six a node in all; so does [`Graph::uniform`] with degree 6.
//!
//! Scale 1 is Rodinia's largest graph, a million nodes, 37 MB; or the 16 million of the Grace Hopper study.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_lanes, load_span, push_all, steps, store_lanes, store_span};
use crate::inputs::Input;
use crate::kernels::bfs_shoc::{Graph, UNREACHED};
use crate::scale;

/// Bytes of an edge and of a cost, and of what a node says about its edges (the first, their number).
const WORD: u64 = 4;
const RECORD: u64 = 2 * WORD;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Threads of a work-group.
const GROUP: u64 = 512;
/// Nodes at scale 1: Rodinia's largest graph, and the Grace Hopper study's graph; and at most.
const USUAL_NODES: [u64; 2] = [1_000_000, 16_000_000];
const MOST_NODES: u64 = 1 << 27;
/// Parts of a turn over the edges.
const PARTS: u32 = 4;

/// Instructions of the kernels, compiled for GCN3: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const LOCATE: Op = Op::mix(1, 1, 0, 0);
    pub const COMPARE: Op = Op::mix(1, 1, 0, 1);
    pub const BEFORE_ARGUMENTS: Op = Op::mix(1, 0, 0, 0);
    pub const BEFORE_MASK: Op = Op::mix(3, 0, 0, 0);
    pub const TEST: Op = Op::mix(1, 1, 0, 1);
    pub const BEFORE_CLEAR: Op = Op::mix(1, 0, 0, 0);
    pub const BEFORE_COUNT: Op = Op::mix(6, 0, 0, 0);
    pub const BEFORE_FIRST: Op = Op::mix(4, 0, 0, 0);
    pub const DURING_FIRST: Op = Op::mix(6, 1, 0, 0);
    pub const BEFORE_EDGES: Op = Op::mix(5, 0, 0, 1);
    pub const DURING_EDGE: Op = Op::mix(1, 0, 0, 0);
    pub const BEFORE_VISITED: Op = Op::mix(3, 0, 0, 0);
    pub const DURING_COST: Op = Op::mix(7, 0, 0, 0);
    pub const BEFORE_STORES: Op = Op::mix(1, 0, 0, 0);
    pub const AFTER_STORES: Op = Op::mix(0, 0, 0, 1);
    pub const BEFORE_NEXT: Op = Op::mix(1, 1, 0, 0);
    pub const NEXT: Op = Op::mix(4, 2, 0, 1);

    pub const BEFORE_SETS: Op = Op::mix(9, 0, 0, 0);
    pub const BEFORE_UNMARK: Op = Op::mix(1, 0, 0, 0);
}

/// Options of `bfs-rodinia`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BfsRodiniaOptions {
    /// The source of the input: `own` or `grace-hopper`. Default `own`.
    #[serde(skip_serializing_if = "Input::is_own")]
    pub input: Input,
    /// Edges of a node on average, both directions counted, 1 to 64. Default 6 (Rodinia's generator).
    pub degree: u32,
    /// Nodes, 2 to 2^27. Default: a million times the scale (Rodinia's largest graph),
    /// or 16 million (Grace Hopper study).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
}

impl Default for BfsRodiniaOptions {
    fn default() -> Self {
        Self { input: Input::Own, degree: 6, nodes: None }
    }
}

/// A search of one graph from node 0.
pub struct BfsRodinia {
    graph: Graph,
    /// Distance of each node from node 0.
    levels: Vec<u32>,
    depth: u32,
    nodes: Buffer,
    edges: Buffer,
    mask: Buffer,
    updating: Buffer,
    visited: Buffer,
    cost: Buffer,
    over: Buffer,
    buffers: Vec<Buffer>,
}

impl BfsRodinia {
    /// A search of `graph`, which has at least one node.
    #[must_use]
    pub fn new(graph: Graph) -> Self {
        let levels = levels(&graph);
        let depth = levels.iter().copied().filter(|level| *level != UNREACHED).max().unwrap_or_default();
        let (count, edge_count) = (u64::from(graph.nodes()), graph.edges.len() as u64);
        let mut space = AddressSpace::default();
        let nodes = space.allocate("graph_nodes", count * RECORD);
        // A graph without edges still gets an array.
        let edges = space.allocate("graph_edges", edge_count.max(1) * WORD);
        let [mask, updating, visited] =
            ["graph_mask", "updating_graph_mask", "graph_visited"].map(|name| space.allocate(name, count));
        let cost = space.allocate("cost", count * WORD);
        let over = space.allocate("over", 1);
        let buffers = space.buffers().to_vec();
        Self { graph, levels, depth, nodes, edges, mask, updating, visited, cost, over, buffers }
    }

    /// What is searched.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    fn expand(&self, level: u32, lanes: Lanes, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let turns = lanes.on_level().map(|node| self.degree(node)).max();
        steps(cursor, out, 1 + PARTS * turns.unwrap_or_default(), |step, out| {
            if step == 0 {
                self.look(lanes, out);
            } else {
                self.follow(level, lanes, (step - 1) / PARTS, (step - 1) % PARTS, out);
            }
        });
    }

    /// Reads the mask; the lanes on the frontier clear it and read their records.
    fn look(&self, lanes: Lanes, out: &mut OpSink<'_>) {
        self.load_mask(&self.mask, lanes, out);
        let frontier = lanes.on_level();
        if frontier.clone().next().is_none() {
            return;
        }
        let record = |node: u32| self.nodes.at(node.into(), RECORD);
        out.push(cost::BEFORE_CLEAR);
        store_lanes(out, frontier.clone().map(|node| self.mask.at(node.into(), 1)), 1);
        out.push(cost::BEFORE_COUNT);
        load_lanes(out, frontier.clone().map(|node| record(node) + WORD));
        push_all(out, &[Op::WAIT, cost::TEST]);
        let with_edges = frontier.filter(|node| self.degree(*node) > 0);
        if with_edges.clone().next().is_some() {
            out.push(cost::BEFORE_FIRST);
            load_lanes(out, with_edges.map(record));
            push_all(out, &[cost::DURING_FIRST, Op::WAIT, cost::BEFORE_EDGES]);
        }
    }

    /// One part of a turn in which each lane follows one of its edges.
    fn follow(&self, level: u32, lanes: Lanes, turn: u32, part: u32, out: &mut OpSink<'_>) {
        let active = lanes.on_level().filter(move |node| turn < self.degree(*node));
        let edge = |node: u32| self.graph.offsets[node as usize] + turn;
        let target = |node: u32| self.graph.edges[edge(node) as usize];
        let reached = |node: &u32| self.levels[target(*node) as usize] > level;
        match part {
            0 => {
                load_lanes(out, active.map(|node| self.edges.at(edge(node).into(), WORD)));
                push_all(out, &[cost::DURING_EDGE, Op::WAIT, cost::BEFORE_VISITED]);
            }
            1 => {
                load_lanes(out, active.clone().map(|node| self.visited.at(target(node).into(), 1)));
                push_all(out, &[Op::WAIT, cost::TEST]);
                let finders = active.filter(reached).map(|node| self.cost.at(node.into(), WORD));
                if finders.clone().next().is_some() {
                    load_lanes(out, finders);
                    push_all(out, &[cost::DURING_COST, Op::WAIT, cost::BEFORE_STORES]);
                }
            }
            2 => store_lanes(out, active.filter(reached).map(|node| self.cost.at(target(node).into(), WORD)), WORD),
            _ => {
                let finders = active.filter(reached);
                if finders.clone().next().is_some() {
                    store_lanes(out, finders.clone().map(|node| self.updating.at(target(node).into(), 1)), 1);
                    // The stores may have changed the records, as far as the compiler knows.
                    load_lanes(out, finders.map(|node| self.nodes.at(node.into(), RECORD)));
                    out.push(cost::AFTER_STORES);
                }
                push_all(out, &[cost::BEFORE_NEXT, Op::WAIT, cost::NEXT]);
            }
        }
    }

    /// The second kernel, for the nodes of the next level.
    fn advance(&self, lanes: Lanes, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        steps(cursor, out, 1, |_, out| {
            self.load_mask(&self.updating, lanes, out);
            let marked = lanes.on_level();
            if marked.clone().next().is_none() {
                return;
            }
            let bytes_of = |buffer: &Buffer| {
                let base = buffer.base;
                marked.clone().map(move |node| base + u64::from(node))
            };
            out.push(cost::BEFORE_SETS);
            store_lanes(out, bytes_of(&self.mask), 1);
            store_lanes(out, bytes_of(&self.visited), 1);
            store_span(out, self.over.base, 1);
            out.push(cost::BEFORE_UNMARK);
            store_lanes(out, bytes_of(&self.updating), 1);
        });
    }

    /// The beginning of both kernels.
    fn load_mask(&self, mask: &Buffer, lanes: Lanes, out: &mut OpSink<'_>) {
        // The waits are for kernel arguments, all but the last.
        push_all(out, &[cost::LOCATE, Op::WAIT, cost::COMPARE]);
        if lanes.count > 0 {
            push_all(out, &[cost::BEFORE_ARGUMENTS, Op::WAIT, cost::BEFORE_MASK]);
            load_span(out, mask.at(lanes.first.into(), 1), lanes.count.into());
            push_all(out, &[Op::WAIT, cost::TEST]);
        }
    }

    fn degree(&self, node: u32) -> u32 {
        self.graph.offsets[node as usize + 1] - self.graph.offsets[node as usize]
    }
}

/// The nodes of a wavefront.
#[derive(Clone, Copy)]
struct Lanes {
    first: u32,
    count: u32,
    /// A bit for each of those on the level that the launch is about.
    on_level: u64,
}

impl Lanes {
    fn new(bfs: &BfsRodinia, first: u32, level: u32) -> Self {
        let count = WAVEFRONT_LANES.min(bfs.graph.nodes().saturating_sub(first));
        let levels = if count == 0 { &[] } else { &bfs.levels[first as usize..(first + count) as usize] };
        let on_level = levels.iter().rev().fold(0, |bits, found| bits << 1 | u64::from(*found == level));
        Self { first, count, on_level }
    }

    /// The vertices on the level, in lane order.
    fn on_level(self) -> impl Iterator<Item = u32> + Clone {
        let mut left = self.on_level;
        std::iter::from_fn(move || {
            let lane = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(self.first + lane)
        })
    }
}

/// Distance of each node from node 0, [`UNREACHED`] where there is no path.
fn levels(graph: &Graph) -> Vec<u32> {
    let mut levels = vec![UNREACHED; graph.nodes() as usize];
    levels[0] = 0;
    let mut frontier = vec![0];
    for level in 1.. {
        let mut next = Vec::new();
        for node in frontier {
            for edge in graph.offsets[node]..graph.offsets[node + 1] {
                let target = graph.edges[edge as usize] as usize;
                if levels[target] == UNREACHED {
                    levels[target] = level;
                    next.push(target);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        frontier = next;
    }
    levels
}

impl Workload for BfsRodinia {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        self.footprint()
    }

    /// Before each further level the host looks at the flag and resets it.
    fn host_side(&self) -> HostSide {
        let mut side = HostSide::of(self.buffers())
            .inputs([
                "graph_nodes",
                "graph_edges",
                "graph_mask",
                "updating_graph_mask",
                "graph_visited",
                "cost",
                "over",
            ])
            .outputs(["cost", "over"]);
        for level in (2..self.launches()).step_by(2) {
            side = side.reads_before(level, ["over"]).writes_before(level, ["over"]);
        }
        side.build()
    }

    /// The last pair finds that there is no further level.
    fn launches(&self) -> u32 {
        2 * (self.depth + 1)
    }

    fn launch(&self, index: u32) -> Launch {
        let work_groups = u64::from(self.graph.nodes()).div_ceil(GROUP) as u32;
        let kernel = ["Kernel", "Kernel2"][index as usize % 2];
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: (GROUP / LANES) as u32 }
    }

    fn resources(&self, index: u32) -> Resources {
        match index % 2 {
            0 => Resources { vector_registers: 15, scalar_registers: 18, local_data_bytes: 0 },
            _ => Resources { vector_registers: 10, scalar_registers: 10, local_data_bytes: 0 },
        }
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = group * GROUP as u32 + wavefront * WAVEFRONT_LANES;
        match launch % 2 {
            0 => self.expand(launch / 2, Lanes::new(self, first, launch / 2), cursor, out),
            _ => self.advance(Lanes::new(self, first, launch / 2 + 1), cursor, out),
        }
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "bfs-rodinia",
    summary: "breadth-first search, a node for each lane: masks are streamed, edges and targets gathered",
    source: "Rodinia bfs; one of Mosaic's applications (MICRO 2017), graph of Rodinia's largest size",
    schema: typed::schema::<BfsRodiniaOptions>,
    resolve: typed::resolve::<BfsRodiniaOptions>,
    build: |options, size: &Size| {
        let BfsRodiniaOptions { input, degree, nodes } = typed::parse(options)?;
        if !(1..=64).contains(&degree) {
            return Err(OptionError::new("degree", format!("expected 1 to 64, found {degree}")));
        }
        let key = if nodes.is_some() { "nodes" } else { "scale" };
        let usual = input.either(USUAL_NODES[0], USUAL_NODES[1]);
        let nodes = scale::chosen(key, nodes, usual, size.scale, 1, MOST_NODES)?;
        if nodes < 2 {
            return Err(OptionError::new(key, format!("expected 2 to {MOST_NODES} nodes, found {nodes}")));
        }
        if nodes * u64::from(degree) >= 1 << 31 {
            let message = format!("{degree} edges for each of {nodes} nodes are more than 2^31");
            return Err(OptionError::new("degree", message));
        }
        Ok(Box::new(BfsRodinia::new(Graph::uniform(nodes as u32, degree, size.seed))))
    },
};
