//! Throughput of the multiprocessors, and the number of warps that saturates them.

use std::time::{Duration, Instant};

use crate::driver::buffers::DeviceMemory;
use crate::driver::kernel::{Argument, Grid, Kernel};
use crate::driver::memory::Memory;
use crate::driver::source::Source;
use crate::error::GpuError;
use crate::probes::chain::{Chain, with_chain};
use crate::probes::check::expect;
use crate::probes::sizes::power_within;
use crate::session::Session;
use crate::session::probe::Probe;
use crate::session::samples::Row;

/// Arithmetic peaks, occupancy against latency hiding.
pub(crate) struct Arithmetic;

/// Threads of a block where all of the GPU is filled.
const THREADS: u32 = 256;

/// Multiply-adds of a chain in one round, and chains of a thread, as in arithmetic.cu.
const A_ROUND: u32 = 32;
const CHAINS: u32 = 8;

/// Rounds of the peak: 10^6 cycles quick, 4 x 10^6 full, on multiprocessors of 128 units with 2048 threads.
const PEAK_ROUNDS: (u32, u32) = (300, 1000);

/// Rounds of a single chain at 4 cycles a step: 10^5 cycles quick, 10^6 full, compared with launches of some thousands.
const CHAIN_ROUNDS: (u32, u32) = (1000, 8000);

/// Loads of a thread that follow one another: half a millisecond, more where memory is full of them.
const LOADS: u32 = 512;

/// Places of the chain of loads: a sector of memory each.
const SECTOR: u64 = 32;

const FACTOR: f32 = 0.999;
const TERM: f32 = 0.25;
/// The factor of a well-known generator; any odd number does.
const WHOLE_FACTOR: u32 = 1_664_525;
const WHOLE_TERM: u32 = 1_013_904_223;

const WARPS_QUICK: &[u32] = &[1, 2, 4, 8, 16, 32, 64];
const WARPS_FULL: &[u32] = &[1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64];

impl Probe for Arithmetic {
    fn name(&self) -> &'static str {
        "arithmetic"
    }

    fn title(&self) -> &'static str {
        "arithmetic peaks, occupancy against latency hiding"
    }

    fn about(&self) -> &'static str {
        "Peak: as many threads as the GPU holds do multiply-adds in eight independent chains each, in single precision \
         and in 32-bit integers; each counts as two operations. Occupancy: 1 to all warps of every multiprocessor (in \
         one block, or two where one is too small; shared memory keeps others away) do multiply-adds in one chain a \
         thread, or each thread follows addresses from sector to sector through memory beyond the L2 cache, one load \
         in flight a thread; `count` is operations or loads of threads. By events of the GPU."
    }

    fn source(&self) -> Source {
        Source { name: "arithmetic.cu", body: with_chain!("arithmetic.cu") }
    }

    /// About 1 s quick and 10 s full: 2 + 2 x 17 rows of a few milliseconds a repetition.
    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError> {
        let all = session.gpu.warps_per_multiprocessor();
        let warps: Vec<u32> = session.choose(WARPS_QUICK, WARPS_FULL).iter().copied().filter(|&w| w <= all).collect();
        session.steps(2 + 2 * warps.len());
        peaks(session)?;
        let results = session.gpu.device_memory(8 * u64::from(session.gpu.multiprocessors() * all * 32))?;
        for &warps in &warps {
            session.step(&format!("multiply-adds by {warps} warps"))?;
            lone_chains(session, warps, &results)?;
        }
        let loads = Loads::new(session)?;
        for &warps in &warps {
            session.step(&format!("loads by {warps} warps"))?;
            loads.measure(session, warps, &results)?;
        }
        Ok(())
    }
}

fn peaks(session: &mut Session<'_>) -> Result<(), GpuError> {
    let rounds = session.choose(PEAK_ROUNDS.0, PEAK_ROUNDS.1);
    let steps = rounds * A_ROUND;
    session.step("peak of fp32")?;
    let numbers = [Argument::Float(FACTOR), Argument::Float(TERM)];
    let results = peak(session, "fp32", "peak_fp32", numbers, rounds)?;
    let chains: Vec<f32> = (0..CHAINS).map(|chain| multiply_adds(chain as f32, steps)).collect();
    expect("peak_fp32", &results, &[chains.iter().sum::<f32>()])?;
    session.step("peak of int32")?;
    let numbers = [Argument::Word(WHOLE_FACTOR), Argument::Word(WHOLE_TERM)];
    let results = peak(session, "int32", "peak_int32", numbers, rounds)?;
    let chains = (0..CHAINS).map(|chain| whole_multiply_adds(chain, steps));
    expect("peak_int32", &results, &[chains.fold(0, u32::wrapping_add)])
}

