//! The parts of a GPU: compute units, caches, memory, translation.

use octavo_units::{Bytes, Cycles, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Compute units of one GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComputeConfig {
    /// Compute units a GPU.
    pub units: u32,
    /// SIMD pipelines a compute unit; a wavefront stays on one.
    pub simds_per_unit: u32,
    /// Wavefronts in flight a SIMD.
    pub wavefronts_per_simd: u32,
    /// Vector registers of a lane on each SIMD, shared by its wavefronts (0: no limit).
    pub vector_registers: u32,
    /// Scalar registers of a compute unit, shared by its wavefronts (0: no limit).
    pub scalar_registers: u32,
    /// Local data share (shared memory) of a compute unit (0: no limit).
    pub local_data: Bytes,
    /// Vector-ALU instructions, on the wavefront's SIMD.
    pub vector_alu: InstructionConfig,
    /// Scalar-ALU instructions, on the unit's scalar pipeline.
    pub scalar_alu: InstructionConfig,
    /// Local-data-share instructions, on the unit's local data share.
    pub local_data_access: InstructionConfig,
    /// Branches, on the unit's branch pipeline; the fetch that follows is not included.
    pub branch: InstructionConfig,
    /// Whether a wavefront's SIMD issues its scalar instructions and branches, too, as on GPUs that have no pipelines for
    /// them. Default `false`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub simd_issues_all: bool,
    /// Cycles from issue of a memory instruction until its wavefront can issue the next; at least until its lines have
    /// entered the memory pipeline, unless there is a queue of lines (`lines_in_flight`).
    pub memory_issue: Cycles,
    /// Cycles a line of the first-level cache occupies the compute unit's memory pipeline: 64 bytes of an instruction,
    /// or 128 that lie side by side.
    pub line_cycles: Cycles,
    /// Lines of the first-level cache that lanes which load from different ones get in `line_cycles`, as far as their words
    /// lie in different banks of 32; 1, the default, to 8. Only for workloads that tell banks.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub tags_at_once: u32,
    /// Cycles from a line's entry into the memory pipeline to its translation.
    pub memory_pipeline: Cycles,
    /// Cycles from dispatch of a work-group to its wavefronts' first instruction.
    pub group_launch: Cycles,
    /// Work-groups that each GPU starts in a cycle, throughout a launch (0: no limit).
    pub groups_per_cycle: u32,
    /// Time between two starts of work-groups on a GPU, where that is not a number of cycles; `groups_per_cycle` is 0
    /// then. Default 0.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub group_interval: Time,
    /// Cycles from the last arrival at a barrier until its wavefronts continue. Default 0.
    #[serde(default, skip_serializing_if = "is_no_cycles")]
    pub barrier: Cycles,
    /// Loads of a wavefront that its compiler keeps in flight: it moves loads ahead of waits for others, up to a
    /// barrier, a store, or a load that they need. 0, the default: waits stand where GCN3's compiler put them. Only
    /// for workloads that tell which loads need others; the rest keep their waits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub loads_ahead: u32,
    /// Whether wavefronts continue, and end, without waiting for their stores. A launch ends when all stores have
    /// arrived. Default `false`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub posted_stores: bool,
    /// Whether a launch begins dispatch after the compute unit that was used last, in whichever launch, rather than at
    /// the first.
    pub dispatch_goes_on: bool,
    /// Cycles from a launch to the first dispatch, plus from the last wavefront's end to the end of the kernel.
    pub kernel_overhead: Cycles,
    /// Whether the answers of memory reach a compute unit in the order of its requests (a reorder buffer).
    pub answers_in_order: bool,
    /// Lines whose answers a compute unit accepts in a cycle, if they reach it in that order: at most 64. 0, the
    /// default: no limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answers_per_cycle: u32,
    /// Whether each memory instruction is issued by an event at its own time. Ports and caches then see accesses in
    /// order of time. Computation between accesses is reserved in buckets of time. Otherwise, the default, a wavefront
    /// issues up to 64 ns ahead of the clock: fewer events, but others wait for what is reserved although it comes
    /// later. Only with fidelity `line`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub issues_in_time_order: bool,
    /// Whether pipelines are booked in buckets of time. A wavefront that issues ahead of the clock then delays no
    /// earlier one. Default `false`; without effect where accesses are issued in order of time, which always books so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub books_in_buckets: bool,
    /// Places of the decoder of vector instructions that all SIMDs of a unit share. A wavefront holds one until its
    /// SIMD takes its instruction, so some SIMDs can keep others from getting any. 0, the default: there is no such
    /// limit. Only where accesses are issued in order of time; each instruction is then simulated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub vector_decoder: u32,
    /// Lines that the vector memory instructions of a unit have in flight, from when an instruction is split into lines
    /// until their answers; an instruction whose lines do not fit waits. A wavefront then continues `memory_issue`
    /// after its lines were accepted, and does not wait until they have entered the memory pipeline. Lines that wait
    /// for a fault, or more than 2 us for a translation, free their places as soon as the lines before them are
    /// answered. 0, the default: there is no such queue. Only where accesses are issued in order of time and answered
    /// in order.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lines_in_flight: u32,
    /// Cycles that a wait takes in addition to the event it waits for, except for faults. Default 0; only where
    /// accesses are issued in order of time.
    #[serde(default, skip_serializing_if = "is_no_cycles")]
    pub wait: Cycles,
}

/// Instructions of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstructionConfig {
    /// Cycles an instruction occupies its execution unit.
    pub occupancy: Cycles,
    /// Cycles until the wavefront can issue its next instruction, at least the occupancy.
    pub latency: Cycles,
    /// Whether a wavefront issues instructions of this class that follow one another without waiting for the one before;
    /// it waits for the last. Default `false`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pipelined: bool,
}

