//! Shortest paths from one vertex (Bellman and Ford): each vertex takes the least of its neighbours' distances plus the
//! edge's weight, and its own, until none changes. A round sees the distances of the previous round, so that stores do
//! not depend on the order of wavefronts. See `sweep` for the kernels.
//!
//! Scale 1 is soc-twitter-2010: 530 million arcs, each with a weight.

use octavo_program::{Buffer, Cursor, HostSide, Launch, OpSink, Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::result::{Numbers, of_vertices};
use super::source::chosen;
use super::sweep::{Bits, Changes, Shape, Sweeps};
use crate::graphs::choice::GraphChoice;
use crate::graphs::edges::{Edges, Rows};
use crate::graphs::graph::Graph;
use crate::random::mixed;

const SHAPE: Shape = Shape {
    kernels: ["start", "gather", "apply"],
    kept: &["distances"],
    given: &[],
    gathered: 0,
    edges: Some("weights"),
};
/// Options of `sssp`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SsspOptions {
    /// The graph. Default `soc-twitter-2010` (HUVM, USENIX ATC 2022).
    pub graph: GraphChoice,
    /// Largest weight: each edge without a weight of its own (a file's) has one from 1 to it, drawn by its two vertices.
    /// Default 64 (this project's choice), 1 to 65536.
    pub largest_weight: u32,
    /// Whether weights are drawn, too, where a file has them. Default `false`.
    pub draw_weights: bool,
    /// Where paths begin. Default: the vertex of most edges, the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<u64>,
}

impl Default for SsspOptions {
    fn default() -> Self {
        Self { graph: GraphChoice::default(), largest_weight: 64, draw_weights: false, source: None }
    }
}

/// Shortest paths in one graph.
pub struct Sssp {
    sweeps: Sweeps,
    distances: Vec<f64>,
    /// Of each entry of the rows.
    weights: Lengths,
}

/// Weights of edges.
enum Lengths {
    /// The largest, and the seed that they are drawn from.
    Drawn(u32, u64),
    /// By entry of the rows, as a file has them.
    Given(Vec<f32>),
}

impl Lengths {
    fn of(options: &SsspOptions, edges: &Edges, graph: &Graph, seed: u64) -> Result<Self, OptionError> {
        if options.draw_weights || edges.weights.is_empty() {
            return Ok(Self::Drawn(options.largest_weight, seed));
        }
        if let Some(below) = edges.weights.all().find(|weight| !weight.is_finite() || *weight < 0.0) {
            let message = format!("expected weights of 0 or more, found {below}; `draw_weights = true` draws others");
            return Err(OptionError::new("graph", message));
        }
        let row = |vertex: u32| {
            graph.targets(vertex).iter().map(move |&from| edges.weights.between(from, vertex).unwrap_or_default())
        };
        Ok(Self::Given((0..graph.nodes()).flat_map(row).collect()))
    }

    /// The weight of an entry of a vertex's row.
    fn at(&self, graph: &Graph, vertex: u32, entry: usize) -> f64 {
        match self {
            Self::Drawn(largest, seed) => weight(graph.targets(vertex)[entry], vertex, *largest, *seed).into(),
            Self::Given(weights) => weights[graph.offsets[vertex as usize] as usize + entry].into(),
        }
    }
}

impl Sssp {
    /// Distances of the vertices of `edges`, with weights from a seed.
    ///
    /// # Errors
    /// Options out of their range, graphs of more arcs than can be numbered.
    pub fn new(options: &SsspOptions, edges: &Edges, seed: u64) -> Result<Self, OptionError> {
        let largest = options.largest_weight;
        if !(1..=1 << 16).contains(&largest) {
            return Err(OptionError::new("largest_weight", format!("expected 1 to 65536, found {largest}")));
        }
        edges.few_enough(Rows::In)?;
        let graph = edges.rows(Rows::In);
        let source = chosen(options.source, &graph)?;
        let weights = Lengths::of(options, edges, &graph, seed)?;
        let (distances, changes) = relax(&graph, source, &weights);
        Ok(Self { sweeps: Sweeps::new(SHAPE, graph, Changes::Some(changes)), distances, weights })
    }

    /// The distance of each vertex, infinite where no path leads.
    #[must_use]
    pub fn distances(&self) -> &[f64] {
        &self.distances
    }
}

/// The weight of an edge, the same both ways.
#[must_use]
pub fn weight(one: u32, other: u32, largest: u32, seed: u64) -> u32 {
    let both = u64::from(one.min(other)) << 32 | u64::from(one.max(other));
    (mixed(mixed(both) ^ seed) % u64::from(largest)) as u32 + 1
}

/// Distances, and which of them changed in each round, none in the last.
fn relax(graph: &Graph, source: u32, weights: &Lengths) -> (Vec<f64>, Vec<Bits>) {
    let mut distances = vec![f64::INFINITY; graph.nodes() as usize];
    distances[source as usize] = 0.0;
    let mut rounds = Vec::new();
    loop {
        let least = |vertex: u32| {
            let over = |(entry, &from): (usize, &u32)| match distances[from as usize] {
                f64::INFINITY => f64::INFINITY,
                distance => distance + weights.at(graph, vertex, entry),
            };
            graph.targets(vertex).iter().enumerate().map(over).fold(distances[vertex as usize], f64::min)
        };
        let next: Vec<f64> = (0..graph.nodes()).map(least).collect();
        let changed = Bits::of(graph.nodes(), |vertex| next[vertex as usize] != distances[vertex as usize]);
        let is_over = changed.is_empty();
        (distances, _) = (next, rounds.push(changed));
        if is_over {
            return (distances, rounds);
        }
    }
}

impl Workload for Sssp {
    fn buffers(&self) -> &[Buffer] {
        self.sweeps.buffers()
    }

    fn held_bytes(&self) -> u64 {
        self.footprint()
    }

    fn launches(&self) -> u32 {
        self.sweeps.launches()
    }
    fn launch(&self, index: u32) -> Launch {
        self.sweeps.launch(index)
    }
    fn host_side(&self) -> HostSide {
        self.sweeps.host_side()
    }
    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        self.sweeps.fill(launch, group, wavefront, cursor, out);
    }
    fn result(&self) -> Numbers {
        let graph = self.sweeps.graph();
        let row =
            |vertex: u32| (0..graph.targets(vertex).len()).map(move |entry| self.weights.at(graph, vertex, entry));
        let mut found = of_vertices("distances", self.distances.clone(), graph);
        found.push(("weights", (0..graph.nodes()).flat_map(row).collect()));
        found
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "sssp",
    summary: "shortest paths in a graph with weights by relaxing all edges, edge-balanced",
    source: "Bellman and Ford's algorithm as libraries for GPUs run it; graphs from HUVM (USENIX ATC 2022)",
    schema: typed::schema::<SsspOptions>,
    resolve: typed::resolve::<SsspOptions>,
    build: |options, size: &Size| {
        let options: SsspOptions = typed::parse(options)?;
        Ok(Box::new(Sssp::new(&options, &options.graph.weighted(size)?, size.seed)?))
    },
};
