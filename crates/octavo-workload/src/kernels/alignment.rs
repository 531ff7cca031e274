//! Gene alignment (Hetero-Mark `ga`): the GPU finds where a query may match, the host looks closer there.
//!
//! The target is searched in batches. A thread for each place of a batch compares its eleven letters with all runs of
//! eleven of the query, and marks the place if one is the same. The compiler keeps the target's letters in registers,
//! and the query's come by scalar loads. Lanes that have matched wait for the others. The host clears the marks before
//! each batch and reads them after it. Around each run of marked places it aligns the query with the target (Smith and
//! Waterman: 4 for the same letter, -1 for another, -2 for a gap). For that it reads its own copy of the target.
//! Work-groups of 64.
//!
//! Target and query are drawn, with a copy of the query, some of its letters changed, every so often. Hetero-Mark's
//! host aligns while the GPU searches on; here they take turns.

mod sequences;

use std::ops::Range;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::sequences::{RUN, Sequences};
use crate::emit::{WAVEFRONT_LANES, load_scalar, load_span, push_all, steps, store_lanes};
use crate::scale;

/// Threads of a work-group, which is one wavefront.
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Letters of the target at scale 1, and at most.
const USUAL_TARGET: u64 = 32 * scale::MEGABYTE;
const MOST_TARGET: u64 = 1 << 30;

/// Instructions between memory accesses, counted by hand from the algorithm, not from a compiled kernel: vector,
/// scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const LOCATE: Op = Op::mix(3, 2, 0, 1);
    pub const ADDRESS: Op = Op::mix(1, 1, 0, 0);
    /// Eleven letters of the query taken apart, compared and counted.
    pub const COMPARE: Op = Op::mix(22, 13, 0, 1);
}

/// Options of `alignment`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AlignmentOptions {
    /// Letters of the target, at least 12. Default: 32 Mi times the scale (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<u64>,
    /// Letters of the query, 11 to 1024. Default 64 (this project's choice).
    pub query: u64,
    /// Places of a batch, at least 1. Default 1048576 (this project's choice; Hetero-Mark 1024).
    pub batch: u64,
}

impl Default for AlignmentOptions {
    fn default() -> Self {
        Self { target: None, query: 64, batch: 1 << 20 }
    }
}

/// The search for one query.
pub struct Alignment {
    sequences: Sequences,
    /// Places of a batch.
    batch: u64,
    /// For each batch, runs of places that may match.
    runs: Vec<Vec<Range<u64>>>,
    target: Buffer,
    query: Buffer,
    marks: Buffer,
    buffers: Vec<Buffer>,
}

impl Alignment {
    /// A search in batches of this many places, not zero.
    #[must_use]
    pub fn new(sequences: Sequences, batch: u64) -> Self {
        let batch = batch.min(sequences.places());
        let begins = (0..sequences.places()).step_by(batch as usize);
        let runs = begins.map(|begin| sequences.runs(begin..sequences.places().min(begin + batch))).collect();
        let mut space = AddressSpace::default();
        let target = space.allocate("target", sequences.target.len() as u64);
        let query = space.allocate("query", sequences.query.len() as u64);
        let marks = space.allocate("matches", batch);
        Self { sequences, batch, runs, target, query, marks, buffers: space.buffers().to_vec() }
    }

    /// The host's reads of the target around a run of places, and its alignment.
    fn around(&self, places: &Range<u64>) -> Range<u64> {
        let query = self.sequences.query.len() as u64;
        places.start..(places.end + query).min(self.sequences.target.len() as u64)
    }

    /// Places of a batch.
    fn places(&self, launch: u32) -> Range<u64> {
        let first = u64::from(launch) * self.batch;
        first..self.sequences.places().min(first + self.batch)
    }

    /// Letters of the query from `run` on.
    fn load_query(&self, run: u64, out: &mut OpSink<'_>) {
        let [first, last] = [run, run + RUN - 1].map(|letter| self.query.at(letter, 1));
        load_scalar(out, first);
        if first / octavo_program::LINE_BYTES != last / octavo_program::LINE_BYTES {
            load_scalar(out, last);
        }
    }
}

