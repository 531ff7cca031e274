//! Breadth-first search (SHOC `BFS_kernel_warp`): level-synchronous, one launch for each level of a random graph.
//!
//! Threads work in teams of 32: the team's lanes look at 32 nodes one after another, all at the same one. Where its
//! level is the launch's they follow its edges, one for each lane and turn. So one thread is started for each node,
//! rounded up to the work-group of 1024, and a wavefront is two teams. Each node costs a load of its level: two lines a
//! wavefront and turn, most of the accesses. A node of the frontier costs a load of its edge offsets, an 8-byte pair
//! that may lie on two lines. Each turn over the neighbours costs a load of edges and a gather of the targets' levels.
//! Where a target is unreached, its level is stored, and the flag that asks for one more launch. Every load is waited
//! for. Levels start as 2^32 - 1, node 0 as 0; the host resets the flag.
//!
//! The graph is generated and searched for real; see [`Graph`] and, for how the kernel's race over levels is decided,
//! `search.rs`. Kernel arguments are scalar loads and left out.
//!
//! Only the levels (and the flag) are shared between GPUs. They are a tenth of the pages, but nine tenths of the
//! accesses go to them. Offsets and edges are read by the one GPU whose work-groups own the nodes. The publication says
//! the reverse (most pages shared, few accesses to them), for an input that it does not name.
//!
//! Published footprint 32 MB: 838,860 nodes of average degree 8.

mod search;

use std::ops::Range;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, LINE_BYTES, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::search::UNREACHED;
use self::search::{NODES, Search, TEAM, edges_of_trip};
use crate::emit::{WAVEFRONT_LANES, load_ascending, load_lanes, store_lanes, store_span};
pub use crate::graphs::graph::Graph;
use crate::scale;

/// Bytes of a level, an offset, an edge, the flag.
const WORD: u64 = 4;
/// Wavefronts of a work-group: 1024 threads.
const WAVEFRONTS: u32 = 16;
const PUBLISHED_BYTES: u64 = 32 * scale::MEGABYTE;

/// Instructions of the compiled GCN3 kernel: the division that finds the team, alone and with the set-up of teams that
/// have nodes, and then as named.
const BEFORE_ARGUMENTS: Mix = Mix::new(2, 3, 0);
const FIND_TEAM: Mix = Mix::new(41, 5, 1);
const SET_UP: Mix = Mix::new(46, 6, 1);
const BEFORE_LEVEL: Mix = Mix::new(5, 1, 0);
const AFTER_LEVEL: Mix = Mix::new(1, 1, 1);
const BEFORE_OFFSETS: Mix = Mix::new(4, 0, 0);
const AFTER_OFFSETS: Mix = Mix::new(2, 1, 1);
const BEFORE_TURNS: Mix = Mix::new(2, 1, 0);
const BEFORE_EDGES: Mix = Mix::new(6, 0, 0);
const DURING_EDGES: Mix = Mix::new(1, 0, 0);
const BEFORE_TARGETS: Mix = Mix::new(4, 0, 0);
const AFTER_TARGETS: Mix = Mix::new(1, 0, 0);
const BEFORE_STORE: Mix = Mix::new(1, 1, 0);
const BEFORE_FLAG: Mix = Mix::new(3, 0, 0);
const AFTER_TURN: Mix = Mix::new(3, 3, 1);
const AFTER_TURNS: Mix = Mix::new(0, 2, 0);
const AFTER_NODE: Mix = Mix::new(2, 2, 1);
const AFTER_NODES: Mix = Mix::new(0, 1, 0);

/// Vector, scalar and branch instructions in one word of a cursor, at most 255 of each.
#[derive(Clone, Copy, Debug, Default)]
struct Mix(u32);

impl Mix {
    const fn new(vector: u32, scalar: u32, branch: u32) -> Self {
        Self(vector | scalar << 8 | branch << 16)
    }

    const fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    const fn op(self) -> Op {
        Op::mix(self.0 & 0xFF, self.0 >> 8 & 0xFF, 0, self.0 >> 16)
    }
}

