//! Pipelines of compute units where accesses are issued in order of time: booked in buckets.
//!
//! All computing of a wavefront before its next access is booked at once. With a single next-free time, others would
//! wait for it although their instructions come in between.

use octavo_node::ComputeConfig;
use octavo_program::InstructionMix;

use crate::engine::costs::{Class, Costs};
use crate::engine::lane::Lane;

/// Pipelines are booked in buckets of 16 ns.
const BUCKET_SHIFT: u32 = 14;

/// Pipelines of a unit other than its SIMDs: their places come after these.
const SCALAR: usize = 0;
const LOCAL_DATA: usize = 1;
const BRANCH: usize = 2;
const PORT: usize = 3;
const SHARED: usize = 4;

/// All pipelines of a GPU's units.
pub(crate) struct Pipelines {
    /// By unit: its SIMDs, then the shared ones.
    lanes: Vec<Lane>,
    simds: usize,
}

impl Pipelines {
    pub fn new(compute: &ComputeConfig) -> Self {
        let simds = compute.simds_per_unit as usize;
        let lanes = compute.units as usize * (simds + SHARED);
        Self { lanes: (0..lanes).map(|_| Lane::new(BUCKET_SHIFT)).collect(), simds }
    }

    /// Instructions of several classes, one class after another; returns their end. `simd` is counted over the GPU.
    pub fn run(
        &mut self,
        (unit, simd): (usize, usize),
        costs: &Costs,
        (now, time): (u64, u64),
        instructions: InstructionMix,
    ) -> u64 {
        let InstructionMix { vector, scalar, local_data, branch } = instructions;
        let first = unit * (self.simds + SHARED);
        let shared = first + self.simds;
        let own = first + simd % self.simds;
        let or_own = |lane| if costs.simd_issues_all { own } else { shared + lane };
        let mut time = time;
        for (lane, class, count) in [
            (own, costs.vector_alu, vector),
            (or_own(SCALAR), costs.scalar_alu, scalar),
            (shared + LOCAL_DATA, costs.local_data, local_data),
            (or_own(BRANCH), costs.branch, branch),
        ] {
            if count > 0 {
                time = run(&mut self.lanes[lane], class, (now, time), count.into());
            }
        }
        time
    }

    /// The memory pipeline takes lines for `duration`; returns the time at which it starts.
    #[inline]
    pub fn issue_lines(&mut self, unit: usize, (now, time): (u64, u64), duration: u64) -> u64 {
        let lane = unit * (self.simds + SHARED) + self.simds + PORT;
        self.lanes[lane].reserve(now, time, duration) - duration
    }

    /// A scalar load; returns when it is issued.
    pub fn issue_scalar(&mut self, unit: usize, costs: &Costs, (now, time): (u64, u64)) -> u64 {
        let lane = unit * (self.simds + SHARED) + self.simds + SCALAR;
        let occupancy = costs.scalar_alu.occupancy;
        self.lanes[lane].reserve(now, time, occupancy) - occupancy
    }
}

/// The end of `count` instructions of a wavefront: as fast as they follow one another, or as the pipeline has room.
fn run(lane: &mut Lane, class: Class, (now, time): (u64, u64), count: u64) -> u64 {
    let taken = lane.reserve(now, time, count * class.occupancy);
    (time + class.lasts(count)).max(taken + class.latency.saturating_sub(class.occupancy))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASS: Class = Class { occupancy: 4_000, latency: 5_000, step: 5_000 };

    #[test]
    fn an_earlier_instruction_does_not_wait_for_a_later_one() {
        let mut lane = Lane::new(BUCKET_SHIFT);
        assert_eq!(run(&mut lane, CLASS, (0, 100_000), 1), 105_000);
        assert_eq!(run(&mut lane, CLASS, (0, 0), 3), 15_000);
    }

    #[test]
    fn wavefronts_share_a_pipeline_at_its_rate() {
        let mut lane = Lane::new(BUCKET_SHIFT);
        let over: Vec<u64> = (0..4).map(|_| run(&mut lane, CLASS, (0, 0), 10)).collect();
        assert_eq!(over[0], 50_000, "alone, each instruction waits for the one before");
        assert_eq!(over[3], 161_000, "forty take 160 ns, and the last its latency");
    }
}
