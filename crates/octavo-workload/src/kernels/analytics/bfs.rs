//! Breadth-first search, level by level, edge-balanced over the frontier.
//!
//! `start` writes all levels. For each level, `advance` cuts the frontier's vertices and their edges into equal parts.
//! A wavefront searches for its part in the frontier's running sum of degrees, and loads the vertices and where their
//! edges begin. For each edge it loads the target and its level. Targets not reached before get the next level.
//! `filter` goes through all levels and puts the vertices of the next frontier into a queue, with the running sum. The
//! host looks at its length behind each level. `bfs-shoc` and `bfs-rodinia` are the same search by teams of lanes and
//! by single lanes.
//!
//! A vertex counts as reached from the next level on, so that stores do not depend on the order of wavefronts.
//!
//! Scale 1 is soc-twitter-2010: 530 million arcs.

use std::ops::Range;

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::balance::{LANES, Parts, Share, WAVEFRONTS};
use super::cost;
use super::result::{Numbers, of_vertices, reached};
use super::source::chosen;
use crate::emit::{load_lanes, load_span, parts, push_all, steps, store_lanes, store_span};
use crate::graphs::choice::GraphChoice;
use crate::graphs::edges::{Edges, Rows};
use crate::graphs::graph::Graph;

const WORD: u64 = 4;
/// Level of a vertex that no path leads to.
pub const UNREACHED: u32 = u32::MAX;
/// Parts of a turn over edges: the edges, their targets' levels, the stores.
const PARTS: u32 = 3;

/// Options of `bfs-balanced`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BfsOptions {
    /// The graph. Default `soc-twitter-2010` (HUVM, USENIX ATC 2022, case 3).
    pub graph: GraphChoice,
    /// Where the search begins. Default: the vertex of most edges, the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<u64>,
}

/// Vertices of all levels: of each level in ascending order, with the running sum of their degrees.
struct Frontiers {
    vertices: Vec<u32>,
    /// Sums of each level begin with 0: one more than vertices.
    sums: Vec<u32>,
    /// Where each level begins in `vertices`.
    begins: Vec<usize>,
}

impl Frontiers {
    fn of(graph: &Graph, levels: &[u32]) -> Self {
        let depth = levels.iter().copied().filter(|level| *level != UNREACHED).max().unwrap_or_default() as usize;
        let mut begins = vec![0; depth + 2];
        levels.iter().filter(|level| **level != UNREACHED).for_each(|level| begins[*level as usize + 1] += 1);
        (0..=depth).for_each(|level| begins[level + 1] += begins[level]);
        let mut next = begins.clone();
        let mut vertices = vec![0; begins[depth + 1]];
        for (vertex, level) in (0..).zip(levels).filter(|(_, level)| **level != UNREACHED) {
            vertices[next[*level as usize]] = vertex;
            next[*level as usize] += 1;
        }
        let mut sums = Vec::with_capacity(vertices.len() + depth + 1);
        for level in begins.windows(2) {
            let mut sum = 0;
            sums.push(sum);
            for &vertex in &vertices[level[0]..level[1]] {
                sum += graph.row(vertex).len() as u32;
                sums.push(sum);
            }
        }
        Self { vertices, sums, begins }
    }

    fn levels(&self) -> u32 {
        self.begins.len() as u32 - 1
    }

    fn of_level(&self, level: u32) -> (&[u32], Parts<'_>) {
        let level = level as usize;
        let Range { start, end } = self.begins[level]..self.begins[level + 1];
        (&self.vertices[start..end], Parts::new(&self.sums[start + level..=end + level]))
    }
}

/// A search of one graph.
pub struct BfsBalanced {
    graph: Graph,
    levels_of: Vec<u32>,
    frontiers: Frontiers,
    offsets: Buffer,
    neighbours: Buffer,
    levels: Buffer,
    frontier: Buffer,
    sums: Buffer,
    length: Buffer,
    buffers: Vec<Buffer>,
}

