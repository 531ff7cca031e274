//! `PageRank` by power iteration: each vertex gathers the shares of those that link to it.
//!
//! The rank of a vertex is (1 - damping) / vertices, plus damping times the gathered sum. It gathers each neighbour's
//! rank, divided by the edges that leave the neighbour, and its part of the rank of vertices that no edge leaves. It
//! ends when ranks, all together, change by less than the tolerance, or after this many rounds. Ranks are computed for
//! real, in double precision; on the GPUs a rank takes four bytes. See `sweep` for the kernels.
//!
//! Scale 1 is soc-twitter-2010: 530 million arcs.

use octavo_program::{Buffer, Cursor, HostSide, Launch, OpSink, Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::result::{Numbers, of_vertices};
use super::sweep::{Changes, Shape, Sweeps};
use crate::graphs::choice::GraphChoice;
use crate::graphs::edges::{Edges, Rows};
use crate::graphs::graph::Graph;

const SHAPE: Shape = Shape {
    kernels: ["start", "gather", "apply"],
    kept: &["ranks", "shares"],
    given: &["out_degrees"],
    gathered: 1,
    edges: None,
};

/// Options of `pagerank`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PageRankOptions {
    /// The graph. Default `soc-twitter-2010` (HUVM, USENIX ATC 2022, case 1).
    pub graph: GraphChoice,
    /// Part of a vertex's rank that follows edges, 0 to 1. Default 0.85 (cuGraph's).
    pub damping: f64,
    /// Sum of all changes of ranks below which it ends. Default 0.0001 (HUVM's artefact).
    pub tolerance: f64,
    /// Most rounds, 1 to 1000. Default 100 (cuGraph's).
    pub rounds: u32,
}

impl Default for PageRankOptions {
    fn default() -> Self {
        Self { graph: GraphChoice::default(), damping: 0.85, tolerance: 1e-4, rounds: 100 }
    }
}

/// `PageRank` of one graph.
pub struct PageRank {
    sweeps: Sweeps,
    ranks: Vec<f64>,
}

impl PageRank {
    /// Ranks of the vertices of `edges`.
    ///
    /// # Errors
    /// Options out of their range.
    pub fn new(options: &PageRankOptions, edges: &Edges) -> Result<Self, OptionError> {
        let PageRankOptions { damping, tolerance, rounds, .. } = *options;
        if !(0.0..=1.0).contains(&damping) {
            return Err(OptionError::new("damping", format!("expected 0 to 1, found {damping}")));
        }
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return Err(OptionError::new("tolerance", format!("expected 0 or more, found {tolerance}")));
        }
        if !(1..=1000).contains(&rounds) {
            return Err(OptionError::new("rounds", format!("expected 1 to 1000, found {rounds}")));
        }
        edges.few_enough(Rows::In)?;
        let graph = edges.rows(Rows::In);
        let (ranks, rounds) = rank(&graph, damping, tolerance, rounds);
        Ok(Self { sweeps: Sweeps::new(SHAPE, graph, Changes::All(rounds)), ranks })
    }

    /// The rank of each vertex.
    #[must_use]
    pub fn ranks(&self) -> &[f64] {
        &self.ranks
    }
}

/// Ranks, and after how many rounds.
fn rank(graph: &Graph, damping: f64, tolerance: f64, most: u32) -> (Vec<f64>, u32) {
    let vertices = f64::from(graph.nodes());
    let mut leaving = vec![0u32; graph.nodes() as usize];
    graph.edges.iter().for_each(|&from| leaving[from as usize] += 1);
    let mut ranks = vec![1.0 / vertices; leaving.len()];
    for round in 1..=most {
        let idle: f64 = ranks.iter().zip(&leaving).filter(|(_, out)| **out == 0).map(|(rank, _)| rank).sum();
        let shares: Vec<f64> = ranks.iter().zip(&leaving).map(|(rank, &out)| rank / f64::from(out.max(1))).collect();
        let mut change = 0.0;
        for vertex in 0..graph.nodes() {
            let gathered: f64 = graph.targets(vertex).iter().map(|&from| shares[from as usize]).sum();
            let new = (1.0 - damping) / vertices + damping * (gathered + idle / vertices);
            let old = std::mem::replace(&mut ranks[vertex as usize], new);
            change += (new - old).abs();
        }
        if change < tolerance {
            return (ranks, round);
        }
    }
    (ranks, most)
}

impl Workload for PageRank {
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
        of_vertices("ranks", self.ranks.clone(), self.sweeps.graph())
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "pagerank",
    summary: "PageRank of a graph, edge-balanced: all rows again and again, neighbours' ranks at random",
    source: "power iteration as in cuGraph; graphs and tolerance from HUVM (USENIX ATC 2022)",
    schema: typed::schema::<PageRankOptions>,
    resolve: typed::resolve::<PageRankOptions>,
    build: |options, size: &Size| {
        let options: PageRankOptions = typed::parse(options)?;
        Ok(Box::new(PageRank::new(&options, &options.graph.edges(size)?)?))
    },
};
