//! Cost of copies between host and GPU.

use crate::driver::buffers::{DeviceMemory, HostMemory, PinnedMemory};
use crate::driver::kernel::{Argument, Grid, Kernel};
use crate::driver::memory::{Memory, PAGE, Touchable, to_usize};
use crate::driver::source::Source;
use crate::driver::stream::Stream;
use crate::error::GpuError;
use crate::probes::check::expect;
use crate::probes::sizes::powers_of_two;
use crate::session::probe::Probe;
use crate::session::samples::Row;
use crate::session::{Session, host_seconds};

/// Bulk copies between host and GPU.
pub(crate) struct Copies;

/// Takes about 3 s quick and 20 s full. A copy of 1 GiB takes 20 ms pinned and up to 200 ms pageable, and the times of
/// all smaller ones together are about as long as the largest one's.
const SMALLEST: u64 = 4 << 10;
const LARGEST_QUICK: u64 = 256 << 20;
const LARGEST_FULL: u64 = 1 << 30;

/// Sizes at which a kernel runs during the copy: long enough for launches not to matter.
const BESIDE_QUICK: &[u64] = &[16 << 20];
const BESIDE_FULL: &[u64] = &[1 << 20, 16 << 20, 256 << 20];

const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];

impl Probe for Copies {
    fn name(&self) -> &'static str {
        "copies"
    }

    fn title(&self) -> &'static str {
        "bulk copies between host and GPU"
    }

    fn about(&self) -> &'static str {
        "Copies of 4 KiB to 1 GiB from host to GPU and back, from pinned and from pageable memory that has been \
         touched: one synchronous call by the host's clock. (The driver returns from a small pageable copy to the GPU \
         when it has put the bytes aside.) With pinned memory also: the time until an asynchronous call returns; both \
         directions at once on two streams; and a copy beside a kernel that keeps every multiprocessor computing for \
         as long as the copy takes alone, compared with each of the two alone."
    }

    fn source(&self) -> Source {
        Source { name: "copies.cu", body: include_str!("copies.cu") }
    }

    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError> {
        let sizes = sizes(session)?;
        let buffers = Buffers::new(session, sizes.last().copied().unwrap_or(SMALLEST))?;
        session.steps(9);
        for direction in DIRECTIONS {
            session.step(&format!("{} pinned copies", direction.name()))?;
            copies(session, direction, "pinned", &buffers.pinned[0], &buffers.device[0], &sizes)?;
            session.step(&format!("{} pageable copies", direction.name()))?;
            copies(session, direction, "pageable", &buffers.pageable, &buffers.device[0], &sizes)?;
        }
        for direction in DIRECTIONS {
            session.step(&format!("{} asynchronous copies", direction.name()))?;
            issues(session, direction, &buffers, &sizes)?;
        }
        session.step("copies in both directions at once")?;
        both_ways(session, &buffers, &sizes)?;
        for direction in DIRECTIONS {
            session.step(&format!("{} copies beside a kernel", direction.name()))?;
            beside_a_kernel(session, direction, &buffers)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

impl Direction {
    fn name(self) -> &'static str {
        match self {
            Self::Up => "h2d",
            Self::Down => "d2h",
        }
    }

    /// Destination and source.
    fn ends<'a>(self, host: &'a dyn Memory, device: &'a dyn Memory) -> (&'a dyn Memory, &'a dyn Memory) {
        match self {
            Self::Up => (device, host),
            Self::Down => (host, device),
        }
    }
}

/// Two of each where both directions are copied at once.
struct Buffers {
    device: [DeviceMemory; 2],
    pinned: [PinnedMemory; 2],
    pageable: HostMemory,
}

impl Buffers {
    fn new(session: &Session<'_>, bytes: u64) -> Result<Self, GpuError> {
        let gpu = session.gpu;
        let buffers = Self {
            device: [gpu.device_memory(bytes)?, gpu.device_memory(bytes)?],
            pinned: [gpu.pinned_memory(bytes)?, gpu.pinned_memory(bytes)?],
            pageable: gpu.pageable_memory(bytes)?,
        };
        // Otherwise the first copies would wait for the system to find pages, and read zeros that no memory holds.
        buffers.pageable.host_writes(bytes, PAGE);
        buffers.pinned.iter().for_each(|pinned| pinned.host_writes(bytes, PAGE));
        Ok(buffers)
    }
}

/// At most a quarter of the GPU's free memory, as there are two buffers.
fn sizes(session: &Session<'_>) -> Result<Vec<u64>, GpuError> {
    let limit = session.gpu.free_memory()? / 4;
    let (largest, every) = session.choose((LARGEST_QUICK, 4), (LARGEST_FULL, 1));
    Ok(powers_of_two(SMALLEST, largest.min(limit), every))
}

