use octavo_units::{Bytes, Cycles};
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
    /// Cycles a vector-ALU instruction of a wavefront occupies its SIMD (64 lanes over 16-wide pipelines: 4).
    pub instruction_cycles: Cycles,
    /// Cycles a line transaction occupies the compute unit's memory pipeline.
    pub line_cycles: Cycles,
    /// Cycles from dispatch of a work-group to its wavefronts' first instruction.
    pub group_launch: Cycles,
    /// Cycles from a launch to the first dispatch, plus from the last wavefront's end to the end of the kernel.
    pub kernel_overhead: Cycles,
}

/// A first-level data cache: write-through without allocation on stores, discarded at each kernel launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheConfig {
    /// Capacity in 64-byte lines' bytes.
    pub size: Bytes,
    /// Associativity, a power of two.
    pub ways: u32,
    /// Cycles from issue to data on a hit; also paid before a miss is sent on.
    pub latency: Cycles,
    /// Outstanding misses (miss-status holding registers).
    pub miss_registers: u32,
}

/// The second-level cache of a GPU: physically the memory-side cache of its own DRAM, write-back, write-allocate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L2Config {
    /// Capacity of all banks together.
    pub size: Bytes,
    /// Associativity, a power of two.
    pub ways: u32,
    /// Banks; lines interleave over them by `dram.interleave`.
    pub banks: u32,
    /// Cycles from a bank's input to data on a hit.
    pub latency: Cycles,
    /// Cycles from a compute unit to a bank, and back, each.
    pub crossbar: Cycles,
    /// Lines a bank accepts in each cycle.
    pub lines_per_cycle: u32,
    /// Outstanding misses a bank.
    pub miss_registers: u32,
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
    /// Consecutive bytes on one bank.
    pub interleave: Bytes,
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
}

/// Page-table walkers of one GPU, shared by its compute units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WalkerConfig {
    /// Walks at once.
    pub walkers: u32,
    /// Cycles to read one level of the page table.
    pub level: Cycles,
    /// Page-walk cache entries, each one table prefix of any level above the last.
    pub cache_entries: u32,
    /// Walks that can wait; when full, misses hold their registers until one leaves.
    pub queue: u32,
}
