//! Sweeps: every vertex gathers from all of its row, then becomes something, until nothing changes much. The common
//! parts of `PageRank`, connected components and shortest paths.
//!
//! Kernels: `start` writes each vertex's value. Then, again and again, `gather` goes through all rows, edge-balanced.
//! It searches for its part, loads ends of rows, neighbours (and weights), gathers the neighbours' values, and stores
//! the result of each row; a row that several wavefronts share gets it by atomics. `apply` loads that, and the vertex's
//! own value, and stores what changes. The host looks at a few numbers (`state`) behind each round and resets them.

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink};

use super::balance::{LANES, Parts, Share, WAVEFRONTS};
use super::cost;
use super::walk::{Visit, walk};
use crate::emit::{load_lanes, load_span, push_all, steps, store_lanes, store_span};
use crate::graphs::graph::Graph;

/// Bytes of a number of a vertex, of a neighbour, of an end of a row.
pub const WORD: u64 = 4;
/// Bytes that the host reads: two numbers of 8 bytes.
const STATE: u64 = 16;

/// The differences of a program of sweeps from others.
pub struct Shape {
    /// Names of the kernels.
    pub kernels: [&'static str; 3],
    /// Numbers that a vertex keeps, each with the name of its buffer; the host reads the first in the end.
    pub kept: &'static [&'static str],
    /// Numbers that the host gives for each vertex.
    pub given: &'static [&'static str],
    /// Index in `kept` of the values that neighbours gather.
    pub gathered: usize,
    /// The name of the numbers of edges, if they have some.
    pub edges: Option<&'static str>,
}

/// Which vertices change in which round.
pub enum Changes {
    /// All in each of this many rounds.
    All(u32),
    /// The vertices of a list, by round: a bit for each vertex.
    Some(Vec<Bits>),
}

/// A bit for each vertex.
pub struct Bits(pub Vec<u64>);

impl Bits {
    /// The vertices for which `is` holds.
    pub fn of(vertices: u32, is: impl Fn(u32) -> bool) -> Self {
        let word = |first: u32| {
            let bits = (first..vertices.min(first.saturating_add(64))).filter(|&vertex| is(vertex));
            bits.fold(0, |word, vertex| word | 1 << (vertex - first))
        };
        Self((0..vertices).step_by(64).map(word).collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}

/// A program of sweeps over one graph.
pub struct Sweeps {
    shape: Shape,
    graph: Graph,
    changes: Changes,
    offsets: Buffer,
    neighbours: Buffer,
    edges: Option<Buffer>,
    given: Vec<Buffer>,
    kept: Vec<Buffer>,
    sums: Buffer,
    state: Buffer,
    buffers: Vec<Buffer>,
}

impl Sweeps {
    pub fn new(shape: Shape, graph: Graph, changes: Changes) -> Self {
        let mut space = AddressSpace::default();
        let vertices = u64::from(graph.nodes());
        // A graph without edges still gets an array.
        let arcs = (graph.edges.len() as u64).max(1);
        let offsets = space.allocate("offsets", (vertices + 1) * WORD);
        let neighbours = space.allocate("neighbours", arcs * WORD);
        let edges = shape.edges.map(|name| space.allocate(name, arcs * WORD));
        let mut each = |names: &[&str]| names.iter().map(|name| space.allocate(name, vertices * WORD)).collect();
        let (given, kept) = (each(shape.given), each(shape.kept));
        let sums = space.allocate("sums", vertices * WORD);
        let state = space.allocate("state", STATE);
        let buffers = space.buffers().to_vec();
        Self { shape, graph, changes, offsets, neighbours, edges, given, kept, sums, state, buffers }
    }

    fn rounds(&self) -> u32 {
        match &self.changes {
            Changes::All(rounds) => *rounds,
            Changes::Some(rounds) => rounds.len() as u32,
        }
    }

    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The rows that are gathered from.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    pub fn launches(&self) -> u32 {
        1 + 2 * self.rounds()
    }

    pub fn launch(&self, index: u32) -> Launch {
        let kernel = self.shape.kernels[kernel_of(index)];
        let by_vertex = self.graph.nodes().div_ceil(LANES * WAVEFRONTS);
        let work_groups = if kernel_of(index) == 1 { Parts::new(&self.graph.offsets).work_groups() } else { by_vertex };
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: WAVEFRONTS }
    }

    /// The host resets the state before each round, and looks at it behind.
    pub fn host_side(&self) -> HostSide {
        let inputs = ["offsets", "neighbours"].into_iter().chain(self.shape.edges);
        let mut side = HostSide::of(&self.buffers)
            .inputs(inputs.chain(self.shape.given.iter().copied()))
            .scratch(self.shape.kept.iter().copied().chain(["sums", "state"]))
            .outputs([self.shape.kept[0]]);
        for round in 0..self.rounds() {
            side = side.writes_before(1 + 2 * round, ["state"]).reads_before(3 + 2 * round, ["state"]);
        }
        side.build()
    }

    pub fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let wavefront = group * WAVEFRONTS + wavefront;
        let first = wavefront * LANES;
        let lanes = first..self.graph.nodes().min(first.saturating_add(LANES)).max(first);
        match kernel_of(launch) {
            0 => steps(cursor, out, 1, |_, out| self.start(&lanes, out)),
            1 => walk((Parts::new(&self.graph.offsets), &self.offsets), wavefront, cursor, out, self),
            _ => {
                let round = (launch - 2) / 2;
                steps(cursor, out, 1, |_, out| self.apply(round, &lanes, out));
            }
        }
    }

