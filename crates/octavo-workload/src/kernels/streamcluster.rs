//! Clustering of a stream of points (Rodinia `streamcluster`): the gain of opening one more centre.
//!
//! A launch asks this for one candidate. One thread for each point adds up its squared distance from the candidate,
//! coordinate by coordinate, and compares the cost with that of its present centre. Coordinates lie dimension by
//! dimension: those of the points are streamed, that of the candidate is one scalar load. Points that would change
//! store that and their gain. The others find their centre's number and add its loss without them. Each writes to its
//! own row of a matrix with a column for each centre. The host then decides whether the candidate is opened, and which
//! centres close. Work-groups of 512.
//!
//! The points are drawn, and the program is followed for real up to the last launch. The first centres come from its
//! random sampling, whose price is halved until there are ten. Its local search over random candidates follows. The
//! host clears the matrix before each launch; that is not modelled. The search would take over a thousand launches; how
//! many of them are made is an option.
//!
//! Scale 1 is Rodinia's own input: 65,536 points in 256 dimensions, 10 to 20 centres, 70 MB.

mod search;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::search::Search;
pub use self::search::{Points, Trial};
use crate::emit::{WAVEFRONT_LANES, load_lanes, load_scalar, load_span, push_all, steps, store_lanes};
use crate::scale;

/// Bytes of a coordinate, a centre's number, an element of the matrix; and of the record of a point (weight, address of
/// the coordinates, centre, cost, with padding).
const WORD: u64 = 4;
const POINT: u64 = 32;
/// Where in it the centre and the cost are; the weight is first.
const CENTRE: u64 = 16;
const COST: u64 = 24;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Threads of a work-group.
const GROUP: u64 = 512;
/// Points at scale 1 (Rodinia), and at most.
const USUAL_POINTS: u64 = 65_536;
const MOST_POINTS: u64 = 1 << 22;

/// Instructions of the kernel, compiled for GCN3: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const LOCATE: Op = Op::mix(1, 1, 0, 0);
    pub const COMPARE: Op = Op::mix(1, 1, 0, 1);
    pub const BEFORE_DIMENSIONS: Op = Op::mix(2, 7, 0, 1);
    pub const BEFORE_COORDINATE: Op = Op::mix(5, 0, 0, 0);
    pub const DURING_COORDINATE: Op = Op::mix(1, 4, 0, 0);
    pub const ADD: Op = Op::mix(2, 0, 0, 1);
    pub const BEFORE_COST: Op = Op::mix(7, 0, 0, 1);
    pub const DURING_COST: Op = Op::mix(6, 0, 0, 0);
    pub const DECIDE: Op = Op::mix(2, 2, 0, 1);
    pub const BEFORE_CENTRE: Op = Op::mix(6, 0, 0, 0);
    pub const DURING_CENTRE: Op = Op::mix(2, 0, 0, 0);
    pub const BEFORE_NUMBER: Op = Op::mix(3, 0, 0, 0);
    pub const BEFORE_LOSS: Op = Op::mix(4, 0, 0, 0);
    pub const OTHERS: Op = Op::mix(0, 2, 0, 1);
    pub const BEFORE_SWITCH: Op = Op::mix(4, 2, 0, 0);
    pub const AFTER_SWITCH: Op = Op::mix(2, 0, 0, 0);
    pub const BEFORE_GAIN: Op = Op::mix(1, 0, 0, 0);
    pub const GAIN: Op = Op::mix(1, 0, 0, 0);
    pub const STORE: Op = Op::mix(1, 1, 0, 0);
}

/// Options of `streamcluster`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StreamclusterOptions {
    /// Points. Default: 65536 times the scale (Rodinia).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<u64>,
    /// Coordinates of a point, 1 to 1024. Default 256 (Rodinia).
    pub dimensions: u32,
    /// Candidates that are tried, one launch each, 1 to 1000. Default 10 (this project's choice: the program tries over
    /// a thousand).
    pub launches: u32,
}

impl Default for StreamclusterOptions {
    fn default() -> Self {
        Self { points: None, dimensions: 256, launches: 10 }
    }
}