/// Instruction fetch: a cache shared by neighbouring compute units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchConfig {
    /// Compute units that share an instruction cache.
    pub units: u32,
    /// Cycles to fetch 64 bytes of code on a hit; after a branch the wavefront waits for this.
    pub latency: Cycles,
    /// Lines of 64 bytes in a wavefront's buffer: it is filled ahead of execution up to the end of the kernel's code,
    /// including code that a branch skips. Only for workloads that say how long the code is.
    pub buffer_lines: u32,
    /// Code is written again before each launch, so that every launch fetches it from memory.
    pub cold: bool,
}

/// Loads by the scalar unit: a cache and a TLB shared by neighbouring compute units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScalarConfig {
    /// Compute units that share a scalar cache.
    pub units: u32,
    /// The cache.
    pub cache: ScalarCacheConfig,
    /// Its TLB; misses go to the second level.
    pub tlb: ScalarTlbConfig,
    /// Cycles until the wavefront can issue its next instruction.
    pub issue: Cycles,
    /// Cycles from then on until the translation of the load begins.
    pub pipeline: Cycles,
    /// Requests that the cache has in flight at once, hits among them; the others wait in front of it. 0, the default:
    /// there is no such limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight: u32,
    /// Cycles, part of the cache's latency, from when an answer leaves the cache until the wavefront has it: it is no
    /// longer in flight then. Default 0.
    #[serde(default, skip_serializing_if = "is_no_cycles")]
    pub way_back: Cycles,
    /// Cycles between two answers that a compute unit takes. 0, the default: it takes all that come. Only where registers
    /// go to requests in order of time.
    #[serde(default, skip_serializing_if = "is_no_cycles")]
    pub answer: Cycles,
}

/// The cache of scalar loads, whose lines have 64 bytes. `in_flight` limits its requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScalarCacheConfig {
    /// Capacity.
    pub size: Bytes,
    /// Associativity, a power of two.
    pub ways: u32,
    /// Cycles from translation to data on a hit.
    pub latency: Cycles,
    /// Cycles from translation until a miss is sent on.
    pub lookup: Cycles,
    /// Cycles from the arrival of a miss's line until the wavefront has it.
    pub fill: Cycles,
}