impl BfsBalanced {
    /// A search of `edges`.
    ///
    /// # Errors
    /// A source that is no vertex, graphs of more arcs than can be numbered.
    pub fn new(options: &BfsOptions, edges: &Edges) -> Result<Self, OptionError> {
        edges.few_enough(Rows::Out)?;
        let graph = edges.rows(Rows::Out);
        let source = chosen(options.source, &graph)?;
        let levels_of = search(&graph, source);
        let frontiers = Frontiers::of(&graph, &levels_of);
        let vertices = u64::from(graph.nodes());
        let mut space = AddressSpace::default();
        let offsets = space.allocate("offsets", (vertices + 1) * WORD);
        let neighbours = space.allocate("neighbours", (graph.edges.len() as u64).max(1) * WORD);
        let [levels, frontier] = ["levels", "frontier"].map(|name| space.allocate(name, vertices * WORD));
        let sums = space.allocate("frontier_sums", (vertices + 1) * WORD);
        let length = space.allocate("frontier_length", WORD);
        let buffers = space.buffers().to_vec();
        Ok(Self { graph, levels_of, frontiers, offsets, neighbours, levels, frontier, sums, length, buffers })
    }

    /// The level of each vertex, or [`UNREACHED`].
    #[must_use]
    pub fn levels(&self) -> &[u32] {
        &self.levels_of
    }

    fn advance(&self, level: u32, wavefront: u64, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (vertices, all) = self.frontiers.of_level(level);
        if cursor.0[0] == 0 {
            let Share { rows, edges } = all.share(wavefront);
            cursor.0[1..].copy_from_slice(&[rows.start, rows.end, edges.start]);
        }
        let share = all.rest_of(cursor.0[1]..cursor.0[2], cursor.0[3]);
        let (search, turns) = (all.search_steps(), share.edges.len() as u32);
        let turns = turns.div_ceil(LANES);
        let rows = share.rows.start..all.rows().min(share.rows.end + 1);
        let row_turns = (rows.len() as u32).div_ceil(LANES);
        parts(cursor, out, |part, out| match part {
            _ if share.rows.is_empty() && share.edges.is_empty() => out.push(Op::END),
            part if part < search => self.search(all, wavefront, part, out),
            part if part - search < row_turns => {
                let first = rows.start + (part - search) * LANES;
                self.look_at_rows(vertices, first..rows.end.min(first + LANES), out);
            }
            part if part - search - row_turns < turns * PARTS => {
                let (turn, part) = ((part - search - row_turns) / PARTS, (part - search - row_turns) % PARTS);
                let first = share.edges.start + turn * LANES;
                let lanes = first..share.edges.end.min(first + LANES);
                self.look_at_edges(level, self.edges(vertices, all, lanes, rows.start), part, out);
            }
            _ => out.push(Op::END),
        });
    }

    fn search(&self, all: Parts<'_>, wavefront: u64, step: u32, out: &mut OpSink<'_>) {
        let looked_at = all.looked_at(wavefront, step).map(|row| self.sums.at(u64::from(row) + 1, WORD));
        let before = out.len();
        load_lanes(out, looked_at);
        if out.len() > before {
            push_all(out, &[Op::WAIT, cost::SEARCH]);
        }
    }

    /// Vertices of the frontier, how their edges sum up, and where they begin.
    fn look_at_rows(&self, vertices: &[u32], rows: Range<u32>, out: &mut OpSink<'_>) {
        out.push(cost::SET_UP);
        let count = u64::from(rows.end - rows.start);
        load_span(out, self.sums.at(rows.start.into(), WORD), (count + 1) * WORD);
        load_span(out, self.frontier.at(rows.start.into(), WORD), count * WORD);
        out.push(Op::WAIT);
        let here = &vertices[rows.start as usize..rows.end as usize];
        load_lanes(out, here.iter().map(|&vertex| self.offsets.at(vertex.into(), WORD)));
        out.push(Op::WAIT);
    }

    /// The graph's edges that some of the frontier's are, numbered over all of it; the first is not before row `from`.
    fn edges(
        &self,
        vertices: &[u32],
        all: Parts<'_>,
        lanes: Range<u32>,
        from: u32,
    ) -> impl Iterator<Item = u32> + Clone {
        let mut row = from;
        lanes.map(move |edge| {
            row = all.row_of(edge, row);
            self.graph.offsets[vertices[row as usize] as usize] + edge - all.first(row)
        })
    }

    fn look_at_edges(&self, level: u32, edges: impl Iterator<Item = u32> + Clone, part: u32, out: &mut OpSink<'_>) {
        let target = |edge: u32| self.graph.edges[edge as usize];
        let level_at = |vertex: u32| self.levels.at(vertex.into(), WORD);
        match part {
            0 => {
                load_lanes(out, edges.map(|edge| self.neighbours.at(edge.into(), WORD)));
                push_all(out, &[Op::WAIT, cost::ADDRESS]);
            }
            1 => {
                load_lanes(out, edges.map(|edge| level_at(target(edge))));
                push_all(out, &[Op::WAIT, cost::ADDRESS]);
            }
            _ => {
                let reached = edges.map(target).filter(|&vertex| self.levels_of[vertex as usize] == level + 1);
                store_lanes(out, reached.map(level_at), WORD);
            }
        }
    }