/// Stores what the threads have computed.
fn peak(
    session: &mut Session<'_>,
    kind: &str,
    name: &str,
    numbers: [Argument; 2],
    rounds: u32,
) -> Result<DeviceMemory, GpuError> {
    let kernel = session.kernel(name)?;
    let grid = kernel.filling(session.gpu.multiprocessors(), THREADS)?;
    let results = session.gpu.device_memory(4 * grid.all_threads())?;
    let arguments = [numbers[0], numbers[1], Argument::Word(rounds), Argument::of(&results)];
    warm_up(session, || kernel.launch(&session.stream, grid, &arguments))?;
    let operations = 2 * grid.all_threads() * u64::from(rounds * A_ROUND * CHAINS);
    session.repeat(&Row::of("peak").word("type", kind).count(operations), |session| {
        session.stopwatch.time(&session.stream, || kernel.launch(&session.stream, grid, &arguments))
    })?;
    Ok(results)
}

/// Clocks go up under load: a tenth of a second of it.
fn warm_up(session: &Session<'_>, work: impl Fn() -> Result<(), GpuError>) -> Result<(), GpuError> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(100) {
        work()?;
        session.stream.wait()?;
    }
    Ok(())
}

fn lone_chains(session: &mut Session<'_>, warps: u32, results: &DeviceMemory) -> Result<(), GpuError> {
    let rounds = session.choose(CHAIN_ROUNDS.0, CHAIN_ROUNDS.1);
    let kernel = session.kernel("one_chain")?;
    let grid = occupying(session, &kernel, warps)?;
    let arguments = [Argument::Float(FACTOR), Argument::Float(TERM), Argument::Word(rounds), Argument::of(results)];
    let operations = 2 * grid.all_threads() * u64::from(rounds * A_ROUND);
    let row = Row::of("occupancy").word("what", "fma").integer("warps", warps.into()).count(operations);
    session.repeat(&row, |session| {
        session.stopwatch.time(&session.stream, || kernel.launch(&session.stream, grid, &arguments))
    })?;
    expect(kernel.name(), results, &[multiply_adds(0.0, rounds * A_ROUND)])
}

/// This many warps on every multiprocessor: blocks use so much of its shared memory that no more fit.
fn occupying(session: &Session<'_>, kernel: &Kernel, warps: u32) -> Result<Grid, GpuError> {
    let each = if warps * 32 > MOST_THREADS { 2 } else { 1 };
    let of_all = session.gpu.description.number("shared_bytes_per_multiprocessor");
    let shared = u32::try_from(of_all * 3 / 4 / u64::from(each)).unwrap_or(0);
    kernel.allow_shared(shared)?;
    Ok(Grid { blocks: session.gpu.multiprocessors() * each, threads: warps * 32 / each, shared })
}

/// No block of any GPU has more.
const MOST_THREADS: u32 = 1024;

struct Loads {
    kernel: Kernel,
    chain: Chain,
    memory: DeviceMemory,
}

impl Loads {
    fn new(session: &Session<'_>) -> Result<Self, GpuError> {
        let footprint = (16 * session.gpu.l2()).min(power_within(session.gpu.free_memory()? / 4));
        let memory = session.gpu.device_memory(footprint)?;
        let chain = Chain::new(footprint, SECTOR, 1);
        chain.lay(session.gpu, &session.stream, &session.kernel("lay_chain")?, &memory)?;
        Ok(Self { kernel: session.kernel("follow_chain")?, chain, memory })
    }

    fn measure(&self, session: &mut Session<'_>, warps: u32, results: &DeviceMemory) -> Result<(), GpuError> {
        let grid = occupying(session, &self.kernel, warps)?;
        let arguments = [
            Argument::of(&self.memory),
            Argument::Long(SECTOR),
            Argument::Word(self.chain.count()),
            Argument::Word(self.chain.bits()),
            Argument::Word(LOADS),
            Argument::of(results),
        ];
        let row = Row::of("occupancy").word("what", "load").integer("warps", warps.into());
        session.repeat(&row.count(grid.all_threads() * u64::from(LOADS)), |session| {
            session.stopwatch.time(&session.stream, || self.kernel.launch(&session.stream, grid, &arguments))
        })?;
        let apart = u64::from(self.chain.count()) / grid.all_threads();
        let end = |thread| self.memory.address() + self.chain.offset(thread * apart + u64::from(LOADS));
        expect(self.kernel.name(), results, &(0..grid.all_threads()).map(end).collect::<Vec<u64>>())
    }
}

/// The result of a chain with the GPU's rounding: once for each multiply-add.
fn multiply_adds(begin: f32, steps: u32) -> f32 {
    (0..steps).fold(begin, |value, _| value.mul_add(FACTOR, TERM))
}

fn whole_multiply_adds(begin: u32, steps: u32) -> u32 {
    (0..steps).fold(begin, |value, _| value.wrapping_mul(WHOLE_FACTOR).wrapping_add(WHOLE_TERM))
}

#[cfg(test)]
mod tests {
    use super::{CHAIN_ROUNDS, PEAK_ROUNDS, multiply_adds};

    #[test]
    fn chains_stay_numbers_for_as_long_as_they_are_timed() {
        let longest = super::A_ROUND * PEAK_ROUNDS.1.max(CHAIN_ROUNDS.1);
        assert!((multiply_adds(1000.0, longest) - multiply_adds(0.0, longest)).abs() < 0.1);
        assert!((multiply_adds(0.0, longest) - 250.0).abs() < 0.1);
    }
}