impl StreamclusterOptions {
    fn build(&self, size: &Size) -> Result<Streamcluster, OptionError> {
        let Self { points, dimensions, launches } = *self;
        let points = scale::chosen("points", points, USUAL_POINTS, size.scale, 1, MOST_POINTS)?;
        for (key, given, most) in [("dimensions", dimensions, 1024), ("launches", launches, 1000)] {
            if !(1..=most).contains(&given) {
                return Err(OptionError::new(key, format!("expected 1 to {most}, found {given}")));
            }
        }
        Ok(Streamcluster::new(&Points::random(points as usize, dimensions as usize, size.seed), launches, size.seed))
    }
}

/// A search for centres.
pub struct Streamcluster {
    points: u64,
    dimensions: u32,
    trials: Vec<Trial>,
    coordinates: Buffer,
    records: Buffer,
    table: Buffer,
    switched: Buffer,
    work: Buffer,
    buffers: Vec<Buffer>,
}

impl Streamcluster {
    /// `launches` candidates tried for `points`, all drawn from `seed`.
    #[must_use]
    pub fn new(points: &Points, launches: u32, seed: u64) -> Self {
        let trials = Search::start(points, seed).trials(launches);
        let (count, dimensions) = (points.count as u64, points.dimensions as u32);
        // Made anew for each launch; here as large as any needs.
        let stride = trials.iter().map(|trial| u64::from(trial.centres) + 1).max().unwrap_or(1);
        let mut space = AddressSpace::default();
        let coordinates = space.allocate("coord", count * u64::from(dimensions) * WORD);
        let records = space.allocate("p", count * POINT);
        let table = space.allocate("center_table", count * WORD);
        let switched = space.allocate("switch_membership", count);
        let work = space.allocate("work_mem", stride * (count + 1) * WORD);
        let buffers = space.buffers().to_vec();
        Self { points: count, dimensions, trials, coordinates, records, table, switched, work, buffers }
    }

    /// The question of each launch, and the answers of the points.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }
}

/// A wavefront: some points in a trial.
struct Lanes<'a> {
    all: &'a Streamcluster,
    trial: &'a Trial,
    first: u64,
    count: u64,
}

impl Lanes<'_> {
    fn start(&self, out: &mut OpSink<'_>) {
        // The waits are for kernel arguments.
        push_all(out, &[cost::LOCATE, Op::WAIT, cost::COMPARE]);
        if self.count > 0 {
            push_all(out, &[Op::WAIT, cost::BEFORE_DIMENSIONS]);
        }
    }

    fn coordinate(&self, dimension: u32, out: &mut OpSink<'_>) {
        let start = u64::from(dimension) * self.all.points;
        out.push(cost::BEFORE_COORDINATE);
        load_span(out, self.all.coordinates.at(start + self.first, WORD), self.count * WORD);
        load_scalar(out, self.all.coordinates.at(start + u64::from(self.trial.candidate), WORD));
        push_all(out, &[cost::DURING_COORDINATE, Op::WAIT, cost::ADD]);
    }

    fn points(&self, switches: bool) -> impl Iterator<Item = u64> + Clone {
        let all = self.first..self.first + self.count;
        all.filter(move |point| self.trial.switches(*point as usize) == switches)
    }

    /// One word of the records of some points.
    fn known(&self, points: impl Iterator<Item = u64>, offset: u64) -> impl Iterator<Item = u64> {
        points.map(move |point| self.all.records.base + point * POINT + offset)
    }

    /// The element of each point's row that it changes.
    fn elements(&self, points: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
        let stride = u64::from(self.trial.centres) + 1;
        points.map(move |point| {
            let column = if self.trial.switches(point as usize) {
                self.trial.centres
            } else {
                self.trial.table[self.trial.assigned[point as usize] as usize]
            };
            self.all.work.at(point * stride + u64::from(column), WORD)
        })
    }

    fn compare(&self, out: &mut OpSink<'_>) {
        let all = self.first..self.first + self.count;
        out.push(cost::BEFORE_COST);
        load_lanes(out, self.known(all.clone(), 0));
        load_lanes(out, self.known(all, COST));
        push_all(out, &[cost::DURING_COST, Op::WAIT, cost::DECIDE]);
    }

    /// Points that stay find their centre's number and its loss so far.
    fn stay(&self, out: &mut OpSink<'_>) {
        if self.points(false).next().is_none() {
            return;
        }
        out.push(cost::BEFORE_CENTRE);
        load_lanes(out, self.known(self.points(false), CENTRE));
        push_all(out, &[cost::DURING_CENTRE, Op::WAIT, cost::BEFORE_NUMBER]);
        let centre = |point: u64| u64::from(self.trial.assigned[point as usize]);
        load_lanes(out, self.points(false).map(|point| self.all.table.at(centre(point), WORD)));
        push_all(out, &[Op::WAIT, cost::BEFORE_LOSS]);
    }

    fn load_losses(&self, out: &mut OpSink<'_>) {
        load_lanes(out, self.elements(self.points(false)));
        out.push(cost::OTHERS);
    }

    /// Points that would change store that and their gain so far.
    fn change(&self, out: &mut OpSink<'_>) {
        let changing = self.points(true);
        if changing.clone().next().is_none() {
            return;
        }
        out.push(cost::BEFORE_SWITCH);
        store_lanes(out, changing.clone().map(|point| self.all.switched.at(point, 1)), 1);
        out.push(cost::AFTER_SWITCH);
        // The store may have changed it, as far as the compiler knows.
        load_lanes(out, self.known(changing, COST));
        out.push(cost::BEFORE_GAIN);
    }

    fn load_gains(&self, out: &mut OpSink<'_>) {
        if self.points(true).next().is_some() {
            load_lanes(out, self.elements(self.points(true)));
            push_all(out, &[Op::WAIT, cost::GAIN]);
        }
    }

    fn store(&self, out: &mut OpSink<'_>) {
        push_all(out, &[Op::WAIT, cost::STORE]);
        store_lanes(out, self.elements(self.first..self.first + self.count), WORD);
    }
}

