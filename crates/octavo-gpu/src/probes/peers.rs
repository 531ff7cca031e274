//! Bandwidth and latency between GPUs.

use crate::driver::buffers::DeviceMemory;
use crate::driver::describe::describe;
use crate::driver::event::Stopwatch;
use crate::driver::gpu::Gpu;
use crate::driver::kernel::{Argument, Grid, Kernel};
use crate::driver::memory::to_usize;
use crate::driver::peer::{Access, Link};
use crate::driver::source::Source;
use crate::driver::stream::Stream;
use crate::error::GpuError;
use crate::probes::check::{BYTE, expect, sum_of_words};
use crate::probes::sizes::{power_within, powers_of_two};
use crate::session::probe::Probe;
use crate::session::samples::Row;
use crate::session::{Session, host_seconds};

/// Copies and loads between GPUs.
pub(crate) struct Peers;

/// Quick takes about a second for two GPUs (2 pairs of 6 rows and 2 of loads), full 4 s; where links are slow or GPUs
/// are eight (56 pairs), up to twenty times that.
const SMALLEST: u64 = 4 << 10;
const LARGEST_QUICK: u64 = 256 << 20;
const LARGEST_FULL: u64 = 1 << 30;

/// Bytes that a launch of loads reads: a millisecond over the fastest links, ten over a bus.
const READ: u64 = 256 << 20;

/// Bytes that eight threads read together.
const LINE: u64 = 128;

const SERIES: [&str; 3] = ["peer_copy", "peer_load", "topology"];

const KERNELS: Source = Source { name: "peers.cu", body: include_str!("peers.cu") };

impl Probe for Peers {
    fn name(&self) -> &'static str {
        "peers"
    }

    fn title(&self) -> &'static str {
        "copies and loads between GPUs"
    }

    fn about(&self) -> &'static str {
        "For each two GPUs, in both orders: what the driver says about their link (it ranks links, and does not say \
         what they are); copies of 4 KiB to 1 GiB from the source to the target, one way and both ways at once on two \
         streams of the source, by the host's clock until they are done (by way of the host where neither reaches the \
         other); and, where the source reaches the target's memory, loads of lines of 128 bytes by as many threads as \
         it holds, in order or by hash, by events of the source."
    }

    fn source(&self) -> Source {
        KERNELS
    }

    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError> {
        let measured = all_pairs(session, describe()?.len());
        session.gpu.make_current()?;
        measured
    }
}

fn all_pairs(session: &mut Session<'_>, count: usize) -> Result<(), GpuError> {
    let gpus = if count < 2 { Vec::new() } else { open_all(session, count) };
    if gpus.len() < 2 {
        SERIES.iter().for_each(|series| session.skip(series, "there is one GPU, or only one that can be used"));
        return Ok(());
    }
    session.steps(gpus.len() * (gpus.len() - 1));
    let bytes = buffer_bytes(session, &gpus)?;
    let nodes = gpus.into_iter().map(|gpu| Node::new(gpu, bytes)).collect::<Result<Vec<_>, _>>()?;
    let mut apart = Vec::new();
    for from in &nodes {
        for to in nodes.iter().filter(|to| to.number() != from.number()) {
            session.step(&format!("GPU {} and GPU {}", from.number(), to.number()))?;
            if !pair(session, from, to, bytes)? {
                apart.push(format!("{} to {}", from.number(), to.number()));
            }
        }
    }
    if !apart.is_empty() {
        session.skip("peer_load", format!("kernels do not reach the other GPU's memory: {}", apart.join(", ")));
    }
    Ok(())
}

/// The GPUs that other processes do not keep for themselves.
fn open_all(session: &mut Session<'_>, count: usize) -> Vec<Gpu> {
    let (mut open, mut closed) = (Vec::new(), Vec::new());
    for index in 0..count {
        match Gpu::open(index, session.gpu.kernels()) {
            Ok(gpu) => open.push(gpu),
            Err(error) => closed.push(format!("without GPU {index}: {error}")),
        }
    }
    if !closed.is_empty() {
        session.skip("peer_copy", closed.join("; "));
    }
    open
}

/// A power of two; two such buffers take at most a quarter of the free memory of any GPU.
fn buffer_bytes(session: &Session<'_>, gpus: &[Gpu]) -> Result<u64, GpuError> {
    let mut bytes = session.choose(LARGEST_QUICK, LARGEST_FULL);
    for gpu in gpus {
        gpu.make_current()?;
        bytes = bytes.min(power_within(gpu.free_memory()? / 8));
    }
    Ok(bytes)
}

