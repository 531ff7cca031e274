//! Where launches are cut, and which data of a strip is copied.

use std::ops::{ControlFlow, Range};

use super::reach::{GRANULE, Reach, Touch};
use super::refusal::StripsRefused;
use super::stream::Stream;
use crate::buffer::Buffer;
use crate::host_side::HostSide;
use crate::launches::{Launch, Workload};
use crate::op::LINE_BYTES;

/// The most strips and pieces of a program. Chosen: a program of that many copies is no strip-mined one, and is kept in
/// little memory still.
const MOST: usize = 1 << 18;

/// Work-groups of a launch that run together, and the staged buffers that they reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The launch that it is a part of.
    pub launch: u32,
    /// Its work-groups.
    pub groups: Range<u32>,
    /// In the order of addresses, packed in the arena.
    pub(super) pieces: Vec<Piece>,
}

/// Neighbouring bytes of a staged buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub buffer: u32,
    /// From the buffer's start.
    pub bytes: Range<u64>,
    /// Address of the first of them.
    pub address: u64,
    /// Its place in the arena.
    pub offset: u64,
    /// Whether the strip needs the host's data.
    pub comes: bool,
    /// Whether the strip changes it.
    pub goes: bool,
}

/// All strips in order, and by launch its first.
pub(super) fn cut(
    workload: &dyn Workload,
    side: &HostSide,
    staged: &[bool],
    arena_bytes: u64,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(Vec<Strip>, Vec<u32>), StripsRefused> {
    let granules = granules(workload.buffers(), staged);
    let mut cutter = Cutter {
        workload,
        stream: Stream::new(workload, go_on)?,
        most: (arena_bytes / GRANULE) as usize,
        known: Known::new(workload.buffers(), side, &granules),
        reach: Reach::new(&granules),
        strips: Vec::new(),
        pieces: 0,
    };
    let mut first = vec![0];
    for launch in 0..workload.launches() {
        cutter.known.host_writes(side, workload.buffers(), launch);
        cutter.launch(launch)?;
        first.push(cutter.strips.len() as u32);
    }
    Ok((cutter.strips, first))
}

/// For each granule of the address space, whether a staged buffer occupies it.
fn granules(buffers: &[Buffer], staged: &[bool]) -> Vec<bool> {
    let end = buffers.last().map_or(0, |last| last.base + last.bytes);
    let mut granules = vec![false; end.div_ceil(GRANULE) as usize];
    for (buffer, _) in buffers.iter().zip(staged).filter(|(_, staged)| **staged) {
        granules[(buffer.base / GRANULE) as usize..(buffer.base + buffer.bytes).div_ceil(GRANULE) as usize].fill(true);
    }
    granules
}

struct Cutter<'a> {
    workload: &'a dyn Workload,
    stream: Stream<'a>,
    /// Granules that fit the arena.
    most: usize,
    known: Known,
    reach: Reach<'a>,
    strips: Vec<Strip>,
    /// Pieces of all of them.
    pieces: usize,
}

impl Cutter<'_> {
    fn launch(&mut self, launch: u32) -> Result<(), StripsRefused> {
        let Launch { kernel, work_groups, wavefronts_per_group } = self.workload.launch(launch);
        let (mut ops, mut seen, mut begin) = (Vec::new(), Vec::new(), 0);
        for group in 0..work_groups {
            self.stream.group(launch, group, wavefronts_per_group, &mut ops)?;
            let mut reached = self.reach.len() + self.reach.more(&ops, &mut seen);
            if reached > self.most && group > begin {
                self.close(launch, begin..group)?;
                begin = group;
                reached = self.reach.more(&ops, &mut seen);
            }
            if reached > self.most {
                let (kernel, found, expected) =
                    (kernel.into_owned(), reached as u64 * GRANULE, self.most as u64 * GRANULE);
                return Err(StripsRefused::GroupTooLarge { launch, kernel, group, found, expected });
            }
            ops.iter().for_each(|op| self.reach.add(*op));
        }
        self.close(launch, begin..work_groups)
    }

    fn close(&mut self, launch: u32, groups: std::ops::Range<u32>) -> Result<(), StripsRefused> {
        let mut pieces: Vec<Piece> = Vec::new();
        let reached = self.reach.take();
        for (place, (granule, touch)) in reached.iter().enumerate() {
            let next = self.known.piece(self.workload.buffers(), *granule, touch, place as u64 * GRANULE);
            match pieces.last_mut() {
                Some(last) if last.joins(&next) => last.bytes.end = next.bytes.end,
                _ => pieces.push(next),
            }
        }
        // Later strips know what this one stores.
        reached.iter().filter(|(_, touch)| touch.stores()).for_each(|(granule, _)| self.known.mark(*granule));
        self.pieces += pieces.len();
        self.strips.push(Strip { launch, groups, pieces });
        if self.strips.len() + self.pieces <= MOST {
            return Ok(());
        }
        let kernel = self.workload.launch(launch).kernel.into_owned();
        Err(StripsRefused::TooMany { launch, kernel, most: MOST })
    }
}

impl Piece {
    /// Whether `next` continues this one, in memory and in its kind of copy.
    fn joins(&self, next: &Self) -> bool {
        let alike = (self.buffer, self.comes, self.goes) == (next.buffer, next.comes, next.goes);
        alike && self.bytes.end == next.bytes.start
    }
}

/// Which granules hold something, so that they are worth a copy to the GPU.
struct Known {
    /// By granule of the address space.
    known: Vec<bool>,
}

impl Known {
    fn new(buffers: &[Buffer], side: &HostSide, granules: &[bool]) -> Self {
        let mut known = Self { known: vec![false; granules.len()] };
        let inputs = buffers.iter().zip(side.roles()).filter(|(_, role)| role.input);
        inputs.for_each(|(buffer, _)| known.mark_bytes(buffer.base, buffer.base + buffer.bytes));
        known
    }

    /// The host's writes just before a launch.
    fn host_writes(&mut self, side: &HostSide, buffers: &[Buffer], launch: u32) {
        for exchange in side.exchanges_before(launch).iter().filter(|exchange| exchange.writes) {
            let base = buffers[exchange.buffer].base;
            self.mark_bytes(base + exchange.bytes.start, base + exchange.bytes.end);
        }
    }

    fn mark_bytes(&mut self, start: u64, end: u64) {
        (start / GRANULE..end.div_ceil(GRANULE)).for_each(|granule| self.mark(granule));
    }

    fn mark(&mut self, granule: u64) {
        self.known[granule as usize] = true;
    }

    /// A granule at its place in the arena.
    fn piece(&self, buffers: &[Buffer], granule: u64, touch: &Touch, offset: u64) -> Piece {
        let address = granule * GRANULE;
        let index = buffers.partition_point(|buffer| buffer.base + buffer.bytes <= address);
        let buffer = &buffers[index];
        let (start, end) = (address - buffer.base, (address + GRANULE - buffer.base).min(buffer.bytes));
        let whole = !touch.needs && touch.fills((end - start).div_ceil(LINE_BYTES));
        // A granule that is stored to in part goes back whole, so all of it must come.
        let comes = self.known[granule as usize] && (touch.needs || touch.stores() && !whole);
        Piece { buffer: index as u32, bytes: start..end, address, offset, comes, goes: touch.stores() }
    }
}