impl Workload for Alignment {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        self.target.bytes + self.query.bytes
    }

    fn host_side(&self) -> HostSide {
        let mut side = HostSide::of(self.buffers()).inputs(["target", "query"]).scratch(["matches"]);
        for (launch, runs) in (0..).zip(&self.runs) {
            side = side.writes_before(launch, ["matches"]).reads_before(launch + 1, ["matches"]);
            for run in runs {
                side = side.looks_again_before(launch + 1, "target", self.around(run));
            }
        }
        side.build()
    }

    fn launches(&self) -> u32 {
        self.runs.len() as u32
    }

    fn launch(&self, index: u32) -> Launch {
        let places = self.places(index);
        let work_groups = (places.end - places.start).div_ceil(LANES) as u32;
        Launch { kernel: "coarse_match".into(), work_groups, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        // By hand: eleven letters, the count, addresses.
        Resources { vector_registers: 18, scalar_registers: 24, local_data_bytes: 0 }
    }

    /// Steps: the places; eleven letters of each; runs of the query until all have matched; the marks.
    fn fill(&self, launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let places = self.places(launch);
        let first = places.start + u64::from(group) * LANES;
        let own = first..places.end.min(first + LANES);
        let lanes = own.end - own.start;
        let matched: Vec<Option<u64>> = own.clone().map(|place| self.sequences.first_match(place)).collect();
        let all = self.sequences.query.len() as u64 - RUN + 1;
        let compared = matched.iter().map(|found| found.map_or(all, |run| run + 1)).max().unwrap_or(all);
        steps(cursor, out, (1 + RUN + compared + 1) as u32, |step, out| match u64::from(step) {
            0 => push_all(out, &[Op::WAIT, cost::LOCATE]),
            letter if letter <= RUN => {
                out.push(cost::ADDRESS);
                load_span(out, self.target.at(first + letter - 1, 1), lanes);
            }
            step if step <= RUN + compared => {
                self.load_query(step - RUN - 1, out);
                push_all(out, &[Op::WAIT, cost::COMPARE]);
            }
            _ => {
                let marked = own.clone().zip(&matched).filter(|(_, found)| found.is_some());
                store_lanes(out, marked.map(|(place, _)| self.marks.at(place - places.start, 1)), 1);
            }
        });
    }

    fn result(&self) -> Vec<(&'static str, Vec<f64>)> {
        let runs = || self.runs.iter().flatten();
        let letters = |letters: &[u8]| letters.iter().map(|&letter| letter.into()).collect();
        vec![
            ("scores", runs().map(|run| self.sequences.score(self.around(run)).into()).collect()),
            ("places", runs().map(|run| run.start as f64).collect()),
            ("places_end", runs().map(|run| run.end as f64).collect()),
            ("target", letters(&self.sequences.target)),
            ("query", letters(&self.sequences.query)),
        ]
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "alignment",
    summary: "gene alignment: the GPU marks places of a target that may match, the host looks closer at those",
    source: "Hetero-Mark ga; one of MemMap's applications (PACT 2020), size of this project's choice",
    schema: typed::schema::<AlignmentOptions>,
    resolve: typed::resolve::<AlignmentOptions>,
    build: |options, size: &Size| {
        let AlignmentOptions { target, query, batch } = typed::parse(options)?;
        if !(RUN..=1024).contains(&query) {
            return Err(OptionError::new("query", format!("expected {RUN} to 1024, found {query}")));
        }
        let target = scale::chosen("target", target, USUAL_TARGET, size.scale, 1, MOST_TARGET)?;
        if target <= RUN {
            return Err(OptionError::new("target", format!("expected more than {RUN}, found {target}")));
        }
        let batch = scale::given("batch", batch)?;
        let least = target.div_ceil(1 << 16);
        if batch < least {
            let message = format!("expected at least {least} for at most 65536 batches, found {batch}");
            return Err(OptionError::new("batch", message));
        }
        Ok(Box::new(Alignment::new(Sequences::drawn(target, query, size.seed), batch)))
    },
};