fn copies(
    session: &mut Session<'_>,
    direction: Direction,
    memory: &str,
    host: &dyn Memory,
    device: &dyn Memory,
    sizes: &[u64],
) -> Result<(), GpuError> {
    let (to, from) = direction.ends(host, device);
    for &size in sizes {
        let row = Row::of("copy").word("direction", direction.name()).word("memory", memory);
        let row = row.integer("size", size).bytes(size).count(1);
        session.repeat(&row, |session| host_seconds(|| session.gpu.copy(to, from, size)))?;
    }
    Ok(())
}

fn issues(session: &mut Session<'_>, direction: Direction, buffers: &Buffers, sizes: &[u64]) -> Result<(), GpuError> {
    let (to, from) = direction.ends(&buffers.pinned[0], &buffers.device[0]);
    for &size in sizes {
        let row = Row::of("copy_issue").word("direction", direction.name()).integer("size", size).bytes(size).count(1);
        session.repeat(&row, |session| {
            let seconds = host_seconds(|| session.stream.copy(to, from, size))?;
            session.stream.wait()?;
            Ok(seconds)
        })?;
    }
    Ok(())
}

fn both_ways(session: &mut Session<'_>, buffers: &Buffers, sizes: &[u64]) -> Result<(), GpuError> {
    let other = session.gpu.stream()?;
    for &size in sizes {
        let row = Row::of("copy_both").integer("size", size).bytes(2 * size).count(2);
        session.repeat(&row, |session| {
            host_seconds(|| {
                session.stream.copy(&buffers.device[0], &buffers.pinned[0], size)?;
                other.copy(&buffers.pinned[1], &buffers.device[1], size)?;
                session.stream.wait()?;
                other.wait()
            })
        })?;
    }
    Ok(())
}

fn beside_a_kernel(session: &mut Session<'_>, direction: Direction, buffers: &Buffers) -> Result<(), GpuError> {
    let stream = session.gpu.stream()?;
    let busy = Busy::new(session)?;
    let (to, from) = direction.ends(&buffers.pinned[0], &buffers.device[0]);
    let largest = buffers.device[0].bytes();
    for &size in session.choose(BESIDE_QUICK, BESIDE_FULL).iter().filter(|&&size| size <= largest) {
        let nanoseconds = nanoseconds_alone(&stream, to, from, size)?;
        for (what, computes, copies) in [("kernel", true, false), ("copy", false, true), ("both", true, true)] {
            let row = Row::of("copy_overlap").word("what", what).word("direction", direction.name());
            let row = row.integer("size", size).count(1);
            let row = if copies { row.bytes(size) } else { row };
            session.repeat(&row, |session| {
                host_seconds(|| {
                    if computes {
                        busy.launch(&session.stream, nanoseconds)?;
                    }
                    if copies {
                        stream.copy(to, from, size)?;
                    }
                    session.stream.wait()?;
                    stream.wait()
                })
            })?;
        }
        busy.check(nanoseconds)?;
    }
    Ok(())
}

/// The best of three: the kernel should take equally long.
fn nanoseconds_alone(stream: &Stream, to: &dyn Memory, from: &dyn Memory, size: u64) -> Result<u64, GpuError> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let seconds = host_seconds(|| {
            stream.copy(to, from, size)?;
            stream.wait()
        })?;
        best = best.min(seconds);
    }
    Ok((best * 1e9) as u64)
}

/// A kernel that computes for a given time, by the GPU's clock, on all multiprocessors.
struct Busy {
    mark: Kernel,
    busy: Kernel,
    grid: Grid,
    begin: DeviceMemory,
    values: DeviceMemory,
    taken: DeviceMemory,
}

impl Busy {
    fn new(session: &Session<'_>) -> Result<Self, GpuError> {
        let busy = session.kernel("busy")?;
        let grid = busy.filling(session.gpu.multiprocessors(), 256)?;
        Ok(Self {
            mark: session.kernel("mark")?,
            busy,
            grid,
            begin: session.gpu.device_memory(8)?,
            values: session.gpu.device_memory(4 * grid.all_threads())?,
            taken: session.gpu.device_memory(8 * grid.all_threads())?,
        })
    }

    fn launch(&self, stream: &Stream, nanoseconds: u64) -> Result<(), GpuError> {
        self.mark.launch(stream, Grid::new(1, 1), &[Argument::of(&self.begin)])?;
        let arguments = [
            Argument::of(&self.begin),
            Argument::Long(nanoseconds),
            Argument::Float(0.5),
            Argument::of(&self.values),
            Argument::of(&self.taken),
        ];
        self.busy.launch(stream, self.grid, &arguments)
    }

    /// No thread has ended too early, and all have computed: repeated halving plus one converges to 2.
    fn check(&self, nanoseconds: u64) -> Result<(), GpuError> {
        let threads = to_usize(self.grid.all_threads());
        expect(self.busy.name(), &self.values, &vec![2.0_f32; threads])?;
        let taken: Vec<u64> = self.taken.read(threads)?;
        let early = taken.into_iter().find(|&taken| taken < nanoseconds);
        early.map_or(Ok(()), |early| {
            Err(GpuError::wrong_result(self.busy.name(), format!("{nanoseconds} ns or more"), format!("{early} ns")))
        })
    }
}