/// Operations at most, of looking at a node and loading its offsets; of loading edges and their targets' levels; of
/// storing levels and the flag.
const LOOK_OPS: usize = 14;
const GATHER_OPS: usize = 8 + WAVEFRONT_LANES as usize;
const MARK_OPS: usize = 3 + WAVEFRONT_LANES as usize;

/// How the graph is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A random tree and random further edges: connected (MGPUSim).
    #[default]
    RandomTree,
    /// Random edges only: some nodes may never be reached.
    Uniform,
    /// The regular tree with `degree` children a node, numbered level by level (SHOC).
    KWay,
}

/// Options of `bfs-shoc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BfsShocOptions {
    /// Edges of a node on average, both directions counted (`k-way`: children of a node). Default 8, this project's
    /// choice: the published input is not known; MGPUSim's default is 3, SHOC's 2.
    pub degree: u32,
    /// How the graph is made. Default `random-tree` (MGPUSim).
    pub shape: Shape,
    /// Nodes, at least 2. Default: enough for a footprint of 32 MB times the scale (GRIT, table of applications).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
}

impl Default for BfsShocOptions {
    fn default() -> Self {
        Self { degree: 8, shape: Shape::RandomTree, nodes: None }
    }
}

impl BfsShocOptions {
    /// The graph of footprint `size`.
    fn graph(&self, size: &Size) -> Result<Graph, OptionError> {
        let Self { degree, shape, nodes: given } = *self;
        let least = if shape == Shape::Uniform { 1 } else { 2 };
        if degree < least {
            return Err(OptionError::new(
                "degree",
                format!("expected at least {least} for this shape, found {degree}"),
            ));
        }
        // A tree has two directed edges for each node, with any number of children.
        let edges = if shape == Shape::KWay { 2 } else { u64::from(degree) };
        let fitting = || scale::length(PUBLISHED_BYTES / (WORD * (2 + edges)), size.scale, 1);
        let nodes = given.map_or_else(fitting, |nodes| scale::given("nodes", nodes))?;
        if nodes < 2 || nodes * edges >= 1 << 31 {
            let message = format!("{nodes} nodes of degree {degree} are not a graph of 2 nodes to 2^31 edges");
            return Err(OptionError::new(if given.is_some() { "nodes" } else { "scale" }, message));
        }
        Ok(match shape {
            Shape::RandomTree => Graph::random_tree(nodes as u32, degree, size.seed),
            Shape::Uniform => Graph::uniform(nodes as u32, degree, size.seed),
            Shape::KWay => Graph::k_way(nodes as u32, degree),
        })
    }
}

/// A search of one graph from node 0.
pub struct BfsShoc {
    graph: Graph,
    search: Search,
    levels: Buffer,
    offsets: Buffer,
    edges: Buffer,
    flag: Buffer,
    buffers: Vec<Buffer>,
}

impl BfsShoc {
    /// A search of `graph`, which has at least one node.
    #[must_use]
    pub fn new(graph: Graph) -> Self {
        let mut space = AddressSpace::default();
        let levels = space.allocate("levels", u64::from(graph.nodes()) * WORD);
        let offsets = space.allocate("edge_offsets", graph.offsets.len() as u64 * WORD);
        let edges = space.allocate("edges", graph.edges.len() as u64 * WORD);
        let flag = space.allocate("flag", WORD);
        let search = Search::run(&graph);
        Self { graph, search, levels, offsets, edges, flag, buffers: space.buffers().to_vec() }
    }

    /// What is searched.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Level of each node after the last launch, [`UNREACHED`] where there is no path from node 0.
    #[must_use]
    pub fn levels(&self) -> &[u32] {
        &self.search.levels
    }
}

