//! Triad (SHOC): c = a + s b over a vector that comes in tiles, through two sets of three buffers in turn.
//!
//! The program takes the same vector nine times, in tiles of 1/256 of it, 1/128 and so on up to all of it. Each tile is
//! copied into the buffers that are not in use, always to their start, and one launch computes it: one element a
//! thread, work-groups of 128. So the first 1/256 of the first set is used by every launch of that set, and the upper
//! half of its buffers only by the last launch. The upper half of the second set is never touched. The two streams
//! overlap copies with launches; here launches follow one another, and the copies, which the host's copy engine does,
//! are left out.
//!
//! Scale 1 is SHOC's own size: vectors, and so buffers, of 16 MB.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_span, push_all, store_span};
use crate::kernels::matrix::ELEMENT_BYTES;
use crate::scale;

/// Threads, and so elements, of a work-group.
pub const GROUP: u64 = 128;
/// Bytes of a vector at scale 1.
const PUBLISHED_BYTES: u64 = 16 * scale::MEGABYTE;
/// Binary logarithm of how many of the smallest tiles make up a vector.
const SMALLEST_TILE: u32 = 8;

/// Options of `trd`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrdOptions {
    /// Elements of each of the six buffers, a multiple of 128. Default: 16 MB of them times the scale (SHOC; Mosaic,
    /// MICRO 2017).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
}

/// All launches over one vector.
pub struct Trd {
    /// Elements and set of buffers of each launch.
    tiles: Vec<(u64, usize)>,
    /// A, B and C of each set.
    sets: [[Buffer; 3]; 2],
    buffers: Vec<Buffer>,
}

impl Trd {
    /// A vector of `elements` elements.
    ///
    /// # Errors
    /// Not a multiple of [`GROUP`]: the kernel has no partial work-groups.
    pub fn new(elements: u64) -> Result<Self, OptionError> {
        let elements = scale::multiple("elements", elements, GROUP)?;
        let mut space = AddressSpace::default();
        let mut set = |names: [&str; 3]| names.map(|name| space.allocate(name, elements * ELEMENT_BYTES));
        let sets = [set(["A0", "B0", "C0"]), set(["A1", "B1", "C1"])];
        let tiles = (0..=SMALLEST_TILE).rev().flat_map(|halvings| tiles(elements, halvings)).collect();
        Ok(Self { tiles, sets, buffers: space.buffers().to_vec() })
    }
}

/// Tiles of a vector that is halved `halvings` times, as far as work-groups allow, and the sets of buffers they use.
fn tiles(elements: u64, halvings: u32) -> impl Iterator<Item = (u64, usize)> {
    let tile = (elements >> halvings).next_multiple_of(GROUP).max(GROUP);
    (0..elements.div_ceil(tile)).map(move |index| (tile.min(elements - index * tile), index as usize % 2))
}

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const BEFORE_LOADS: [Op; 3] = [Op::mix(3, 1, 0, 0), Op::WAIT, Op::mix(3, 0, 0, 0)];
    pub const ADDRESS: Op = Op::mix(3, 0, 0, 0);
    pub const AFTER_LOADS: [Op; 3] = [ADDRESS, Op::WAIT, Op::mix(1, 0, 0, 0)];
}

impl Workload for Trd {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Each tile is copied in before its launch, and its sums out after it.
    fn host_side(&self) -> HostSide {
        let mut side = HostSide::of(self.buffers()).scratch(["A0", "B0", "C0", "A1", "B1", "C1"]);
        for (launch, (elements, set)) in self.tiles.iter().enumerate() {
            let (launch, bytes, [a, b, c]) = (launch as u32, elements * ELEMENT_BYTES, &self.sets[*set]);
            side = side.writes_part_before(launch, &a.name, bytes).writes_part_before(launch, &b.name, bytes);
            side = side.reads_part_before(launch + 1, &c.name, bytes);
        }
        side.build()
    }

    fn launches(&self) -> u32 {
        self.tiles.len() as u32
    }

    fn launch(&self, index: u32) -> Launch {
        let (elements, _) = self.tiles[index as usize];
        Launch { kernel: "triad".into(), work_groups: (elements / GROUP) as u32, wavefronts_per_group: 2 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 5, scalar_registers: 12, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let [a, b, c] = &self.sets[self.tiles[launch as usize].1];
        let lanes = u64::from(WAVEFRONT_LANES);
        let first = u64::from(group) * GROUP + u64::from(wavefront) * lanes;
        let bytes = lanes * ELEMENT_BYTES;
        push_all(out, &cost::BEFORE_LOADS);
        load_span(out, a.at(first, ELEMENT_BYTES), bytes);
        out.push(cost::ADDRESS);
        load_span(out, b.at(first, ELEMENT_BYTES), bytes);
        push_all(out, &cost::AFTER_LOADS);
        store_span(out, c.at(first, ELEMENT_BYTES), bytes);
        out.push(Op::END);
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "trd",
    summary: "triad over tiles of a vector in two sets of buffers (SHOC Triad); 96 MB, streaming",
    source: "SHOC Triad, triad; six buffers of 16 MB as in Mosaic (MICRO 2017)",
    schema: typed::schema::<TrdOptions>,
    resolve: typed::resolve::<TrdOptions>,
    build: |options, size: &Size| {
        let TrdOptions { elements } = typed::parse(options)?;
        let fitting = || scale::length(PUBLISHED_BYTES / ELEMENT_BYTES, size.scale, GROUP);
        Ok(Box::new(Trd::new(elements.map_or_else(fitting, Ok)?)?))
    },
};
