//! Weakly connected components by label propagation: each vertex takes the least label among its neighbours and itself, until
//! none changes. Labels begin as the vertices' numbers. A round sees the labels of the round before, so that what is stored
//! does not depend on the order of wavefronts. See [`sweep`](super::sweep) for the kernels.
//!
//! Scale 1 is soc-twitter-2010: 530 million arcs.

use octavo_program::{Buffer, Cursor, HostSide, Launch, OpSink, Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sweep::{Bits, Changes, Shape, Sweeps};
use crate::graphs::choice::GraphChoice;
use crate::graphs::edges::{Edges, Rows};
use crate::graphs::graph::Graph;

const SHAPE: Shape =
    Shape { kernels: ["start", "gather", "apply"], kept: &["labels"], given: &[], gathered: 0, edges: None };

/// Options of `wcc`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WccOptions {
    /// The graph; edges count both ways. Default `soc-twitter-2010` (HUVM, USENIX ATC 2022, case 3).
    pub graph: GraphChoice,
}

/// Components of one graph.
pub struct Wcc {
    sweeps: Sweeps,
    labels: Vec<u32>,
}

impl Wcc {
    /// Components of the vertices of `edges`.
    ///
    /// # Errors
    /// Graphs of more arcs than can be numbered.
    pub fn new(edges: &Edges) -> Result<Self, OptionError> {
        edges.few_enough(Rows::Both)?;
        let graph = edges.rows(Rows::Both);
        let (labels, changes) = propagate(&graph);
        Ok(Self { sweeps: Sweeps::new(SHAPE, graph, Changes::Some(changes)), labels })
    }

    /// Of each vertex, the least number of its component.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }
}

/// Labels, and which of them changed in each round, none in the last.
fn propagate(graph: &Graph) -> (Vec<u32>, Vec<Bits>) {
    let mut labels: Vec<u32> = (0..graph.nodes()).collect();
    let mut rounds = Vec::new();
    loop {
        let least = |vertex: u32| {
            let of_neighbours = graph.targets(vertex).iter().map(|&neighbour| labels[neighbour as usize]);
            of_neighbours.fold(labels[vertex as usize], u32::min)
        };
        let next: Vec<u32> = (0..graph.nodes()).map(least).collect();
        let changed = Bits::of(graph.nodes(), |vertex| next[vertex as usize] != labels[vertex as usize]);
        let is_over = changed.is_empty();
        (labels, _) = (next, rounds.push(changed));
        if is_over {
            return (labels, rounds);
        }
    }
}

impl Workload for Wcc {
    fn buffers(&self) -> &[Buffer] {
        self.sweeps.buffers()
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
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "wcc",
    summary: "weakly connected components of a graph by label propagation, edge-balanced",
    source: "label propagation as in libraries for GPUs; graphs from HUVM (USENIX ATC 2022)",
    schema: typed::schema::<WccOptions>,
    resolve: typed::resolve::<WccOptions>,
    build: |options, size: &Size| {
        let options: WccOptions = typed::parse(options)?;
        Ok(Box::new(Wcc::new(&options.graph.edges(size)?)?))
    },
};
