//! The number of work-groups of a launch that fit a compute unit: registers and local data share, and seats for
//! wavefronts.

use octavo_node::ComputeConfig;
use octavo_program::Resources;

/// Registers are handed out in groups (GCN3: four vector registers a lane, sixteen scalar registers), the local data
/// share in blocks of 256 bytes.
const VECTOR_GRANULE: u32 = 4;
const SCALAR_GRANULE: u32 = 16;
const LOCAL_DATA_GRANULE: u64 = 256;

/// The resources of each compute unit that a launch may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occupancy {
    /// Seats for wavefronts, one bit each: this many on each SIMD as its registers hold.
    pub seats: u64,
    /// Wavefronts at once.
    pub wavefronts: u32,
    /// Work-groups at once.
    pub groups: u32,
}

impl Occupancy {
    pub fn new(compute: &ComputeConfig, resources: Resources) -> Self {
        let per_simd = share(compute.vector_registers, resources.vector_registers.next_multiple_of(VECTOR_GRANULE))
            .min(compute.wavefronts_per_simd);
        let seats = per_simd * compute.simds_per_unit;
        Self {
            // Seat n is on SIMD n modulo the SIMDs, so the first seats are spread evenly.
            seats: u64::MAX.checked_shr(64 - seats).unwrap_or(0),
            wavefronts: share(compute.scalar_registers, resources.scalar_registers.next_multiple_of(SCALAR_GRANULE)),
            groups: u32::try_from(share64(compute.local_data.0, local_data(resources))).unwrap_or(u32::MAX),
        }
    }
}

impl Occupancy {
    /// Work-groups of this many wavefronts that a unit holds at once.
    pub fn groups_at_once(&self, wavefronts: u32) -> u32 {
        self.groups.min(self.seats.count_ones().min(self.wavefronts) / wavefronts)
    }
}

/// Work-groups of this many wavefronts, each of which uses `resources`, that a compute unit holds at once.
#[must_use]
pub fn groups_at_once(compute: &ComputeConfig, resources: Resources, wavefronts_per_group: u32) -> u32 {
    Occupancy::new(compute, resources).groups_at_once(wavefronts_per_group)
}

/// The resource that a compute unit lacks for one work-group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lacking {
    /// Key of the configuration.
    pub key: &'static str,
    pub needed: u64,
    pub found: u64,
}

impl Lacking {
    /// The resource that an empty unit lacks for a work-group with this many wavefronts, if any.
    pub fn of(compute: &ComputeConfig, resources: Resources, wavefronts: u32) -> Option<Self> {
        let on_a_simd = wavefronts.div_ceil(compute.simds_per_unit);
        let vector = on_a_simd * resources.vector_registers.next_multiple_of(VECTOR_GRANULE);
        let scalar = wavefronts * resources.scalar_registers.next_multiple_of(SCALAR_GRANULE);
        [
            ("node.compute.vector_registers", vector.into(), compute.vector_registers.into()),
            ("node.compute.scalar_registers", scalar.into(), compute.scalar_registers.into()),
            ("node.compute.local_data", local_data(resources), compute.local_data.0),
        ]
        .into_iter()
        .find(|(_, needed, found)| *found != 0 && needed > found)
        .map(|(key, needed, found)| Self { key, needed, found })
    }
}

/// The local data share that a work-group takes.
fn local_data(resources: Resources) -> u64 {
    u64::from(resources.local_data_bytes).next_multiple_of(LOCAL_DATA_GRANULE)
}

/// How often `each` fits `all`, 0 of which is no limit.
fn share(all: u32, each: u32) -> u32 {
    if all == 0 || each == 0 { u32::MAX } else { all / each }
}

fn share64(all: u64, each: u64) -> u64 {
    if all == 0 || each == 0 { u64::MAX } else { all / each }
}
