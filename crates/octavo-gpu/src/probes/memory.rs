//! Bandwidth and latency of the GPU's own memory.

use crate::driver::buffers::DeviceMemory;
use crate::driver::kernel::{Argument, Grid, Kernel};
use crate::driver::memory::to_usize;
use crate::driver::source::Source;
use crate::error::GpuError;
use crate::probes::chain::with_chain;
use crate::probes::chase;
use crate::probes::check::{BYTE, expect, expect_at, sum_of_words};
use crate::probes::sizes::{power_within, powers_of_two};
use crate::session::Session;
use crate::session::probe::Probe;
use crate::session::samples::Row;

/// STREAM bandwidth, latency of a pointer chase, bandwidth of random lines.
pub(crate) struct MemoryProbe;

/// Threads of a block in all kernels but the chase.
const THREADS: u32 = 256;

/// STREAM moves at least this many times the size of L2 in each timed run, so it goes through small arrays more than
/// once.
const STREAM_L2: u64 = 4;

/// The factor of STREAM's third operand.
const SCALE: f32 = 3.0;

/// Lines a thread reads of each launch: half a millisecond or more.
const LINES_A_THREAD: u32 = 256;

impl Probe for MemoryProbe {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn title(&self) -> &'static str {
        "device memory: streams, latency, random lines"
    }

    fn about(&self) -> &'static str {
        "STREAM's four operations on arrays of single precision within and beyond the L2 cache, 16 bytes an access, by \
         events of the GPU; `size` is one array, and bytes are counted as STREAM does. Random lines: as many threads \
         as the GPU holds read whole lines of 32, 64 or 128 bytes that a hash picks, 4, 8 or 16 bytes a thread. \
         Latency: one thread follows a chain of addresses through places `stride` bytes apart, in random order (places \
         in the same 128 bytes one after another), after the caches and the TLB have been brought to what they are \
         after a long walk; its cycles are converted by the shared clock of the GPU over the same kernel. From strides \
         of 4 KiB on, the loads pass over the L1 cache, so that translation is seen."
    }

    fn source(&self) -> Source {
        Source { name: "memory.cu", body: with_chain!("memory.cu") }
    }

    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError> {
        let plan = chase::plan(session)?;
        session.steps(OPERATIONS.len() + WIDTHS.len() + chase::steps(&plan));
        // First what keeps the GPU busy, so that its clocks are up when latency is measured.
        streams(session)?;
        random_lines(session)?;
        chase::measure(session, &plan)
    }
}

/// One of STREAM's operations.
struct Operation {
    name: &'static str,
    kernel: &'static str,
    /// Arrays it reads, then the one it writes: a, b and c are 0, 1 and 2.
    arrays: &'static [usize],
    scales: bool,
    /// Its result if a is 1, b is 2, and c is the result of the operation before.
    gives: f32,
}

/// In STREAM's order: copy leaves c = 1, scale b = 3, add c = 4, triad a = 15.
const OPERATIONS: &[Operation] = &[
    Operation { name: "copy", kernel: "stream_copy", arrays: &[0, 2], scales: false, gives: 1.0 },
    Operation { name: "scale", kernel: "stream_scale", arrays: &[2, 1], scales: true, gives: SCALE },
    Operation { name: "add", kernel: "stream_add", arrays: &[0, 1, 2], scales: false, gives: 1.0 + SCALE },
    Operation {
        name: "triad",
        kernel: "stream_triad",
        arrays: &[1, 2, 0],
        scales: true,
        gives: SCALE + SCALE * (1.0 + SCALE),
    },
];

fn streams(session: &mut Session<'_>) -> Result<(), GpuError> {
    let (l2, limit) = (session.gpu.l2(), session.gpu.free_memory()? / 8);
    // An eighth of L2 lies within it three times, 16 times L2 far beyond.
    let sizes = powers_of_two(l2 / 8, (16 * l2).min(limit), session.choose(3, 1));
    let largest = sizes.last().copied().unwrap_or(l2 / 8);
    let arrays = [(); 3].map(|()| session.gpu.device_memory(largest));
    let [a, b, c] = arrays;
    let arrays = [a?, b?, c?];
    stream_begin(session, &arrays, largest)?;
    for operation in OPERATIONS {
        session.step(&format!("STREAM {}", operation.name))?;
        let kernel = session.kernel(operation.kernel)?;
        for &size in &sizes {
            stream(session, operation, &kernel, &arrays, size)?;
        }
        let written = operation.arrays.last().map_or(0, |&array| array);
        // The end: what only the largest size comes to.
        let some = vec![operation.gives; 1024];
        expect_at(kernel.name(), &arrays[written], largest - size_of_val(some.as_slice()) as u64, &some)?;
    }
    Ok(())
}

