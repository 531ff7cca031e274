//! Shortest paths from one vertex (the CUDA Dijkstra of UVMSmart's benchmark `sssp`): a vertex for each thread, two
//! launches for each iteration, work-groups of 16.
//!
//! The first launch sets all distances. Then one kernel looks at a mask of vertices whose distance has changed, one
//! byte each. Their lanes clear it, read where their edges are and follow them one after another. For each they read
//! the target, the weight, and the distance that the target would have. It replaces a larger one in a second array (an
//! atomic minimum, by compare-and-swap: read and written once). The other kernel takes smaller distances over, and
//! marks these vertices. After every five iterations the host looks whether any vertex is marked; it gives up after
//! fifteen.
//!
//! The graph is generated and searched for real: distances are taken over between kernels, so no stream depends on the
//! order of wavefronts. All vertices have the same number of edges, to different random vertices; weights are
//! thousandths below 1.
//!
//! Scale 1 is the input of UVMSmart's benchmarks (IPDPS 2020), 2^20 vertices of two edges.

use std::ops::Range;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use rand_chacha::rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{load_lanes, load_span, push_all, steps, store_lanes, store_span};
use crate::random::generator;
use crate::scale;

/// Bytes of an edge, a weight, a distance, and of what a vertex says about its edges.
const WORD: u64 = 4;
/// Threads of a work-group: a quarter of a wavefront.
const GROUP: u32 = 16;
/// Iterations between two looks of the host (`NUM_ASYNCHRONOUS_ITERATIONS`), and at most (`MAX_ITERATION`).
const AT_ONCE: u32 = 5;
const MOST_ITERATIONS: u32 = 15;
/// Vertices at scale 1, and at most.
const PUBLISHED_VERTICES: u64 = 1 << 20;
const MOST_VERTICES: u64 = 1 << 27;
/// Parts of a turn over the edges.
const PARTS: u32 = 2;

/// Instructions: vector, scalar, local data, branch. Counted by hand from the program, not from a compiled kernel.
mod cost {
    use octavo_program::Op;

    pub const ENTRY: [Op; 3] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(6, 1, 0, 1)];
    pub const TEST: [Op; 2] = [Op::WAIT, Op::mix(1, 1, 0, 1)];
    pub const BEFORE_EDGES: [Op; 2] = [Op::WAIT, Op::mix(4, 1, 0, 1)];
    pub const BEFORE_TARGET: [Op; 2] = [Op::WAIT, Op::mix(4, 0, 0, 0)];
    pub const SWAP: [Op; 2] = [Op::WAIT, Op::mix(4, 1, 0, 1)];
    pub const NEXT: [Op; 2] = [Op::WAIT, Op::mix(3, 1, 0, 1)];
    pub const COMPARE: [Op; 2] = [Op::WAIT, Op::mix(2, 1, 0, 1)];
}

/// Options of `sssp`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DijkstraOptions {
    /// Vertices, 66 to 2^27. Default at scale 1: 2^20 (UVMSmart's benchmarks).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<u64>,
    /// Edges of each vertex, 1 to 64. Default 2 (UVMSmart's benchmarks).
    pub edges: u32,
}

impl Default for DijkstraOptions {
    fn default() -> Self {
        Self { vertices: None, edges: 2 }
    }
}

/// A search of one graph from vertex 0.
pub struct Dijkstra {
    vertices: u32,
    edges: u32,
    targets: Vec<u32>,
    weights: Vec<f32>,
    distances: Vec<f32>,
    /// By vertex, a bit for each iteration that finds it marked.
    marked: Vec<u16>,
    iterations: u32,
    first_edges: Buffer,
    edge_array: Buffer,
    weight_array: Buffer,
    shortest: Buffer,
    mask: Buffer,
    updating: Buffer,
    buffers: Vec<Buffer>,
}

impl Dijkstra {
    /// A graph of this many vertices, more than twice the number of edges of each.
    #[must_use]
    pub fn new(vertices: u32, edges: u32, seed: u64) -> Self {
        let (targets, weights) = graph(vertices, edges, seed);
        let mut space = AddressSpace::default();
        let (count, edge_count) = (u64::from(vertices), u64::from(vertices) * u64::from(edges));
        let first_edges = space.allocate("vertexArray", count * WORD);
        let [edge_array, weight_array] =
            ["edgeArray", "weightArray"].map(|name| space.allocate(name, edge_count * WORD));
        let shortest = space.allocate("shortestDistances", count * WORD);
        let mask = space.allocate("finalizedVertices", count);
        let updating = space.allocate("updatingShortestDistances", count * WORD);
        let buffers = space.buffers().to_vec();
        let mut found = Self {
            vertices,
            edges,
            targets,
            weights,
            distances: Vec::new(),
            marked: Vec::new(),
            iterations: 0,
            first_edges,
            edge_array,
            weight_array,
            shortest,
            mask,
            updating,
            buffers,
        };
        found.search();
        found
    }