impl Workload for Streamcluster {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        // Of each trial what `switch_membership` and the centres of all points were.
        let trial = self.switched.bytes + self.table.bytes;
        self.coordinates.bytes + trial * self.trials.len() as u64
    }

    /// For each candidate the host writes its changes and clears the matrix (which the program does on the GPU).
    fn host_side(&self) -> HostSide {
        let (changed, found) = (["p", "center_table"], ["switch_membership", "work_mem"]);
        let mut side = HostSide::of(self.buffers()).inputs(["coord"]).inputs(changed).inputs(found).outputs(found);
        for launch in 1..self.launches() {
            side = side.reads_before(launch, found).writes_before(launch, changed).writes_before(launch, found);
        }
        side.build()
    }

    fn launches(&self) -> u32 {
        self.trials.len() as u32
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.points.div_ceil(GROUP) as u32;
        Launch { kernel: "kernel_compute_cost".into(), work_groups, wavefronts_per_group: (GROUP / LANES) as u32 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 12, scalar_registers: 20, local_data_bytes: 0 }
    }

    /// Steps: the arguments; the dimensions; the comparison and what follows from it.
    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = u64::from(group) * GROUP + u64::from(wavefront) * LANES;
        let count = LANES.min(self.points.saturating_sub(first));
        let lanes = Lanes { all: self, trial: &self.trials[launch as usize], first, count };
        let dimensions = self.dimensions;
        steps(cursor, out, if count == 0 { 1 } else { dimensions + 7 }, |step, out| match step {
            0 => lanes.start(out),
            step if step <= dimensions => lanes.coordinate(step - 1, out),
            step => match step - dimensions {
                1 => lanes.compare(out),
                2 => lanes.stay(out),
                3 => lanes.load_losses(out),
                4 => lanes.change(out),
                5 => lanes.load_gains(out),
                _ => lanes.store(out),
            },
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "streamcluster",
    summary: "clustering of points: coordinates streamed by dimension, then records and rows with strides",
    source: "Rodinia streamcluster; one of Mosaic's applications (MICRO 2017), Rodinia's input",
    schema: typed::schema::<StreamclusterOptions>,
    resolve: typed::resolve::<StreamclusterOptions>,
    build: |options, size: &Size| Ok(Box::new(typed::parse::<StreamclusterOptions>(options)?.build(size)?)),
};