/// The TLB of scalar loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScalarTlbConfig {
    /// Translations held.
    pub entries: u32,
    /// Associativity; equal to `entries` for fully associative.
    pub ways: u32,
    /// Cycles of a lookup.
    pub latency: Cycles,
    /// Entries for pages of 2 MiB, in addition to those for smaller ones. Without them, large pages use the entries of
    /// all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub large: Option<LargeTlbConfig>,
}

/// Bytes of a cache's line. Accesses are by 64 bytes. A line of 128 bytes has one tag; its halves are fetched, written
/// back and dropped one by one, each standing for two sectors of 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LineSize {
    /// 64 bytes, the default.
    #[default]
    #[serde(rename = "64B")]
    Bytes64,
    /// 128 bytes in two parts.
    #[serde(rename = "128B")]
    Bytes128,
}

impl LineSize {
    /// In bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Bytes64 => 64,
            Self::Bytes128 => 128,
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A first-level data cache: write-through without allocation on stores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheConfig {
    /// Capacity.
    pub size: Bytes,
    /// Bytes of a line; default 64B. 128B only where requests are not served in order.
    #[serde(default, skip_serializing_if = "LineSize::is_default")]
    pub line: LineSize,
    /// Associativity, a power of two.
    pub ways: u32,
    /// Which lines share a set; default `low-bits`.
    #[serde(default, skip_serializing_if = "SetIndex::is_default")]
    pub index: SetIndex,
    /// Cycles from translation to data on a hit.
    pub latency: Cycles,
    /// Cycles from translation until a miss or a store is sent on.
    pub lookup: Cycles,
    /// Cycles from the arrival of a miss's line, or of a store's answer, until the wavefront has it.
    pub fill: Cycles,
    /// Cycles from the arrival of a miss's line until it is written and its way can be read and replaced; only where
    /// requests are served in order.
    pub fill_write: Cycles,
    /// Whether requests are served strictly in order, so that one that finds its line or all ways of its set being
    /// filled holds up those behind it. Otherwise such a request waits alone, and ways are replaced at once.
    pub in_order: bool,
    /// Outstanding misses (miss-status holding registers); requests of all kinds where they are served in order.
    pub miss_registers: u32,
}

/// How a cache chooses the set of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SetIndex {
    /// By the low bits of its number: lines at a large power of two from one another share a set.
    #[default]
    LowBits,
    /// By a hash of all bits of its number, as NVIDIA's GPUs do.
    Hashed,
}

impl SetIndex {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The second-level cache of a GPU: physically the memory-side cache of its own DRAM, write-back, write-allocate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L2Config {
    /// Capacity of all banks together.
    pub size: Bytes,
    /// Bytes of a line; default 64B.
    #[serde(default, skip_serializing_if = "LineSize::is_default")]
    pub line: LineSize,
    /// Associativity, a power of two.
    pub ways: u32,
    /// Which lines share a set; default `low-bits`.
    #[serde(default, skip_serializing_if = "SetIndex::is_default")]
    pub index: SetIndex,
    /// Banks; lines interleave over them by `dram.interleave`.
    pub banks: u32,
    /// Cycles from a bank's input to data on a hit.
    pub latency: Cycles,
    /// Cycles for which a line is locked until the answer to a store leaves, or the line that was fetched; at most the
    /// latency. An access that finds its line locked waits and holds up those behind it at the bank. So stores to one
    /// line are at least this far apart. 0: lines are not locked.
    pub lock: Cycles,
    /// Cycles from a compute unit to a bank, and back, each.
    pub crossbar: Cycles,
    /// Lines a bank accepts in each cycle.
    pub lines_per_cycle: u32,
    /// Outstanding misses a bank.
    pub miss_registers: u32,
    /// Whether lines keep a mask of the bytes that were stored, so that a store that leaves some bytes of its line as
    /// they were fetches nothing. Default `false`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub byte_masks: bool,
}

/// Memory of one GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramConfig {
    /// Independent banks (channels).
    pub banks: u32,
    /// Cycles from request to data of an idle bank.
    pub latency: Cycles,
    /// Cycles a 64-byte line occupies its bank.
    pub line_cycles: Cycles,
    /// The time of a 64-byte line in its bank, in per cent of `line_cycles`, if the other half of its 128 bytes does
    /// not follow at once; both together take two `line_cycles`. 100, the default, to 200.
    #[serde(default = "hundred", skip_serializing_if = "is_hundred")]
    pub lone_line_percent: u32,
    /// The time of such a line that is written between reads, in per cent of one that is read: the bus turns to the
    /// write and back, and the bank recovers. 100, the default, to 400.
    #[serde(default = "hundred", skip_serializing_if = "is_hundred")]
    pub lone_write_percent: u32,
    /// Consecutive bytes on one bank.
    pub interleave: Bytes,
    /// Banks that share a channel, between which a page moves when memory is compacted; default 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub channel_banks: u32,
}

