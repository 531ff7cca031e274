//! Communities by modularity (Louvain, Blondel and others, 2008): each vertex moves to the community around it where
//! modularity gains most, round after round; then communities become the vertices of a smaller graph, and so on.
//!
//! Kernels of a level: `weigh` sums up each row's weights, `start` makes each vertex a community. In a round, `gather` goes
//! through all rows, edge-balanced: neighbours, weights, the neighbours' communities and the totals of these; `move` stores
//! who goes where. Rounds let vertices move to higher and to lower numbers in turn, all at once, as libraries for GPUs do it.
//! `flatten` gives each vertex of the first graph its community of this level; `scan` and `contract` write the graph of the
//! next. The host looks at the modularity behind each round.
//!
//! Scale 1 is soc-twitter-2010: 530 million arcs, each with a weight.

mod communities;
mod streams;

use std::ops::Range;

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::balance::{LANES, Parts, WAVEFRONTS};
use super::cost;
use super::result::{Numbers, numbers, of_vertices};
use super::walk::walk;
use crate::emit::{load_lanes, load_span, push_all, steps, store_span};
use crate::graphs::choice::GraphChoice;
use crate::graphs::edges::{Edges, Rows};
use communities::Level;
use streams::{Arrays, Contract, Gather, WORD, Weigh, span};

/// Options of `louvain`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LouvainOptions {
    /// The graph; edges count both ways. Default `soc-twitter-2010`, as for the others.
    pub graph: GraphChoice,
    /// Gain of modularity, of a round and of a level, below which it counts as none, 0 to 1. Default 0.0001 (this project's
    /// choice).
    pub threshold: f64,
    /// Most levels, 1 to 100. Default 100 (cuGraph's).
    pub levels: u32,
}

impl Default for LouvainOptions {
    fn default() -> Self {
        Self { graph: GraphChoice::default(), threshold: 1e-4, levels: 100 }
    }
}

/// The kind and the level of a launch.
#[derive(Clone, Copy)]
enum Kernel {
    Weigh,
    Start,
    Gather(u32),
    Move(u32),
    Flatten,
    Scan,
    Contract,
}

/// Communities of one graph.
pub struct Louvain {
    levels: Vec<Level>,
    labels: Vec<u32>,
    arrays: Vec<Arrays>,
    kernels: Vec<(usize, Kernel)>,
    /// By vertex of the first graph, its community behind each level.
    flat: Vec<Vec<u32>>,
    labels_at: Buffer,
    state: Buffer,
    buffers: Vec<Buffer>,
}

impl Louvain {
    /// Communities of the vertices of `edges`.
    ///
    /// # Errors
    /// Options out of their range, graphs of more arcs than can be numbered.
    pub fn new(options: &LouvainOptions, edges: &Edges) -> Result<Self, OptionError> {
        let LouvainOptions { threshold, levels: most, .. } = *options;
        if !(0.0..=1.0).contains(&threshold) {
            return Err(OptionError::new("threshold", format!("expected 0 to 1, found {threshold}")));
        }
        if !(1..=100).contains(&most) {
            return Err(OptionError::new("levels", format!("expected 1 to 100, found {most}")));
        }
        edges.few_enough(Rows::Both)?;
        let levels = communities::levels(edges.rows(Rows::Both), threshold, most);
        let mut space = AddressSpace::default();
        let arrays: Vec<Arrays> =
            levels.iter().enumerate().map(|(number, level)| Arrays::new(level, number, &mut space)).collect();
        let labels_at = space.allocate("labels", u64::from(levels[0].rows.nodes()) * WORD);
        let state = space.allocate("state", 16);
        let flat: Vec<Vec<u32>> = (1..=levels.len()).map(|count| communities::labels(&levels[..count])).collect();
        let labels = flat[flat.len() - 1].clone();
        let kernels = kernels(&levels);
        let buffers = space.buffers().to_vec();
        Ok(Self { levels, labels, arrays, kernels, flat, labels_at, state, buffers })
    }

    /// The community of each vertex.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The modularity of these communities.
    #[must_use]
    pub fn modularity(&self) -> f64 {
        communities::modularity(&self.levels[0].rows, &self.levels[0].weights, &self.labels)
    }

    /// The labels of the level before lead to those of this one.
    fn flatten(&self, number: usize, lanes: &Range<u32>, out: &mut OpSink<'_>) {
        if lanes.is_empty() {
            return;
        }
        if number > 0 {
            load_span(out, self.labels_at.at(lanes.start.into(), WORD), span(lanes));
            out.push(Op::WAIT);
        }
        let label = |vertex: u32| if number == 0 { vertex } else { self.flat[number - 1][vertex as usize] };
        let communities = &self.arrays[number].communities;
        load_lanes(out, lanes.clone().map(|vertex| communities.at(label(vertex).into(), WORD)));
        push_all(out, &[Op::WAIT, cost::ADDRESS]);
        store_span(out, self.labels_at.at(lanes.start.into(), WORD), span(lanes));
    }

    /// Where the rows of the next level begin: a running sum.
    fn scan(&self, number: usize, lanes: &Range<u32>, out: &mut OpSink<'_>) {
        if !lanes.is_empty() {
            out.push(cost::SUM);
            store_span(out, self.arrays[number + 1].offsets.at(lanes.start.into(), WORD), span(lanes) + WORD);
        }
    }

