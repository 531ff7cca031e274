//! Durations of a node in picoseconds, computed once.

use octavo_node::{InstructionConfig, NodeConfig};
use octavo_program::{InstructionMix, Op};
use octavo_units::Cycles;

/// The durations that the simulation adds up, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    pub cycle: u64,
    pub vector_alu: Class,
    pub scalar_alu: Class,
    pub local_data: Class,
    pub branch: Class,
    pub wait: u64,
    /// Taking the answer of one line.
    pub answer: u64,
    pub memory_issue: u64,
    pub memory_pipeline: u64,
    pub scalar_issue: u64,
    pub scalar_pipeline: u64,
    pub scalar_tlb: u64,
    pub scalar_cache: u64,
    pub scalar_lookup: u64,
    pub scalar_fill: u64,
    pub scalar_way_back: u64,
    pub scalar_answer: u64,
    /// From one line of 64 bytes to the next of the same instruction, side by side.
    pub line: u64,
    /// The time of a first-level cache's line in the memory pipeline, and the binary logarithm of its number of parts
    /// of 64 bytes.
    pub transaction: u64,
    pub line_shift: u32,
    /// Lines of it that a load gets at once at most, where they lie apart.
    pub tags_at_once: u32,
    pub simd_issues_all: bool,
    pub group_launch: u64,
    pub barrier: u64,
    pub kernel_overhead: u64,
    /// A line of the own memory that no cache has and that waits for no other, from the first level and back.
    pub memory: u64,
    pub l1: u64,
    pub l1_lookup: u64,
    pub l1_fill: u64,
    pub l1_tlb: u64,
    pub l2_tlb: u64,
    /// Shooting down one translation at both TLB levels and rewriting the page-table entry.
    pub shootdown: u64,
    pub entry_write: u64,
    /// Moving a page inside a memory: read and then written over one channel.
    pub page_move: u64,
    pub host_memory: u64,
    pub host_walk: u64,
    pub host_link: u64,
    pub gpu_link: u64,
    pub header_bytes: u64,
    /// What a line of the host takes more if it comes without the other half of its 128 bytes.
    pub lone_bytes: u64,
    pub fault_bytes: u64,
}

/// An instruction of one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    pub occupancy: u64,
    pub latency: u64,
    /// The time from one instruction of a wavefront to its next.
    pub step: u64,
}

impl Class {
    /// Runs `count` instructions one after another on a unit that is free from `free` on, beginning at `time`; returns
    /// when the wavefront can continue.
    #[inline]
    pub fn run(self, free: &mut u64, time: u64, count: u32) -> u64 {
        let start = (*free).max(time);
        *free = start + u64::from(count) * self.occupancy;
        start + self.lasts(count.into())
    }

    /// How long `count` instructions of a wavefront take one after another.
    #[inline]
    pub const fn lasts(self, count: u64) -> u64 {
        if count == 0 { 0 } else { (count - 1) * self.step + self.latency }
    }
}

impl Costs {
    /// How long an operation's lines occupy the memory pipeline.
    #[inline]
    pub fn pipeline(&self, op: Op) -> u64 {
        let last = op.line() + u64::from(op.count()) - 1;
        let lines = (last >> self.line_shift) - (op.line() >> self.line_shift) + 1;
        let taken = lines * self.transaction;
        if self.tags_at_once == 1 { taken } else { taken / u64::from(op.lines_together().min(self.tags_at_once)) }
    }

    /// The time that instructions take a wavefront alone: those of shared memory apart from the others.
    #[inline]
    pub const fn alone(&self, instructions: InstructionMix) -> (u64, u64) {
        let InstructionMix { vector, scalar, local_data, branch } = instructions;
        let vector = self.vector_alu.lasts(vector as u64);
        let scalar = self.scalar_alu.lasts(scalar as u64);
        (vector + scalar + self.branch.lasts(branch as u64), self.local_data.lasts(local_data as u64))
    }

    pub fn new(node: &NodeConfig, page_bytes: u64, walk_levels: u32) -> Self {
        let time = |cycles: Cycles| node.clock.time_for(cycles).0;
        let class = |class: &InstructionConfig| {
            let (occupancy, latency) = (time(class.occupancy), time(class.latency));
            Class { occupancy, latency, step: if class.pipelined { occupancy } else { latency } }
        };
        let line_shift = (node.l1.line.bytes() / 64).trailing_zeros();
        let lines_a_bank = (page_bytes / 64).div_ceil(u64::from(node.dram.channel_banks));
        Self {
            cycle: time(Cycles(1)),
            vector_alu: class(&node.compute.vector_alu),
            scalar_alu: class(&node.compute.scalar_alu),
            local_data: class(&node.compute.local_data_access),
            branch: class(&node.compute.branch),
            wait: time(node.compute.wait),
            answer: time(Cycles(1)).checked_div(node.compute.answers_per_cycle.into()).unwrap_or(0),
            memory_issue: time(node.compute.memory_issue),
            memory_pipeline: time(node.compute.memory_pipeline),
            scalar_issue: time(node.scalar.issue),
            scalar_pipeline: time(node.scalar.pipeline),
            scalar_tlb: time(node.scalar.tlb.latency),
            scalar_cache: time(node.scalar.cache.latency),
            scalar_lookup: time(node.scalar.cache.lookup),
            scalar_fill: time(node.scalar.cache.fill),
            scalar_way_back: time(node.scalar.way_back),
            scalar_answer: time(node.scalar.answer),
            line: time(node.compute.line_cycles) >> line_shift,
            transaction: time(node.compute.line_cycles),
            line_shift,
            tags_at_once: node.compute.tags_at_once,
            simd_issues_all: node.compute.simd_issues_all,
            group_launch: time(node.compute.group_launch),
            barrier: time(node.compute.barrier),
            kernel_overhead: time(node.compute.kernel_overhead),
            memory: idle_memory(node),
            l1: time(node.l1.latency),
            l1_lookup: time(node.l1.lookup),
            l1_fill: time(node.l1.fill),
            l1_tlb: time(node.l1_tlb.latency),
            l2_tlb: time(node.l2_tlb.latency),
            shootdown: time(node.l1_tlb.invalidation) + time(node.l2_tlb.invalidation) + time(node.driver.entry_write),
            entry_write: time(node.driver.entry_write),
            page_move: 2 * (time(node.dram.latency) + time(node.dram.line_cycles) * lines_a_bank),
            host_memory: time(node.host.memory_latency),
            host_walk: time(node.host.level) * u64::from(walk_levels),
            host_link: time(node.host_link.latency),
            gpu_link: time(node.gpu_link.latency),
            header_bytes: node.remote.header.0,
            lone_bytes: node.remote.lone_header.map_or(0, |lone| lone.0.saturating_sub(node.remote.header.0)),
            fault_bytes: node.host.fault_message.0,
        }
    }
}

fn idle_memory(node: &NodeConfig) -> u64 {
    let time = |cycles: Cycles| node.clock.time_for(cycles).0;
    let (l2, dram) = (&node.l2, &node.dram);
    let line = time(dram.line_cycles) * u64::from(dram.lone_line_percent.max(100)) / 100;
    let bank = time(l2.latency) + (time(Cycles(1)) / u64::from(l2.lines_per_cycle)).max(1);
    time(node.l1.lookup) + 2 * time(l2.crossbar) + bank + time(dram.latency) + line + time(node.l1.fill)
}
