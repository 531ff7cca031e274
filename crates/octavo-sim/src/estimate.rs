//! The memory of a run before any of it is built: from the sizes of its tables alone.

use octavo_manager::{ATTRIBUTES, MemoryConfig, OutstandingAccesses};
use octavo_node::{LargeTlbConfig, NodeConfig};
use octavo_program::LINE_BYTES;
use octavo_units::Bytes;

use crate::bound::MemoryEstimate;
use crate::error::SimError;
use crate::job::{Job, side_by_side};
use crate::observe::record::{GROUP_BYTES, MOST_INTERVALS};

// Bytes for one of each, rounded up from what the types take; a test of the command line holds the sum to the memory
// that processes had at most.
/// A page: the manager's record of it and the strategy that decides about it.
const PAGE: u64 = 16;
/// A page, for each GPU: its entry, and counters of accesses.
const PAGE_ON_GPU: u64 = 5;
/// The same, if evictors get reports of accesses, or one written in Python may: the number and the time of the last
/// access.
const TOUCHES: u64 = 8;
/// The same, if accesses in progress keep pages: their ends, unreported and reported, the latter in a vector that
/// doubles.
const UNDER_WAY: u64 = 24;
/// The same, where frames have numbers: which page a frame holds, and where the page is.
const NUMBERED_PAGE_ON_GPU: u64 = 8;
/// A line of 64 bytes of a second-level cache: a sixteenth of a group and of its times of arrival.
const SECOND_LEVEL_LINE: u64 = 16;
/// A line of 64 bytes of a first-level cache: tag and time of arrival.
const FIRST_LEVEL_LINE: u64 = 24;
/// A translation of a TLB: page, marks and when it was used.
const TRANSLATION: u64 = 16;
/// A wavefront that can be in flight: its record, and the operations read ahead.
const WAVEFRONT: u64 = 512;
/// A stretch of [`GROUP_BYTES`], while counted, as a row, and as the columns that are written.
const GROUP: u64 = 250;
/// An event, while recorded, as a row, and as the columns that are written.
const EVENT: u64 = 160;
/// Events of a page in most runs: a fault and a copy.
const EVENTS_OF_PAGE: u64 = 2;
/// A row of an interval table with its name, as a row and as the columns that are written.
const SAMPLE: u64 = 150;

/// A byte of a buffer whose content the workload keeps, such as a graph: the byte itself, and a second one during
/// construction.
const HELD: u64 = 2;

/// The data that a run keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The tables of a node in time: caches, TLBs, wavefronts. `Instant` has none.
    pub in_time: bool,
    /// Every event.
    pub events: bool,
    /// Tables of intervals.
    pub intervals: bool,
    /// Walks by the placement's attributes of pages.
    pub walks: bool,
}

/// The memory of a run that keeps this much.
///
/// # Errors
/// Pages of a size that there cannot be.
pub fn estimate_memory(
    node: &NodeConfig,
    memory: &MemoryConfig,
    jobs: &[Job<'_>],
    kept: Kept,
) -> Result<MemoryEstimate, SimError> {
    let page_bytes = memory.decision_size()?.0;
    let (address_end, bytes, held) =
        side_by_side(memory, jobs, |workload, _| (workload.address_end(), workload.footprint(), workload.held_bytes()));
    let (pages, gpus) = (address_end.div_ceil(page_bytes), u64::from(node.gpus));
    let numbers = if memory.numbers_frames()? { NUMBERED_PAGE_ON_GPU } else { 0 };
    let told = memory.may_see_accesses(jobs.iter().map(|job| &job.memory))?;
    let under_way = if memory.outstanding == OutstandingAccesses::Stay { UNDER_WAY } else { 0 };
    let on_gpu = PAGE_ON_GPU + numbers + under_way + if told { TOUCHES } else { 0 };
    let noted = if kept.walks { ATTRIBUTES.len() as u64 } else { 0 };
    let events = if kept.events { bytes.div_ceil(page_bytes) * EVENTS_OF_PAGE * EVENT } else { 0 };
    // Two intervals become one whenever there are the most: a run has half of these, or up to all.
    let tables = if kept.intervals { MOST_INTERVALS as u64 / 2 * series(gpus) * SAMPLE } else { 0 };
    Ok(MemoryEstimate {
        node: if kept.in_time { gpus.saturating_mul(gpu(node)) } else { 0 },
        pages: pages * (PAGE + noted + gpus * on_gpu) + address_end.div_ceil(GROUP_BYTES) * GROUP,
        records: events + tables,
        inputs: held * HELD,
    })
}

/// Rows of interval tables for each interval, at most: a link from each to each other, and the memories.
fn series(gpus: u64) -> u64 {
    1 + gpus * (gpus + 1) + gpus + 1
}

fn gpu(node: &NodeConfig) -> u64 {
    let units = u64::from(node.compute.units);
    let shared = units.div_ceil(u64::from(node.scalar.units.max(1)));
    let seats = u64::from(node.compute.simds_per_unit) * u64::from(node.compute.wavefronts_per_simd);
    let caches = units * first_level(node.l1.size) + shared * first_level(node.scalar.cache.size);
    let (l1_tlb, l2_tlb, scalar_tlb) = (&node.l1_tlb, &node.l2_tlb, &node.scalar.tlb);
    let tlbs = units * tlb(l1_tlb.entries, &l1_tlb.large)
        + shared * tlb(scalar_tlb.entries, &scalar_tlb.large)
        + tlb(l2_tlb.entries, &l2_tlb.large);
    node.l2.size.0 / LINE_BYTES * SECOND_LEVEL_LINE + caches + tlbs + units * seats * WAVEFRONT
}

fn first_level(size: Bytes) -> u64 {
    size.0 / LINE_BYTES * FIRST_LEVEL_LINE
}

fn tlb(entries: u32, large: &Option<LargeTlbConfig>) -> u64 {
    let large = large.as_ref().map_or(0, |large| large.entries);
    (u64::from(entries) + u64::from(large)) * TRANSLATION
}