    /// Edges of a vertex: targets and weights.
    pub fn edges_of(&self, vertex: u32) -> impl Iterator<Item = (u32, f32)> + '_ {
        let edges = (vertex * self.edges) as usize..((vertex + 1) * self.edges) as usize;
        self.targets[edges.clone()].iter().copied().zip(self.weights[edges].iter().copied())
    }

    /// Distances after the last iteration.
    #[must_use]
    pub fn distances(&self) -> &[f32] {
        &self.distances
    }

    /// The iterations, as the kernels make them.
    fn search(&mut self) {
        let count = self.vertices as usize;
        let (mut shortest, mut updating) = (vec![f32::MAX; count], vec![f32::MAX; count]);
        (shortest[0], updating[0], self.marked) = (0.0, 0.0, vec![0; count]);
        let mut frontier = vec![0];
        while !(frontier.is_empty() && self.iterations.is_multiple_of(AT_ONCE)) && self.iterations < MOST_ITERATIONS {
            let mut reached = Vec::new();
            for &vertex in &frontier {
                self.marked[vertex as usize] |= 1 << self.iterations;
                for (target, weight) in self.edges_of(vertex) {
                    let distance = shortest[vertex as usize] + weight;
                    updating[target as usize] = updating[target as usize].min(distance);
                    reached.push(target);
                }
            }
            reached.sort_unstable();
            reached.dedup();
            reached.retain(|&vertex| shortest[vertex as usize] > updating[vertex as usize]);
            reached.iter().for_each(|&vertex| shortest[vertex as usize] = updating[vertex as usize]);
            frontier = reached;
            self.iterations += 1;
        }
        frontier.iter().for_each(|&vertex| self.marked[vertex as usize] |= 1 << self.iterations);
        self.distances = shortest;
    }

    /// The vertices of a work-group that an iteration finds marked.
    fn marked_of(&self, own: &Range<u32>, iteration: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        own.clone().filter(move |&vertex| self.marked[vertex as usize] >> iteration & 1 != 0)
    }

    fn words(&self, buffer: &Buffer, own: &Range<u32>) -> (u64, u64) {
        (buffer.at(own.start.into(), WORD), own.len() as u64 * WORD)
    }

    fn bytes(&self, own: &Range<u32>) -> (u64, u64) {
        (self.mask.at(own.start.into(), 1), own.len() as u64)
    }

    /// All distances are set.
    fn initialise(&self, own: &Range<u32>, out: &mut OpSink<'_>) {
        push_all(out, &cost::ENTRY);
        for (address, bytes) in [self.bytes(own), self.words(&self.shortest, own), self.words(&self.updating, own)] {
            store_span(out, address, bytes);
        }
    }

    /// The mask; the vertices that it marks are cleared, and read where their edges are.
    fn look(&self, own: &Range<u32>, iteration: u32, out: &mut OpSink<'_>) {
        push_all(out, &cost::ENTRY);
        let (address, bytes) = self.bytes(own);
        load_span(out, address, bytes);
        push_all(out, &cost::TEST);
        let marked = self.marked_of(own, iteration);
        if marked.clone().next().is_some() {
            store_lanes(out, marked.clone().map(|vertex| self.mask.at(vertex.into(), 1)), 1);
            load_lanes(out, marked.clone().map(|vertex| self.first_edges.at(vertex.into(), WORD)));
            let further = marked.filter(|vertex| vertex + 1 < self.vertices);
            load_lanes(out, further.map(|vertex| self.first_edges.at(u64::from(vertex) + 1, WORD)));
            push_all(out, &cost::BEFORE_EDGES);
        }
    }

    /// Half a turn in which each lane follows one of its edges.
    fn follow(&self, own: &Range<u32>, iteration: u32, (turn, part): (u32, u32), out: &mut OpSink<'_>) {
        let marked = self.marked_of(own, iteration);
        let edge = |vertex: u32| u64::from(vertex * self.edges + turn);
        if part == 0 {
            load_lanes(out, marked.clone().map(|vertex| self.edge_array.at(edge(vertex), WORD)));
            load_lanes(out, marked.clone().map(|vertex| self.shortest.at(vertex.into(), WORD)));
            load_lanes(out, marked.map(|vertex| self.weight_array.at(edge(vertex), WORD)));
            push_all(out, &cost::BEFORE_TARGET);
        } else {
            let target = |vertex: u32| self.targets[edge(vertex) as usize];
            let addresses = marked.map(|vertex| self.updating.at(target(vertex).into(), WORD));
            load_lanes(out, addresses.clone());
            push_all(out, &cost::SWAP);
            store_lanes(out, addresses, WORD);
            push_all(out, &cost::NEXT);
        }
    }

    /// Smaller distances are taken over.
    fn take_over(&self, own: &Range<u32>, iteration: u32, out: &mut OpSink<'_>) {
        push_all(out, &cost::ENTRY);
        for (address, bytes) in [self.words(&self.shortest, own), self.words(&self.updating, own)] {
            load_span(out, address, bytes);
        }
        push_all(out, &cost::COMPARE);
        let changed = self.marked_of(own, iteration + 1);
        store_lanes(out, changed.clone().map(|vertex| self.shortest.at(vertex.into(), WORD)), WORD);
        store_lanes(out, changed.map(|vertex| self.mask.at(vertex.into(), 1)), 1);
        let (address, bytes) = self.words(&self.updating, own);
        store_span(out, address, bytes);
    }
}

