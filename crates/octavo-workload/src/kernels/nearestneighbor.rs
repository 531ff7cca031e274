//! Nearest neighbours (Rodinia `nn`): the distance of every record's place from one place, a record for each thread.
//!
//! A record's latitude and longitude are two floats side by side, its distance is one. Work-groups of 256. The host
//! then picks the nearest, which no kernel does.
//!
//! Rodinia's own input has 42,764 records, half a megabyte; scale 1 is 4,194,304 records, 48 MB, this project's choice.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::typed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_span, push_all, store_span};
use crate::scale;

/// Bytes of a place, and of a distance.
const PLACE: u64 = 8;
const DISTANCE: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Threads of a work-group.
const GROUP: u64 = 256;
/// Records at scale 1, and at most.
const USUAL_RECORDS: u64 = 48 * scale::MEGABYTE / (PLACE + DISTANCE);
const MOST_RECORDS: u64 = 1 << 34;

/// Instructions of the kernel, compiled for GCN3: vector, scalar, local data, branch.
const LOCATE: Op = Op::mix(2, 2, 0, 1);
const BEFORE_ARGUMENTS: Op = Op::mix(3, 0, 0, 0);
const BEFORE_PLACE: Op = Op::mix(3, 0, 0, 0);
const DURING_PLACE: Op = Op::mix(3, 0, 0, 0);
const MEASURE: Op = Op::mix(5, 0, 0, 0);

/// Options of `nearestneighbor`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NearestNeighborOptions {
    /// Records. Default: enough for a footprint of 48 MB times the scale (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
}

/// One search.
pub struct NearestNeighbor {
    records: u64,
    locations: Buffer,
    distances: Buffer,
    buffers: Vec<Buffer>,
}

impl NearestNeighbor {
    /// A search among `records` records, not zero.
    #[must_use]
    pub fn new(records: u64) -> Self {
        let mut space = AddressSpace::default();
        let locations = space.allocate("locations", records * PLACE);
        let distances = space.allocate("distances", records * DISTANCE);
        Self { records, locations, distances, buffers: space.buffers().to_vec() }
    }
}

impl Workload for NearestNeighbor {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["locations"]).outputs(["distances"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.records.div_ceil(GROUP) as u32;
        Launch { kernel: "euclid".into(), work_groups, wavefronts_per_group: (GROUP / LANES) as u32 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 5, scalar_registers: 10, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, _launch: u32, group: u32, wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = u64::from(group) * GROUP + u64::from(wavefront) * LANES;
        // The waits are for kernel arguments.
        push_all(out, &[Op::WAIT, LOCATE]);
        if first < self.records {
            let records = LANES.min(self.records - first);
            push_all(out, &[BEFORE_ARGUMENTS, Op::WAIT, BEFORE_PLACE]);
            load_span(out, self.locations.at(first, PLACE), records * PLACE);
            push_all(out, &[DURING_PLACE, Op::WAIT, MEASURE]);
            store_span(out, self.distances.at(first, DISTANCE), records * DISTANCE);
        }
        out.push(Op::END);
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "nearestneighbor",
    summary: "nearest neighbours: every line once, pages nearly all private",
    source: "Rodinia nn; one of Mosaic's applications (MICRO 2017), size of this project's choice",
    schema: typed::schema::<NearestNeighborOptions>,
    resolve: typed::resolve::<NearestNeighborOptions>,
    build: |options, size: &Size| {
        let NearestNeighborOptions { records } = typed::parse(options)?;
        Ok(Box::new(NearestNeighbor::new(scale::chosen(
            "records",
            records,
            USUAL_RECORDS,
            size.scale,
            1,
            MOST_RECORDS,
        )?)))
    },
};
