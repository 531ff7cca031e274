//! Weakly connected components, by sampling (`afforest`) or by label propagation: each vertex takes
//! the least label among its neighbours and itself, until none changes. Labels begin as the vertices' numbers. A round
//! sees the labels of the previous round, so that stores do not depend on the order of wavefronts. See
//! `sweep` for the kernels.
//!
//! Scale 1 is soc-twitter-2010: 530 million arcs.

use octavo_program::{Buffer, Cursor, HostSide, Launch, OpSink, Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::afforest::Afforest;
use super::result::{Numbers, numbers, of_vertices};
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
    /// How. Default `label-propagation`.
    pub algorithm: Algorithm,
}

/// How components are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Each vertex takes the least label around it, round after round.
    #[default]
    LabelPropagation,
    /// First each vertex is linked with some neighbours; the largest component then needs no more (Sutton and others,
    /// IPDPS 2018).
    Afforest,
}

/// Components of one graph.
pub struct Wcc {
    program: Program,
}

enum Program {
    Propagation { sweeps: Sweeps, labels: Vec<u32> },
    Afforest(Afforest),
}

impl Wcc {
    /// Components of the vertices of `edges`.
    ///
    /// # Errors
    /// Graphs of more arcs than can be numbered.
    pub fn new(options: &WccOptions, edges: &Edges) -> Result<Self, OptionError> {
        edges.few_enough(Rows::Both)?;
        let graph = edges.rows(Rows::Both);
        let program = match options.algorithm {
            Algorithm::LabelPropagation => {
                let (labels, changes) = propagate(&graph);
                Program::Propagation { sweeps: Sweeps::new(SHAPE, graph, Changes::Some(changes)), labels }
            }
            Algorithm::Afforest => Program::Afforest(Afforest::new(graph)),
        };
        Ok(Self { program })
    }

    /// For each vertex, the least number of its component.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        match &self.program {
            Program::Propagation { labels, .. } => labels,
            Program::Afforest(forest) => forest.labels(),
        }
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
        match &self.program {
            Program::Propagation { sweeps, .. } => sweeps.buffers(),
            Program::Afforest(forest) => forest.buffers(),
        }
    }

    fn held_bytes(&self) -> u64 {
        self.footprint()
    }

    fn launches(&self) -> u32 {
        match &self.program {
            Program::Propagation { sweeps, .. } => sweeps.launches(),
            Program::Afforest(forest) => forest.launches(),
        }
    }
    fn launch(&self, index: u32) -> Launch {
        match &self.program {
            Program::Propagation { sweeps, .. } => sweeps.launch(index),
            Program::Afforest(forest) => forest.launch(index),
        }
    }
    fn host_side(&self) -> HostSide {
        match &self.program {
            Program::Propagation { sweeps, .. } => sweeps.host_side(),
            Program::Afforest(forest) => forest.host_side(),
        }
    }
    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        match &self.program {
            Program::Propagation { sweeps, .. } => sweeps.fill(launch, group, wavefront, cursor, out),
            Program::Afforest(forest) => forest.fill(launch, group, wavefront, cursor, out),
        }
    }
    fn result(&self) -> Numbers {
        let graph = match &self.program {
            Program::Propagation { sweeps, .. } => sweeps.graph(),
            Program::Afforest(forest) => forest.graph(),
        };
        of_vertices("labels", numbers(self.labels()), graph)
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "wcc",
    summary: "weakly connected components of a graph by label propagation or by sampling, edge-balanced",
    source: "label propagation as in libraries for GPUs; graphs from HUVM (USENIX ATC 2022)",
    schema: typed::schema::<WccOptions>,
    resolve: typed::resolve::<WccOptions>,
    build: |options, size: &Size| {
        let options: WccOptions = typed::parse(options)?;
        Ok(Box::new(Wcc::new(&options, &options.graph.edges(size)?)?))
    },
};