const fn hundred() -> u32 {
    100
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_hundred(value: &u32) -> bool {
    *value == 100
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_one(value: &u32) -> bool {
    *value == 1
}

/// A TLB level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlbConfig {
    /// Translations held.
    pub entries: u32,
    /// Associativity; equal to `entries` for fully associative.
    pub ways: u32,
    /// Cycles of a lookup.
    pub latency: Cycles,
    /// Outstanding misses.
    pub miss_registers: u32,
    /// Cycles to shoot down one translation.
    pub invalidation: Cycles,
    /// Lookups that begin in one cycle; 0, the default, for no limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ports: u32,
    /// Entries for pages of 2 MiB in addition to those for smaller ones. Both are looked up at once, at the price of
    /// one. Without them, large pages use the entries of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub large: Option<LargeTlbConfig>,
    /// What else a miss holds up, apart from its own wavefront; only for `l1_tlb`, and only at fidelity `line`.
    #[serde(default, skip_serializing_if = "MissPolicy::is_default")]
    pub on_miss: MissPolicy,
}

/// What else a miss of a compute unit's TLB holds up, apart from its own wavefront. The memory pipeline is the unit's
/// path for lines of all its wavefronts, which is in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissPolicy {
    /// Nothing, the default: misses overlap up to `miss_registers`, and one beyond them waits alone.
    #[default]
    NonBlocking,
    /// The memory pipeline waits while a miss waits for a register; until then hits and misses of other wavefronts
    /// pass.
    HitsUnderMisses,
    /// The memory pipeline waits until the translation arrives, or the fault is known: one miss at a time.
    Blocking,
}

impl MissPolicy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Entries of a TLB for large pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LargeTlbConfig {
    /// Translations held.
    pub entries: u32,
    /// Associativity; equal to `entries` for fully associative.
    pub ways: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
pub(crate) fn is_zero(value: &u32) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_no_cycles(value: &Cycles) -> bool {
    value.0 == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_no_time(value: &Time) -> bool {
    value.0 == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// The buffer of one GPU's faults that the driver reads. It gets an entry for each compute unit that faults on a page.
/// Which of those that wait is written next, nobody knows: each has the same chance, by a generator of numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultBufferConfig {
    /// Time from one entry to the next.
    pub interval: Time,
}

/// Page-table walkers of one GPU, shared by its compute units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WalkerConfig {
    /// Walks at once.
    pub walkers: u32,
    /// Cycles to read one level of the page table, unless it is `in_memory`.
    pub level: Cycles,
    /// Whether the levels are read one after another from the GPU's second-level cache and memory, where they compete
    /// with everything else, rather than in a fixed time; default `false`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub in_memory: bool,
    /// Page-walk cache entries, each one table prefix of any level above the last.
    pub cache_entries: u32,
    /// Walks that can wait; when full, misses hold their registers until one leaves.
    pub queue: u32,
    /// Which GPUs share the walkers.
    pub scope: WalkerScope,
    /// Cycles from the second-level TLB to the walkers, one way.
    pub distance: Cycles,
}

/// Which GPUs share page-table walkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WalkerScope {
    /// Each GPU has its own.
    PerGpu,
    /// All GPUs share the node's walkers (an IOMMU).
    Node,
}