    fn rows_of(&self, (number, kernel): (usize, Kernel)) -> u32 {
        let level = match kernel {
            Kernel::Flatten => 0,
            Kernel::Scan => number + 1,
            _ => number,
        };
        self.levels[level].rows.nodes()
    }
}

/// All launches: levels one after another.
fn kernels(levels: &[Level]) -> Vec<(usize, Kernel)> {
    let mut all = Vec::new();
    for (number, level) in levels.iter().enumerate() {
        let rounds = (0..level.rounds.len() as u32).flat_map(|round| [Kernel::Gather(round), Kernel::Move(round)]);
        let begin = [Kernel::Weigh, Kernel::Start].into_iter().chain(rounds).chain([Kernel::Flatten]);
        all.extend(begin.map(|kernel| (number, kernel)));
        if number + 1 < levels.len() {
            all.extend([Kernel::Scan, Kernel::Contract].map(|kernel| (number, kernel)));
        }
    }
    all
}

impl Workload for Louvain {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        self.footprint()
    }

    fn launches(&self) -> u32 {
        self.kernels.len() as u32
    }

    fn launch(&self, index: u32) -> Launch {
        let (number, kernel) = self.kernels[index as usize];
        let by_edge = || Parts::new(&self.levels[number].rows.offsets).work_groups();
        let by_vertex = || self.rows_of((number, kernel)).div_ceil(LANES * WAVEFRONTS);
        let (name, work_groups) = match kernel {
            Kernel::Weigh => ("weigh", by_edge()),
            Kernel::Start => ("start", by_vertex()),
            Kernel::Gather(_) => ("gather", by_edge()),
            Kernel::Move(_) => ("move", by_vertex()),
            Kernel::Flatten => ("flatten", by_vertex()),
            Kernel::Scan => ("scan", by_vertex()),
            Kernel::Contract => ("contract", by_edge()),
        };
        Launch { kernel: name.into(), work_groups, wavefronts_per_group: WAVEFRONTS }
    }

    /// The host looks at the modularity behind each round, and resets it before.
    fn host_side(&self) -> HostSide {
        let names = |buffers: &[&Buffer]| buffers.iter().map(|buffer| buffer.name.clone()).collect::<Vec<_>>();
        let (first, further) = self.arrays.split_first().expect("there is a level");
        let inputs = names(&first.graph());
        let scratch = self.arrays.iter().flat_map(|arrays| names(&arrays.own()));
        let scratch: Vec<String> = scratch.chain(further.iter().flat_map(|arrays| names(&arrays.graph()))).collect();
        let side = HostSide::of(&self.buffers).inputs(inputs.iter().map(String::as_str));
        let mut side = side.scratch(scratch.iter().map(String::as_str).chain(["state"])).outputs(["labels"]);
        for (index, (_, kernel)) in (0..).zip(&self.kernels) {
            if let Kernel::Gather(_) = kernel {
                side = side.writes_before(index, ["state"]).reads_before(index + 2, ["state"]);
            }
        }
        side.build()
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (number, kernel) = self.kernels[launch as usize];
        let (level, arrays) = (&self.levels[number], &self.arrays[number]);
        let wavefront = group * WAVEFRONTS + wavefront;
        let first = wavefront * LANES;
        let lanes = first..self.rows_of((number, kernel)).min(first.saturating_add(LANES)).max(first);
        let rows = (Parts::new(&level.rows.offsets), &arrays.offsets);
        match kernel {
            Kernel::Weigh => walk(rows, wavefront, cursor, out, &Weigh(level, arrays)),
            Kernel::Start => steps(cursor, out, 1, |_, out| arrays.start(&lanes, out)),
            Kernel::Gather(round) => {
                let before = &level.rounds[round as usize].before;
                walk(rows, wavefront, cursor, out, &Gather { level, arrays, before });
            }
            Kernel::Move(round) => {
                let round = &level.rounds[round as usize];
                steps(cursor, out, 4, |part, out| match part {
                    3 if round.moves_any(&lanes) => store_span(out, self.state.base, 8),
                    3 => {}
                    part => arrays.moves(&round.before, &round.after, &lanes, part, out),
                });
            }
            Kernel::Flatten => steps(cursor, out, 1, |_, out| self.flatten(number, &lanes, out)),
            Kernel::Scan => steps(cursor, out, 1, |_, out| self.scan(number, &lanes, out)),
            Kernel::Contract => {
                let next = (&self.levels[number + 1], &self.arrays[number + 1]);
                walk(rows, wavefront, cursor, out, &Contract { level, arrays, next });
            }
        }
    }

    fn result(&self) -> Numbers {
        of_vertices("communities", numbers(&self.labels), &self.levels[0].rows)
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "louvain",
    summary: "communities of a graph by modularity, level after level, edge-balanced",
    source: "Louvain as libraries for GPUs run it; graphs from HUVM (USENIX ATC 2022)",
    schema: typed::schema::<LouvainOptions>,
    resolve: typed::resolve::<LouvainOptions>,
    build: |options, size: &Size| {
        let options: LouvainOptions = typed::parse(options)?;
        Ok(Box::new(Louvain::new(&options, &options.graph.edges(size)?)?))
    },
};