fn stream_begin(session: &Session<'_>, arrays: &[DeviceMemory; 3], bytes: u64) -> Result<(), GpuError> {
    let kernel = session.kernel("stream_begin")?;
    let mut arguments: Vec<Argument> = arrays.iter().map(|array| Argument::of(array)).collect();
    arguments.push(Argument::Long(bytes / 16));
    kernel.launch(&session.stream, kernel.filling(session.gpu.multiprocessors(), THREADS)?, &arguments)?;
    session.stream.wait()
}

fn stream(
    session: &mut Session<'_>,
    operation: &Operation,
    kernel: &Kernel,
    arrays: &[DeviceMemory; 3],
    size: u64,
) -> Result<(), GpuError> {
    let mut arguments: Vec<Argument> = operation.arrays.iter().map(|&array| Argument::of(&arrays[array])).collect();
    arguments.extend(operation.scales.then_some(Argument::Float(SCALE)));
    arguments.push(Argument::Long(size / 16));
    let grid = kernel.filling(session.gpu.multiprocessors(), THREADS)?;
    let moved = size * operation.arrays.len() as u64;
    let passes = (STREAM_L2 * session.gpu.l2()).div_ceil(moved);
    let row = Row::of("stream").word("operation", operation.name).integer("size", size);
    session.repeat(&row.bytes(moved * passes).count(passes), |session| {
        session
            .stopwatch
            .time(&session.stream, || (0..passes).try_for_each(|_| kernel.launch(&session.stream, grid, &arguments)))
    })
}

const WIDTHS: [(&str, u64); 3] = [("lines_by_4", 4), ("lines_by_8", 8), ("lines_by_16", 16)];
const LINES: [u64; 3] = [32, 64, 128];

fn random_lines(session: &mut Session<'_>) -> Result<(), GpuError> {
    let (l2, limit) = (session.gpu.l2(), power_within(session.gpu.free_memory()? / 4));
    let footprints = session.choose(vec![16 * l2], vec![l2 / 2, 4 * l2, 16 * l2, 64 * l2]);
    let mut footprints: Vec<u64> = footprints.into_iter().map(|footprint| footprint.min(limit)).collect();
    footprints.dedup();
    let memory = session.gpu.device_memory(footprints.last().copied().unwrap_or(limit))?;
    memory.fill(BYTE)?;
    for (name, width) in WIDTHS {
        session.step(&format!("random lines, {width} bytes a thread"))?;
        let kernel = session.kernel(name)?;
        let grid = kernel.filling(session.gpu.multiprocessors(), THREADS)?;
        let sums = session.gpu.device_memory(4 * grid.all_threads())?;
        for &footprint in &footprints {
            for line in LINES {
                let row = Row::of("random_lines").integer("footprint", footprint).integer("width", width);
                let row = row.integer("line", line);
                lines(session, row, (&kernel, grid), (&memory, &sums), (footprint, width, line))?;
            }
        }
    }
    Ok(())
}

fn lines(
    session: &mut Session<'_>,
    row: Row,
    (kernel, grid): (&Kernel, Grid),
    (memory, sums): (&DeviceMemory, &DeviceMemory),
    (footprint, width, line): (u64, u64, u64),
) -> Result<(), GpuError> {
    let loads = grid.all_threads() * u64::from(LINES_A_THREAD);
    let first = std::cell::Cell::new(0_u32);
    session.repeat(&row.bytes(loads * width).count(loads), |session| {
        let arguments = [
            Argument::of(memory),
            Argument::Word(u32::try_from(footprint / line).expect("fewer than 2^32 lines")),
            Argument::Word(u32::try_from(line).expect("lines are short")),
            Argument::Word(LINES_A_THREAD),
            Argument::Word(first.get()),
            Argument::of(sums),
        ];
        // Other lines each time: what the last launch has left in the caches is as good as any.
        first.set(first.get().wrapping_add(u32::try_from(loads * width / line).unwrap_or(u32::MAX)));
        session.stopwatch.time(&session.stream, || kernel.launch(&session.stream, grid, &arguments))
    })?;
    let sum = sum_of_words(u64::from(LINES_A_THREAD) * width / 4);
    expect(kernel.name(), sums, &vec![sum; to_usize(grid.all_threads())])
}

#[cfg(test)]
mod tests {
    use super::OPERATIONS;

    #[test]
    fn stream_gives_the_same_however_often_an_operation_is_done() {
        let mut arrays = [1.0, 2.0, 0.0];
        for operation in OPERATIONS {
            let (written, read) = operation.arrays.split_last().unwrap();
            assert!(!read.contains(written), "{} reads what it writes", operation.name);
            let scale = if operation.scales { super::SCALE } else { 1.0 };
            let last = scale * arrays[*read.last().unwrap()];
            arrays[*written] = if read.len() == 2 { arrays[read[0]] + last } else { last };
            assert!((arrays[*written] - operation.gives).abs() < f32::EPSILON, "{}", operation.name);
        }
    }
}