/// One GPU with its resources. On drop, the context is current, since it owns these buffers.
struct Node {
    stream: Stream,
    back: Stream,
    stopwatch: Stopwatch,
    /// The buffer that others read, and the one that they write.
    outgoing: DeviceMemory,
    incoming: DeviceMemory,
    sums: DeviceMemory,
    kernel: Kernel,
    grid: Grid,
    gpu: Gpu,
}

impl Node {
    fn new(gpu: Gpu, bytes: u64) -> Result<Self, GpuError> {
        gpu.make_current()?;
        let kernel = gpu.module(&KERNELS)?.kernel("read_peer")?;
        let grid = kernel.filling(gpu.multiprocessors(), 256)?;
        let node = Self {
            stream: gpu.stream()?,
            back: gpu.stream()?,
            stopwatch: gpu.stopwatch(&KERNELS)?,
            outgoing: gpu.device_memory(bytes)?,
            incoming: gpu.device_memory(bytes)?,
            sums: gpu.device_memory(4 * grid.all_threads())?,
            kernel,
            grid,
            gpu,
        };
        node.outgoing.fill(BYTE)?;
        node.incoming.fill(BYTE)?;
        Ok(node)
    }

    fn number(&self) -> u64 {
        self.gpu.description.index as u64
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.gpu.make_current();
    }
}

/// Says whether the source reaches the target's memory.
fn pair(session: &mut Session<'_>, source: &Node, target: &Node, bytes: u64) -> Result<bool, GpuError> {
    let link = Link::between(&source.gpu, &target.gpu)?;
    let back = Link::between(&target.gpu, &source.gpu)?;
    let row = row("topology", source, target).integer("access", link.access.into());
    session.note(row.integer("rank", link.rank).integer("atomics", link.atomics.into()));
    let _back = back.access.then(|| Access::enable(&target.gpu, &source.gpu)).transpose()?;
    let _there = link.access.then(|| Access::enable(&source.gpu, &target.gpu)).transpose()?;
    source.gpu.make_current()?;
    copies(session, source, target, bytes)?;
    if link.access {
        loads(session, source, target, "sequential", bytes)?;
        loads(session, source, target, "random", bytes)?;
    }
    Ok(link.access)
}

fn row(series: &'static str, source: &Node, target: &Node) -> Row {
    Row::of(series).integer("source", source.number()).integer("target", target.number())
}

fn copies(session: &mut Session<'_>, source: &Node, target: &Node, largest: u64) -> Result<(), GpuError> {
    for size in powers_of_two(SMALLEST, largest, session.choose(4, 2)) {
        for both in [false, true] {
            let row = row("peer_copy", source, target).integer("size", size).integer("both", both.into());
            let ways = 1 + u64::from(both);
            session.repeat(&row.bytes(ways * size).count(ways), |_| {
                host_seconds(|| {
                    let (there, here) = (target.gpu.context(), source.gpu.context());
                    source.stream.copy_between((&target.incoming, there), (&source.outgoing, here), size)?;
                    if both {
                        source.back.copy_between((&source.incoming, here), (&target.outgoing, there), size)?;
                    }
                    source.stream.wait()?;
                    source.back.wait()
                })
            })?;
        }
    }
    Ok(())
}

fn loads(session: &mut Session<'_>, source: &Node, target: &Node, pattern: &str, bytes: u64) -> Result<(), GpuError> {
    let threads = source.grid.all_threads();
    let each = u32::try_from(bytes.min(READ) / 16 / threads).unwrap_or(u32::MAX).max(1);
    let all = threads * u64::from(each);
    let row = row("peer_load", source, target).word("pattern", pattern).bytes(16 * all).count(all);
    let first = std::cell::Cell::new(0_u32);
    session.repeat(&row, |_| {
        let arguments = [
            Argument::of(&target.outgoing),
            Argument::Word(u32::try_from(bytes / LINE).expect("fewer than 2^32 lines")),
            Argument::Word(each),
            Argument::Word(first.get()),
            Argument::Word((pattern == "random").into()),
            Argument::of(&source.sums),
        ];
        // Each launch goes on where the one before has ended.
        first.set(first.get().wrapping_add(u32::try_from(16 * all / LINE).unwrap_or(u32::MAX)));
        source.stopwatch.time(&source.stream, || source.kernel.launch(&source.stream, source.grid, &arguments))
    })?;
    expect(source.kernel.name(), &source.sums, &vec![sum_of_words(u64::from(each) * 4); to_usize(threads)])
}