impl Workload for BfsShoc {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        self.footprint()
    }

    /// Before each further launch the host looks at the flag and resets it.
    fn host_side(&self) -> HostSide {
        let mut side = HostSide::of(self.buffers())
            .inputs(["levels", "edge_offsets", "edges", "flag"])
            .outputs(["levels", "flag"]);
        for launch in 1..self.launches() {
            side = side.reads_before(launch, ["flag"]).writes_before(launch, ["flag"]);
        }
        side.build()
    }

    fn launches(&self) -> u32 {
        self.search.launches
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.graph.nodes().div_ceil(NODES * WAVEFRONTS);
        Launch { kernel: "BFS_kernel_warp".into(), work_groups, wavefronts_per_group: WAVEFRONTS }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 10, scalar_registers: 26, local_data_bytes: 0 }
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = (group * WAVEFRONTS + wavefront) * NODES;
        if first >= self.graph.nodes() {
            arguments(out);
            out.push(FIND_TEAM.op());
            return out.push(Op::END);
        }
        let mut walk = Walk::resume(self, launch, first, *cursor);
        while !walk.ended && out.remaining() >= walk.phase.most_ops() {
            match walk.phase {
                Phase::Look => walk.look(out),
                Phase::Gather => walk.gather(out),
                Phase::Mark => walk.mark(out),
            }
        }
        *cursor = walk.pause();
    }
}

/// Waits for the kernel arguments: the first ones, and the team's.
fn arguments(out: &mut OpSink<'_>) {
    out.push(Op::WAIT);
    out.push(BEFORE_ARGUMENTS.op());
    out.push(Op::WAIT);
}

/// The next part of a wavefront.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Look at a node's level and, on the frontier, its offsets.
    Look,
    /// Load edges and the levels of their targets.
    Gather,
    /// Store the levels of unreached targets.
    Mark,
}

impl Phase {
    #[inline]
    fn most_ops(self) -> usize {
        match self {
            Self::Look => LOOK_OPS,
            Self::Gather => GATHER_OPS,
            Self::Mark => MARK_OPS,
        }
    }
}

/// A wavefront on its way through its nodes.
struct Walk<'a> {
    bfs: &'a BfsShoc,
    /// The launch, which is the level it expands.
    level: u32,
    /// First node of the wavefront.
    first: u32,
    /// Turn over the nodes: the teams look at `first + step` and `first + 32 + step`.
    step: u32,
    phase: Phase,
    /// Turn over the neighbours.
    trip: u32,
    /// Instructions since the last operation pushed.
    pending: Mix,
    ended: bool,
}

impl<'a> Walk<'a> {
    #[inline]
    fn resume(bfs: &'a BfsShoc, level: u32, first: u32, Cursor([step, phase, trip, pending]): Cursor) -> Self {
        let phase = [Phase::Look, Phase::Gather, Phase::Mark][phase as usize];
        Self { bfs, level, first, step, phase, trip, pending: Mix(pending), ended: false }
    }

    #[inline]
    fn pause(&self) -> Cursor {
        Cursor([self.step, self.phase as u32, self.trip, self.pending.0])
    }

    #[inline]
    fn frontier(&self) -> [Option<u32>; 2] {
        self.bfs.search.frontier(self.level, self.first, self.step)
    }

    /// Pushes `instructions` and those pending.
    #[inline]
    fn compute(&mut self, out: &mut OpSink<'_>, instructions: Mix) {
        out.push(self.pending.plus(instructions).op());
        self.pending = Mix::default();
    }

    /// Has `instructions` pushed with the next ones.
    #[inline]
    fn later(&mut self, instructions: Mix) {
        self.pending = self.pending.plus(instructions);
    }

    #[inline]
    fn look(&mut self, out: &mut OpSink<'_>) {
        let node = self.first + self.step;
        if self.step == TEAM || node >= self.bfs.graph.nodes() {
            self.compute(out, AFTER_NODES);
            self.ended = true;
            return out.push(Op::END);
        }
        if self.step == 0 {
            arguments(out);
            out.push(SET_UP.op());
            out.push(Op::WAIT);
        }
        self.compute(out, BEFORE_LEVEL);
        let line = (self.bfs.levels.base + u64::from(node) * WORD) / LINE_BYTES;
        if node + TEAM < self.bfs.graph.nodes() {
            // The teams' nodes are 128 bytes apart: never on the same line, never on neighbouring ones.
            out.push(Op::load(line, 1).continued());
            out.push(Op::load(line + u64::from(TEAM) * WORD / LINE_BYTES, 1));
        } else {
            out.push(Op::load(line, 1));
        }
        out.push(Op::WAIT);
        self.later(AFTER_LEVEL);
        let frontier = self.frontier();
        if frontier == [None, None] { self.next_node() } else { self.load_offsets(out, frontier) }
    }

