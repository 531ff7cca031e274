//! K-means clustering (Hetero-Mark `kmeans`): GPU and CPU in turns, until no point changes its cluster.
//!
//! `kmeans_swap` turns the points round once, so that a feature of neighbouring points lies side by side. Then, again
//! and again, `kmeans_compute` finds each point's nearest centre, a thread a point: for every centre it goes through
//! the features, the points' streamed and the centre's one scalar load. The host reads all memberships, and writes the
//! new centres: the means of their points. Work-groups of 64.
//!
//! Points are drawn around one place for each cluster, and the clustering is really computed; a centre without points
//! stays in place. The points as the host wrote them are read once and never again.

mod clustering;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::clustering::Clustering;
pub use self::clustering::Points;
use crate::emit::{WAVEFRONT_LANES, load_lanes, load_scalar, load_span, push_all, steps, store_span};
use crate::scale;

/// Bytes of a feature, and of a membership.
const WORD: u64 = 4;
/// Threads of a work-group, which is one wavefront.
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Features of a point by default (that of Rodinia's `kdd_cup`).
const FEATURES: u32 = 34;
/// Points at scale 1: 48 MB of points, turned points and memberships. At most.
const USUAL_POINTS: u64 = 48 * scale::MEGABYTE / (WORD * (2 * FEATURES as u64 + 1));
const MOST_POINTS: u64 = 1 << 26;
/// Features of all points together at most: 16 GiB of them, which this program holds too (our choice).
const MOST_VALUES: u64 = 1 << 32;

/// Instructions between memory accesses, counted by hand from the algorithm, not from a compiled kernel: vector,
/// scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const LOCATE: Op = Op::mix(3, 2, 0, 1);
    pub const NEXT_FEATURE: Op = Op::mix(3, 1, 0, 1);
    /// A difference and its square added.
    pub const ADD: Op = Op::mix(2, 2, 0, 1);
    /// The nearest so far.
    pub const COMPARE: Op = Op::mix(3, 1, 0, 1);
}

/// Options of `kmeans`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KmeansOptions {
    /// Points. Default: enough for 48 MB of points of 34 features times the scale, turned ones and memberships included
    /// (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<u64>,
    /// Features of a point, 1 to 1024. Default 34 (Rodinia's `kdd_cup`).
    pub features: u32,
    /// Clusters, 1 to 256. Default 5 (Hetero-Mark).
    pub clusters: u32,
    /// Rounds at most, 1 to 500; it ends when no point changes. Default 10 (this project's choice; Hetero-Mark 500).
    pub rounds: u32,
}

impl Default for KmeansOptions {
    fn default() -> Self {
        Self { points: None, features: FEATURES, clusters: 5, rounds: 10 }
    }
}

impl KmeansOptions {
    fn build(&self, size: &Size) -> Result<Kmeans, OptionError> {
        let Self { points, features, clusters, rounds } = *self;
        let points = scale::chosen("points", points, USUAL_POINTS, size.scale, 1, MOST_POINTS)?;
        for (key, given, most) in [("features", features, 1024), ("clusters", clusters, 256), ("rounds", rounds, 500)] {
            if !(1..=most).contains(&given) {
                return Err(OptionError::new(key, format!("expected 1 to {most}, found {given}")));
            }
        }
        let most = MOST_VALUES / points;
        if u64::from(features) > most {
            let message = format!("expected at most {most} for {points} points, found {features}");
            return Err(OptionError::new("features", message));
        }
        let shape = (points as usize, features as usize);
        Ok(Kmeans::new(Points::around(shape, clusters, size.seed), clusters, rounds))
    }
}

/// A clustering.
pub struct Kmeans {
    points: Points,
    clusters: u32,
    found: Clustering,
    features: Buffer,
    swapped: Buffer,
    centres: Buffer,
    membership: Buffer,
    buffers: Vec<Buffer>,
}

impl Kmeans {
    /// `points` in `clusters` clusters, neither zero; at most `rounds` rounds, not zero.
    #[must_use]
    pub fn new(points: Points, clusters: u32, rounds: u32) -> Self {
        let found = Clustering::of(&points, clusters as usize, rounds);
        let (count, dimensions) = (points.count() as u64, points.features() as u64);
        let mut space = AddressSpace::default();
        let features = space.allocate("features", count * dimensions * WORD);
        let swapped = space.allocate("features_swapped", count * dimensions * WORD);
        let centres = space.allocate("clusters", u64::from(clusters) * dimensions * WORD);
        let membership = space.allocate("membership", count * WORD);
        let buffers = space.buffers().to_vec();
        Self { points, clusters, found, features, swapped, centres, membership, buffers }
    }

