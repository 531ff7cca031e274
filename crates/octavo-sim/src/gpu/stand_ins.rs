//! The replacements at fidelity `page` for first-level caches and for pipelines that process one thing after another.
//!
//! Wavefronts go further ahead of the clock than at fidelity `line`. A time from which a pipeline is free would then
//! hold up everybody behind the one who went furthest, so pipelines count the work that lies before them.

use octavo_node::{DrainScope, NodeConfig, SettledConfig};
use octavo_program::InstructionMix;

use crate::engine::backlog::Backlog;
use crate::engine::costs::{Class, Costs};
use crate::engine::share::Share;
use crate::gpu::counts::Accesses;

/// Pages remembered for each unit: as many as the first-level TLBs of the presets have entries, or half as many.
const RECENT: usize = 32;

/// The settling state of all GPUs.
pub(crate) struct Settling {
    /// How far ahead of the clock a wavefront proceeds.
    pub ahead: u64,
    /// The pages that a unit remembers replace its first-level TLB.
    remembers: bool,
    gpus: Vec<OfGpu>,
}

struct OfGpu {
    /// Loads of the own memory that its first-level caches do not have.
    misses: Share,
    /// By compute unit.
    units: Vec<Pipelines>,
    /// By (unit, SIMD).
    simds: Vec<Backlog>,
    /// By (unit, page modulo [`RECENT`]): a page that the unit's first-level TLB had lately, plus one.
    recent: Vec<u32>,
}

/// The pipelines of one compute unit.
#[derive(Clone, Default)]
struct Pipelines {
    memory: Backlog,
    scalar: Backlog,
    local_data: Backlog,
    branch: Backlog,
}

/// The work of a wavefront since its last wait, which is processed together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// When it began.
    pub began: u64,
    /// How long it needs its SIMD and the memory pipeline of its unit.
    pub simd: u64,
    pub pipeline: u64,
    /// When its last memory operation on the own memory was issued, and a line of it.
    pub last: u64,
    pub line: u64,
    /// Lines of the own memory: loads that hit the first level, and loads and stores beyond it.
    pub hits: u32,
    pub loads: u32,
    pub stores: u32,
    pub partial_stores: u32,
}

impl Segment {
    pub const fn begin(time: u64) -> Self {
        Self { began: time, simd: 0, pipeline: 0, last: 0, line: 0, hits: 0, loads: 0, stores: 0, partial_stores: 0 }
    }
}

impl Settling {
    pub fn new(node: &NodeConfig, settled: &SettledConfig) -> Self {
        let units = node.compute.units;
        let lanes = units * node.compute.simds_per_unit;
        let gpu = |_| OfGpu {
            misses: Share::new(100 - settled.l1_hits_percent),
            units: vec![Pipelines::default(); units as usize],
            simds: vec![Backlog::default(); lanes as usize],
            recent: vec![0; units as usize * RECENT],
        };
        // Drains that stop only units with a translation need to know which these are.
        let remembers = node.driver.drain == DrainScope::WholeGpu;
        Self { ahead: settled.ahead.0, remembers, gpus: (0..node.gpus).map(gpu).collect() }
    }

    /// Of this many lines that a GPU loads from its own memory, those that its first level does not hold.
    #[inline]
    pub fn missed(&mut self, gpu: usize, lines: u32) -> u32 {
        self.gpus[gpu].misses.of(lines)
    }

    /// Whether the first-level TLB of a unit had a page lately.
    #[inline]
    pub fn remembers(&self, (gpu, unit): (usize, usize), page: u32) -> bool {
        self.gpus[gpu].recent[place(unit, page)] == page + 1
    }

    /// The unit has the page now.
    #[inline]
    pub fn remember(&mut self, (gpu, unit): (usize, usize), page: u32) {
        if self.remembers {
            self.gpus[gpu].recent[place(unit, page)] = page + 1;
        }
    }

    /// It is `now`: the SIMD and the memory pipeline of a wavefront do its work; returns when both are done.
    #[inline]
    pub fn pass_pipelines(&mut self, (gpu, unit, simd): (usize, usize, usize), now: u64, segment: &Segment) -> u64 {
        let gpu = &mut self.gpus[gpu];
        let computed = gpu.simds[simd].book(now, segment.began, segment.simd);
        computed.max(gpu.units[unit].memory.book(now, segment.began, segment.pipeline))
    }

    /// It is `now`: a wavefront executes instructions other than vector ones, class by class; returns their end.
    pub fn execute(
        &mut self,
        (gpu, unit): (usize, usize),
        costs: &Costs,
        (now, time): (u64, u64),
        instructions: InstructionMix,
        accesses: &mut Accesses,
    ) -> u64 {
        let InstructionMix { scalar, local_data, branch, .. } = instructions;
        let unit = &mut self.gpus[gpu].units[unit];
        let mut time = run(costs.scalar_alu, &mut unit.scalar, now, time, scalar);
        time = run(costs.local_data, &mut unit.local_data, now, time, local_data);
        time = run(costs.branch, &mut unit.branch, now, time, branch);
        accesses.scalar_instructions += u64::from(scalar);
        accesses.local_data_instructions += u64::from(local_data);
        accesses.branches += u64::from(branch);
        time
    }
}

#[inline]
const fn place(unit: usize, page: u32) -> usize {
    unit * RECENT + page as usize % RECENT
}

/// Like [`Class::run`], out of order.
#[inline]
fn run(class: Class, pipeline: &mut Backlog, now: u64, time: u64, count: u32) -> u64 {
    if count == 0 {
        return time;
    }
    let busy = u64::from(count) * class.occupancy;
    pipeline.book(now, time, busy) - busy + u64::from(count) * class.latency
}