    fn load_offsets(&mut self, out: &mut OpSink<'_>, frontier: [Option<u32>; 2]) {
        self.compute(out, BEFORE_OFFSETS);
        let offsets = self.bfs.offsets.base;
        let pair = |node: u32| (offsets + u64::from(node) * WORD, 2 * WORD);
        load_ascending(out, frontier.into_iter().flatten().map(pair));
        out.push(Op::WAIT);
        self.later(AFTER_OFFSETS);
        if edges_of_trip(&self.bfs.graph, frontier, 0).is_some() {
            self.later(BEFORE_TURNS);
            (self.phase, self.trip) = (Phase::Gather, 0);
        } else {
            self.later(AFTER_TURNS);
            self.next_node();
        }
    }

    fn gather(&mut self, out: &mut OpSink<'_>) {
        let BfsShoc { graph, edges: edge_list, levels, .. } = self.bfs;
        let Some(edges) = edges_of_trip(graph, self.frontier(), self.trip) else { unreachable!("a turn has edges") };
        self.compute(out, BEFORE_EDGES);
        let span = |edges: &Range<u32>| (edge_list.base + u64::from(edges.start) * WORD, edges.len() as u64 * WORD);
        load_ascending(out, edges.iter().map(span));
        out.push(DURING_EDGES.op());
        out.push(Op::WAIT);
        out.push(BEFORE_TARGETS.op());
        load_lanes(
            out,
            edges.into_iter().flatten().map(|edge| levels.base + u64::from(graph.edges[edge as usize]) * WORD),
        );
        out.push(Op::WAIT);
        self.later(AFTER_TARGETS);
        self.phase = Phase::Mark;
    }

    fn mark(&mut self, out: &mut OpSink<'_>) {
        let BfsShoc { graph, search, levels, flag, .. } = self.bfs;
        let frontier = self.frontier();
        let lanes = edges_of_trip(graph, frontier, self.trip).into_iter().flatten().flatten();
        let writers = lanes.filter(|&edge| search.writes(edge));
        let count = writers.clone().count() as u64;
        // The kernel does not branch around the stores: without writers their instructions still issue.
        if count > 0 {
            self.compute(out, BEFORE_STORE);
            let addresses = writers.map(|edge| levels.base + u64::from(graph.edges[edge as usize]) * WORD);
            store_lanes(out, addresses, WORD);
            self.compute(out, BEFORE_FLAG);
            store_span(out, flag.base, WORD);
        } else {
            self.later(BEFORE_STORE.plus(BEFORE_FLAG));
        }
        self.later(AFTER_TURN);
        self.phase = Phase::Gather;
        self.trip += 1;
        if edges_of_trip(graph, frontier, self.trip).is_none() {
            self.later(AFTER_TURNS);
            self.next_node();
        }
    }

    #[inline]
    fn next_node(&mut self) {
        self.later(AFTER_NODE);
        self.phase = Phase::Look;
        self.step += 1;
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "bfs-shoc",
    summary: "breadth-first search of a random graph: random pattern, few pages shared but by most accesses",
    source: "SHOC BFS (BFS_kernel_warp), as shipped with MGPUSim v4.2.0; footprint from GRIT (HPCA 2024), application table",
    schema: typed::schema::<BfsShocOptions>,
    resolve: typed::resolve::<BfsShocOptions>,
    build: |options, size: &Size| {
        let options: BfsShocOptions = typed::parse(options)?;
        Ok(Box::new(BfsShoc::new(options.graph(size)?)))
    },
};