    /// The cluster of each point, in the end.
    #[must_use]
    pub fn membership(&self) -> &[u32] {
        &self.found.membership
    }

    /// The centres that these belong to, one after another.
    #[must_use]
    pub fn centres(&self) -> &[f32] {
        &self.found.centres
    }

    /// A wavefront turns its points, feature by feature.
    fn swap(&self, first: u64, lanes: u64, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (points, features) = (self.points.count() as u64, self.points.features() as u64);
        steps(cursor, out, features as u32 + 1, |step, out| {
            let Some(feature) = u64::from(step).checked_sub(1) else {
                return push_all(out, &[Op::WAIT, cost::LOCATE]);
            };
            out.push(cost::NEXT_FEATURE);
            load_lanes(out, (first..first + lanes).map(|point| self.features.at(point * features + feature, WORD)));
            out.push(Op::WAIT);
            store_span(out, self.swapped.at(feature * points + first, WORD), lanes * WORD);
        });
    }

    /// A wavefront measures the distances of its points from each centre, and stores which is the nearest.
    fn compute(&self, first: u64, lanes: u64, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (points, features) = (self.points.count() as u64, self.points.features() as u64);
        let last = self.clusters * features as u32 + 1;
        steps(cursor, out, last + 1, |step, out| match u64::from(step) {
            0 => push_all(out, &[Op::WAIT, cost::LOCATE]),
            _ if step == last => store_span(out, self.membership.at(first, WORD), lanes * WORD),
            step => {
                let feature = (step - 1) % features;
                out.push(cost::NEXT_FEATURE);
                load_span(out, self.swapped.at(feature * points + first, WORD), lanes * WORD);
                load_scalar(out, self.centres.at(step - 1, WORD));
                push_all(out, &[Op::WAIT, cost::ADD]);
                if feature + 1 == features {
                    out.push(cost::COMPARE);
                }
            }
        });
    }
}

impl Workload for Kmeans {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        self.features.bytes + self.centres.bytes + self.membership.bytes
    }

    /// Before each round the host writes the centres, behind it it reads the memberships.
    fn host_side(&self) -> HostSide {
        let own = ["features_swapped", "clusters", "membership"];
        let mut side = HostSide::of(self.buffers()).inputs(["features"]).scratch(own);
        for launch in 1..self.launches() {
            side = side.writes_before(launch, ["clusters"]).reads_before(launch + 1, ["membership"]);
        }
        side.build()
    }

    fn launches(&self) -> u32 {
        1 + self.found.rounds
    }

    fn launch(&self, index: u32) -> Launch {
        let kernel = if index == 0 { "kmeans_swap" } else { "kmeans_compute" };
        let work_groups = (self.points.count() as u64).div_ceil(LANES) as u32;
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        // By hand: addresses, the sum, the nearest so far.
        Resources { vector_registers: 12, scalar_registers: 20, local_data_bytes: 0 }
    }

    fn fill(&self, launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = u64::from(group) * LANES;
        let lanes = LANES.min(self.points.count() as u64 - first);
        if launch == 0 { self.swap(first, lanes, cursor, out) } else { self.compute(first, lanes, cursor, out) }
    }

    fn result(&self) -> Vec<(&'static str, Vec<f64>)> {
        let numbers = |values: &[f32]| values.iter().map(|&value| value.into()).collect();
        vec![
            ("membership", self.membership().iter().map(|&cluster| cluster.into()).collect()),
            ("clusters", numbers(self.centres())),
            ("features", numbers(self.points.values())),
        ]
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "kmeans",
    summary: "k-means clustering: GPU and CPU in turns, points turned once and then streamed again and again",
    source: "Hetero-Mark kmeans; one of MemMap's applications (PACT 2020), size of this project's choice",
    schema: typed::schema::<KmeansOptions>,
    resolve: typed::resolve::<KmeansOptions>,
    build: |options, size: &Size| Ok(Box::new(typed::parse::<KmeansOptions>(options)?.build(size)?)),
};
