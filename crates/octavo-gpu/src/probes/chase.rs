//! Latency of dependent loads over footprint and stride: caches, TLB and pages show as steps.

use std::cell::Cell;

use crate::driver::buffers::DeviceMemory;
use crate::driver::kernel::{Argument, Grid, Kernel};
use crate::error::GpuError;
use crate::probes::chain::Chain;
use crate::probes::check::expect;
use crate::probes::sizes::{per_octave, powers_of_two};
use crate::session::Session;
use crate::session::effort::Effort;
use crate::session::samples::Row;

/// Loads timed together: at 17 ns (L1) or 1 us (a miss in the TLB), 0.1 to 8 ms, between steps of the clock that are at
/// most a microsecond apart and are waited for.
const LOADS: u32 = 8192;

/// The same as in memory.cu.
const WALKERS: u64 = 32;

/// The longest line of any cache of NVIDIA's GPUs: places that may share one are visited one after another.
const LINE: u64 = 128;

/// From this stride on, no two places are on one page of the smallest kind, and L1 is bypassed: it may answer without
/// the TLB.
const SPARSE: u64 = 4096;

/// No page is larger than this in memory that the GPU's driver allocates.
const SMALLEST: u64 = 4 << 10;
const LARGEST: u64 = 8 << 30;

/// Strides from here on have few places, and go through most of the memory that is free: a TLB may reach further than
/// [`LARGEST`], as an H200's does.
const FAR: u64 = 2 << 20;

/// One stride with its footprints, in bytes.
pub(crate) struct Curve {
    stride: u64,
    footprints: Vec<u64>,
}

/// Curves to be measured on this GPU.
pub(crate) fn plan(session: &Session<'_>) -> Result<Vec<Curve>, GpuError> {
    let free = session.gpu.free_memory()?;
    let most = Most { near: (free / 4).min(LARGEST), far: free / 8 * 7 };
    Ok(curves(session.request.effort, session.gpu.l2(), most))
}

/// The largest footprints, in bytes: of strides below [`FAR`], and of the others.
#[derive(Clone, Copy)]
struct Most {
    near: u64,
    far: u64,
}

/// Full takes about 90 s. Each of 47 footprints beyond an L2 cache of 50 MB takes half a second (the time of a point):
/// 32 at stride 128, and 15 at the other short strides. A tenth goes to each of 280 others. Quick takes about 10 s:
/// fewer footprints, three to five repetitions of at most 30 ms.
fn curves(effort: Effort, l2: u64, most: Most) -> Vec<Curve> {
    let beyond = (16 * l2).min(most.near);
    let (points, sparse, dense): (u64, &[u64], u64) = match effort {
        Effort::Quick => (2, &[64 << 10, 512 << 10, 2 << 20, 8 << 20], beyond),
        Effort::Full => (4, &[64 << 10, 512 << 10, 2 << 20, 4 << 20, 8 << 20], most.near),
    };
    // What the size of a line is read from: the same few footprints for all short strides.
    let few = match effort {
        Effort::Quick => vec![(4 * l2).min(beyond)],
        Effort::Full => powers_of_two(SMALLEST, beyond, 2),
    };
    let short = [16, 32, 64, 256, 512].map(|stride| (stride, few.clone()));
    let levels = (LINE, with(per_octave(SMALLEST, dense, points), &few));
    let largest = |stride| if stride < FAR { most.near } else { most.far };
    let pages = sparse.iter().map(|&stride| (stride, per_octave(2 * stride, largest(stride), points)));
    let all = short.into_iter().chain([levels]).chain(pages);
    all.map(|(stride, footprints)| curve(stride, footprints)).filter(|curve| !curve.footprints.is_empty()).collect()
}

