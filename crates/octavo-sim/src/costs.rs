//! Durations of a node in picoseconds, computed once.

use octavo_units::Cycles;

use crate::config::NodeConfig;

/// What the simulation adds up, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    pub cycle: u64,
    pub instruction: u64,
    pub line: u64,
    pub group_launch: u64,
    pub kernel_overhead: u64,
    pub l1: u64,
    pub l1_tlb: u64,
    pub l2_tlb: u64,
    /// Shooting down one translation at both TLB levels and rewriting the page-table entry.
    pub shootdown: u64,
    pub entry_write: u64,
    pub host_memory: u64,
    pub host_walk: u64,
    pub host_link: u64,
    pub header_bytes: u64,
    pub fault_bytes: u64,
}

impl Costs {
    pub fn new(node: &NodeConfig, walk_levels: u32) -> Self {
        let time = |cycles: Cycles| node.clock.time_for(cycles).0;
        Self {
            cycle: time(Cycles(1)),
            instruction: time(node.compute.instruction_cycles),
            line: time(node.compute.line_cycles),
            group_launch: time(node.compute.group_launch),
            kernel_overhead: time(node.compute.kernel_overhead),
            l1: time(node.l1.latency),
            l1_tlb: time(node.l1_tlb.latency),
            l2_tlb: time(node.l2_tlb.latency),
            shootdown: time(node.l1_tlb.invalidation) + time(node.l2_tlb.invalidation) + time(node.driver.entry_write),
            entry_write: time(node.driver.entry_write),
            host_memory: time(node.host.memory_latency),
            host_walk: time(node.host.level) * u64::from(walk_levels),
            host_link: time(node.host_link.latency),
            header_bytes: node.remote.header.0,
            fault_bytes: node.host.fault_message.0,
        }
    }
}