/// Targets and weights: each vertex has this many edges to others, all different.
fn graph(vertices: u32, edges: u32, seed: u64) -> (Vec<u32>, Vec<f32>) {
    let mut random = generator(seed, 0);
    let mut below = |bound: u32| ((u64::from(random.next_u32()) * u64::from(bound)) >> 32) as u32;
    let count = vertices as usize * edges as usize;
    let (mut targets, mut weights) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for vertex in 0..vertices {
        let own = targets.len();
        while targets.len() < own + edges as usize {
            let target = below(vertices);
            if target != vertex && !targets[own..].contains(&target) {
                targets.push(target);
                weights.push(below(1000) as f32 / 1000.0);
            }
        }
    }
    (targets, weights)
}

impl Workload for Dijkstra {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        (self.targets.len() + self.weights.len() + self.distances.len()) as u64 * WORD + 2 * u64::from(self.vertices)
    }

    /// The host looks at the mask before every five iterations.
    fn host_side(&self) -> HostSide {
        let side = HostSide::of(self.buffers())
            .inputs(["vertexArray", "edgeArray", "weightArray"])
            .outputs(["shortestDistances"])
            .scratch(["finalizedVertices", "updatingShortestDistances"]);
        let looks = (1..=self.launches()).step_by(2 * AT_ONCE as usize);
        looks.fold(side, |side, launch| side.reads_before(launch, ["finalizedVertices"])).build()
    }

    fn launches(&self) -> u32 {
        1 + 2 * self.iterations
    }

    fn launch(&self, index: u32) -> Launch {
        let kernel = match index {
            0 => "initializeArrays",
            _ if !index.is_multiple_of(2) => "Kernel1",
            _ => "Kernel2",
        };
        Launch { kernel: kernel.into(), work_groups: self.vertices.div_ceil(GROUP), wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 16, scalar_registers: 18, local_data_bytes: 0 }
    }

    fn fill(&self, launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let own = group * GROUP..((group + 1) * GROUP).min(self.vertices);
        let iteration = launch.saturating_sub(1) / 2;
        let relaxes = launch > 0 && !launch.is_multiple_of(2);
        let turns = if relaxes && self.marked_of(&own, iteration).next().is_some() { self.edges } else { 0 };
        steps(cursor, out, 1 + PARTS * turns, |step, out| match step.checked_sub(1) {
            None if launch == 0 => self.initialise(&own, out),
            None if relaxes => self.look(&own, iteration, out),
            None => self.take_over(&own, iteration, out),
            Some(step) => self.follow(&own, iteration, (step / PARTS, step % PARTS), out),
        });
    }

    fn result(&self) -> Vec<(&'static str, Vec<f64>)> {
        let reached = |&distance: &f32| if distance == f32::MAX { f64::INFINITY } else { f64::from(distance) };
        vec![("distance", self.distances.iter().map(reached).collect())]
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "dijkstra",
    summary: "shortest paths, a vertex for each lane: all distances streamed in each iteration, targets gathered",
    source: "UVMSmart's benchmark sssp (IPDPS 2020), 2^20 vertices of two edges",
    schema: typed::schema::<DijkstraOptions>,
    resolve: typed::resolve::<DijkstraOptions>,
    build: |options, size: &Size| {
        let DijkstraOptions { vertices, edges } = typed::parse(options)?;
        if !(1..=64).contains(&edges) {
            return Err(OptionError::new("edges", format!("expected 1 to 64, found {edges}")));
        }
        let key = if vertices.is_some() { "vertices" } else { "scale" };
        let vertices = scale::chosen(key, vertices, PUBLISHED_VERTICES, size.scale, 1, MOST_VERTICES)?;
        if vertices < 66 {
            let message = format!("expected 66 to {MOST_VERTICES} vertices, found {vertices}");
            return Err(OptionError::new(key, message));
        }
        if vertices * u64::from(edges) >= 1 << 31 {
            let message = format!("{edges} edges for each of {vertices} vertices are more than 2^31");
            return Err(OptionError::new("edges", message));
        }
        Ok(Box::new(Dijkstra::new(vertices as u32, edges, size.seed)))
    },
};