    fn start(&self, lanes: &std::ops::Range<u32>, out: &mut OpSink<'_>) {
        if lanes.is_empty() {
            return;
        }
        self.given.iter().for_each(|buffer| load_span(out, buffer.base + u64::from(lanes.start) * WORD, span(lanes)));
        push_all(out, &[Op::WAIT, cost::VERTEX]);
        for buffer in self.kept.iter().chain([&self.sums]) {
            store_span(out, buffer.at(lanes.start.into(), WORD), span(lanes));
        }
    }

    fn apply(&self, round: u32, lanes: &std::ops::Range<u32>, out: &mut OpSink<'_>) {
        if lanes.is_empty() {
            return;
        }
        let changed = match &self.changes {
            Changes::All(_) => u64::MAX,
            Changes::Some(rounds) => rounds[round as usize].0[lanes.start as usize / 64],
        };
        for buffer in [&self.sums, &self.kept[0]].into_iter().chain(&self.given) {
            load_span(out, buffer.at(lanes.start.into(), WORD), span(lanes));
        }
        push_all(out, &[Op::WAIT, cost::VERTEX]);
        let who = lanes.clone().filter(|vertex| changed >> (vertex - lanes.start) & 1 == 1);
        for buffer in &self.kept {
            store_lanes(out, who.clone().map(|vertex| buffer.at(vertex.into(), WORD)), WORD);
        }
        store_span(out, self.sums.at(lanes.start.into(), WORD), span(lanes));
        if who.clone().next().is_some() {
            push_all(out, &[cost::SUM, Op::store(self.state.base / octavo_program::LINE_BYTES, 1).partial()]);
        }
    }
}

impl Visit for Sweeps {
    const PARTS: u32 = 1;

    fn rows(&self, Share { rows, .. }: &Share, out: &mut OpSink<'_>) {
        out.push(cost::SET_UP);
        let ends = (u64::from(rows.end) + 1).min(self.graph.nodes().into()) - u64::from(rows.start);
        load_span(out, self.offsets.at(rows.start.into(), WORD), (ends + 1) * WORD);
        out.push(Op::WAIT);
    }

    fn edges(&self, _from: u32, lanes: std::ops::Range<u32>, _part: u32, out: &mut OpSink<'_>) {
        for buffer in self.edges.iter().chain([&self.neighbours]) {
            load_span(out, buffer.at(lanes.start.into(), WORD), span(&lanes));
        }
        push_all(out, &[Op::WAIT, cost::ADDRESS]);
        let neighbours = &self.graph.edges[lanes.start as usize..lanes.end as usize];
        let gathered = &self.kept[self.shape.gathered];
        load_lanes(out, neighbours.iter().map(|&vertex| gathered.at(vertex.into(), WORD)));
        push_all(out, &[Op::WAIT, cost::REDUCE]);
    }

    /// Rows that end here are stored in a row; what there is of the one behind them joins it.
    fn close(&self, Share { rows, edges }: &Share, out: &mut OpSink<'_>) {
        let all = Parts::new(&self.graph.offsets);
        out.push(cost::CLOSE);
        if !rows.is_empty() {
            store_span(out, self.sums.at(rows.start.into(), WORD), span(rows));
        }
        if rows.end < all.rows() && edges.end > all.first(rows.end) && !edges.is_empty() {
            store_lanes(out, [self.sums.at(rows.end.into(), WORD)], WORD);
        }
    }
}

/// `start`, `gather` or `apply`.
fn kernel_of(launch: u32) -> usize {
    if launch == 0 { 0 } else { 2 - (launch % 2) as usize }
}

fn span(lanes: &std::ops::Range<u32>) -> u64 {
    u64::from(lanes.end - lanes.start) * WORD
}