fn with(mut sizes: Vec<u64>, others: &[u64]) -> Vec<u64> {
    sizes.extend(others);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn curve(stride: u64, mut footprints: Vec<u64>) -> Curve {
    footprints.retain(|footprint| footprint % stride.max(LINE) == 0 && *footprint >= 2 * stride);
    Curve { stride, footprints }
}

/// How many footprints there are in all.
pub(crate) fn steps(plan: &[Curve]) -> usize {
    plan.iter().map(|curve| curve.footprints.len()).sum()
}

/// Measures all curves.
pub(crate) fn measure(session: &mut Session<'_>, plan: &[Curve]) -> Result<(), GpuError> {
    let largest = plan.iter().flat_map(|curve| &curve.footprints).max().copied().unwrap_or(SMALLEST);
    let work = Work::new(session, largest)?;
    for curve in plan {
        for &footprint in &curve.footprints {
            session.step(&format!("latency at stride {} through {footprint} bytes", curve.stride))?;
            work.footprint(session, curve.stride, footprint)?;
        }
    }
    Ok(())
}

struct Work {
    lay: Kernel,
    chase: Kernel,
    chase_past_l1: Kernel,
    memory: DeviceMemory,
    begins: DeviceMemory,
    result: DeviceMemory,
}

impl Work {
    fn new(session: &Session<'_>, bytes: u64) -> Result<Self, GpuError> {
        Ok(Self {
            lay: session.kernel("lay_chain")?,
            chase: session.kernel("chase")?,
            chase_past_l1: session.kernel("chase_past_l1")?,
            memory: session.gpu.device_memory(bytes)?,
            begins: session.gpu.device_memory(8 * WALKERS)?,
            result: session.gpu.device_memory(32)?,
        })
    }

    fn footprint(&self, session: &mut Session<'_>, stride: u64, footprint: u64) -> Result<(), GpuError> {
        let group = u32::try_from((LINE / stride).max(1)).expect("lines are short");
        let chain = Chain::new(footprint, stride, group);
        chain.lay(session.gpu, &session.stream, &self.lay, &self.memory)?;
        let steps = warming(chain, session.gpu.l2());
        let start = Cell::new(0);
        let row = Row::of("chase").integer("footprint", footprint).integer("stride", stride).count(LOADS.into());
        // Each launch warms up for itself, and times the part of the chain behind the one before.
        session.repeat_cold(&row, |session| {
            let seconds = self.walk(session, chain, steps, start.get())?;
            start.set(start.get() + u64::from(LOADS));
            Ok(seconds)
        })
    }

    /// Seconds of the loads from place number `start` of the chain on.
    fn walk(&self, session: &Session<'_>, chain: Chain, steps: u32, start: u64) -> Result<f64, GpuError> {
        use crate::driver::memory::Memory;

        let address = |step: u64| self.memory.address() + chain.offset(step);
        self.begins.write(&begins(start, steps, chain.count()).map(address))?;
        let kernel = if chain.stride < SPARSE { &self.chase } else { &self.chase_past_l1 };
        let arguments =
            [Argument::of(&self.begins), Argument::Word(steps), Argument::Word(LOADS), Argument::of(&self.result)];
        kernel.launch(&session.stream, Grid::new(1, 1), &arguments)?;
        session.stream.wait()?;
        let found: Vec<u64> = self.result.read(4)?;
        let end = address(start + u64::from(LOADS));
        expect(kernel.name(), &self.result, &[found[0], found[1], found[2], end])?;
        Ok(seconds(found[0], found[1], found[2]))
    }
}

/// Converts `cycles` into seconds, with a clock that counted `of_cycles` in `nanoseconds`.
fn seconds(cycles: u64, of_cycles: u64, nanoseconds: u64) -> f64 {
    cycles as f64 * (nanoseconds as f64 * 1e-9) / of_cycles as f64
}

/// The distance of each walker: together through all places, or through enough to fill L2 twice with their lines.
/// Places visited earlier have left the caches by then, so the walkers skip them.
fn warming(chain: Chain, l2: u64) -> u32 {
    let places = u64::from(chain.count()).min(2 * l2 / chain.stride.min(LINE));
    u32::try_from(places.div_ceil(WALKERS)).expect("a part of the count")
}

/// The starts of the walkers, in steps of the chain: `steps` apart, so that the last one ends where the timed walk
/// begins.
fn begins(start: u64, steps: u32, count: u32) -> [u64; WALKERS as usize] {
    // So often around the chain that no number is below 0: walkers go at most 31 places further than the chain is long.
    let around = (WALKERS + 1) * u64::from(count);
    std::array::from_fn(|walker| start + around - (WALKERS - walker as u64) * u64::from(steps))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Chain, LARGEST, LINE, Most, WALKERS, begins, curves, seconds, warming};
    use crate::session::effort::Effort;

    const L2: u64 = 64 << 20;

    #[test]
    fn walkers_visit_every_place_of_a_small_chain_and_end_where_the_timed_walk_begins() {
        for places in [2_u64, 31, 32, 33, 100, 4096] {
            let chain = Chain::new(places * LINE, LINE, 1);
            let steps = warming(chain, L2);
            let walkers = begins(77, steps, chain.count());
            let visited: BTreeSet<u64> = walkers
                .iter()
                .flat_map(|&begin| (begin..begin + u64::from(steps)).map(|step| chain.offset(step)))
                .collect();
            assert_eq!(visited.len() as u64, places);
            assert_eq!(chain.offset(walkers[31] + u64::from(steps)), chain.offset(77));
        }
    }

    #[test]
    fn warming_fills_the_cache_twice_and_no_more() {
        let chain = Chain::new(8 << 30, 128, 1);
        assert_eq!(u64::from(warming(chain, L2)) * WALKERS * 128, 2 * L2);
        let sparse = Chain::new(8 << 30, 2 << 20, 1);
        assert_eq!(warming(sparse, L2), 4096 / 32);
    }

    #[test]
    fn short_strides_share_a_footprint_beyond_the_cache() {
        for effort in [Effort::Quick, Effort::Full] {
            let plan = curves(effort, L2, Most { near: LARGEST, far: LARGEST });
            let of = |stride| plan.iter().find(|curve| curve.stride == stride).unwrap().footprints.clone();
            let shared =
                of(16).into_iter().filter(|size| [32, 64, 128, 256, 512].iter().all(|&s| of(s).contains(size)));
            assert!(shared.max().unwrap() >= 4 * L2);
        }
    }

    #[test]
    fn every_footprint_holds_whole_groups_and_fits() {
        for (effort, largest) in [(Effort::Quick, 64 << 20), (Effort::Full, LARGEST), (Effort::Full, 10 << 20)] {
            for curve in curves(effort, 1 << 20, Most { near: largest, far: largest }) {
                for footprint in curve.footprints {
                    assert!(footprint <= largest && footprint >= 2 * curve.stride);
                    let group = u32::try_from((LINE / curve.stride).max(1)).unwrap();
                    assert!(Chain::new(footprint, curve.stride, group).count() >= 2);
                }
            }
        }
    }

    #[test]
    fn long_strides_go_further_than_short_ones() {
        let most = Most { near: 8 << 30, far: 120 << 30 };
        let largest = |stride| {
            let plan = curves(Effort::Full, L2, most);
            plan.iter().find(|curve| curve.stride == stride).unwrap().footprints.last().copied().unwrap()
        };
        assert_eq!([64 << 10, 512 << 10].map(largest), [8 << 30, 8 << 30]);
        assert_eq!([2 << 20, 8 << 20].map(largest), [112 << 30, 112 << 30]);
    }

    #[test]
    fn cycles_become_seconds_by_the_other_clock() {
        assert!((seconds(500, 2_000, 1_000) - 250e-9).abs() < 1e-18);
    }
}