    /// The next frontier's vertices among 64, and their place in the queue.
    fn filter(&self, level: u32, lanes: &Range<u32>, out: &mut OpSink<'_>) {
        if lanes.is_empty() {
            return;
        }
        load_span(out, self.levels.at(lanes.start.into(), WORD), u64::from(lanes.end - lanes.start) * WORD);
        push_all(out, &[Op::WAIT, cost::VERTEX]);
        if level + 1 >= self.frontiers.levels() {
            return;
        }
        let (vertices, _) = self.frontiers.of_level(level + 1);
        let [first, last] =
            [lanes.start, lanes.end].map(|lane| vertices.partition_point(|&vertex| vertex < lane) as u64);
        if first == last {
            return;
        }
        let found = &vertices[first as usize..last as usize];
        for beside in [0, 1] {
            load_lanes(out, found.iter().map(|&vertex| self.offsets.at(u64::from(vertex) + beside, WORD)));
        }
        push_all(out, &[Op::WAIT, cost::SUM]);
        store_span(out, self.length.base, WORD);
        store_span(out, self.frontier.at(first, WORD), (last - first) * WORD);
        store_span(out, self.sums.at(first + 1, WORD), (last - first) * WORD);
    }
}

/// Levels of all vertices.
fn search(graph: &Graph, source: u32) -> Vec<u32> {
    let mut levels = vec![UNREACHED; graph.nodes() as usize];
    levels[source as usize] = 0;
    let mut frontier = vec![source];
    for level in 1.. {
        let mut next = Vec::new();
        for &target in frontier.iter().flat_map(|&vertex| graph.targets(vertex)) {
            if levels[target as usize] == UNREACHED {
                levels[target as usize] = level;
                next.push(target);
            }
        }
        if next.is_empty() {
            break;
        }
        frontier = next;
    }
    levels
}

impl Workload for BfsBalanced {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        self.footprint()
    }

    /// The host looks at how many vertices each further level has, and resets that before.
    fn host_side(&self) -> HostSide {
        let mut side = HostSide::of(&self.buffers)
            .inputs(["offsets", "neighbours"])
            .scratch(["frontier", "frontier_sums", "frontier_length"])
            .outputs(["levels"]);
        for level in 0..self.frontiers.levels() {
            let length = ["frontier_length"];
            side = side.writes_before(1 + 2 * level, length).reads_before(3 + 2 * level, length);
        }
        side.build()
    }

    fn launches(&self) -> u32 {
        1 + 2 * self.frontiers.levels()
    }

    fn launch(&self, index: u32) -> Launch {
        let by_vertex = self.graph.nodes().div_ceil(LANES * WAVEFRONTS);
        let (kernel, work_groups) = match index {
            0 => ("start", by_vertex),
            _ if index % 2 == 1 => ("advance", self.frontiers.of_level(index / 2).1.work_groups()),
            _ => ("filter", by_vertex),
        };
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: WAVEFRONTS }
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let wavefront = group * WAVEFRONTS + wavefront;
        let first = wavefront * LANES;
        let lanes = first..self.graph.nodes().min(first.saturating_add(LANES)).max(first);
        match launch {
            0 => steps(cursor, out, 1, |_, out| {
                store_span(out, self.levels.base + u64::from(first) * WORD, lanes.len() as u64 * WORD);
                if wavefront == 0 {
                    store_span(out, self.frontier.base, WORD);
                    store_span(out, self.sums.base, 2 * WORD);
                }
            }),
            _ if launch % 2 == 1 => self.advance(launch / 2, wavefront.into(), cursor, out),
            _ => steps(cursor, out, 1, |_, out| self.filter(launch / 2 - 1, &lanes, out)),
        }
    }

    fn result(&self) -> Numbers {
        of_vertices("levels", reached(&self.levels_of), &self.graph)
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "bfs-balanced",
    summary: "breadth-first search of a graph, level by level, edge-balanced over the frontier",
    source: "load-balanced advance and filter as in libraries for GPUs; graphs from HUVM (USENIX ATC 2022)",
    schema: typed::schema::<BfsOptions>,
    resolve: typed::resolve::<BfsOptions>,
    build: |options, size: &Size| {
        let options: BfsOptions = typed::parse(options)?;
        Ok(Box::new(BfsBalanced::new(&options, &options.graph.edges(size)?)?))
    },
};
