//! The launches of a workload in strips.

use super::{Strip, Strips};
use crate::buffer::Buffer;
use crate::host_side::HostSide;
use crate::launches::{Cursor, Launch, Resources, Workload};
use crate::op::{LINE_BYTES, Op, OpKind, OpSink};
use crate::program::Program;

/// A workload whose launches are strips of another workload's, on pieces of its buffers in an arena.
pub struct Stripped {
    launches: Box<dyn Workload>,
    strips: Strips,
    /// First line of the arena.
    arena: u64,
}

impl Stripped {
    /// The strips of `workload`, on the arena of the `program` that was made of both.
    ///
    /// # Panics
    /// When the program has no arena: it was made otherwise.
    #[must_use]
    pub fn new(workload: Box<dyn Workload>, strips: Strips, program: &Program) -> Self {
        let arena = program.buffers().last().expect("the arena lies behind all buffers");
        Self { launches: workload, strips, arena: arena.buffer.base / LINE_BYTES }
    }

    fn strip(&self, number: u32) -> &Strip {
        &self.strips[number]
    }
}

impl Strip {
    /// An operation of its launch, with its lines moved to an arena that begins at line `arena`. Lines outside all
    /// pieces stay.
    fn moved(&self, op: Op, arena: u64) -> Op {
        if !matches!(op.kind(), OpKind::Load | OpKind::Store | OpKind::ScalarLoad) {
            return op;
        }
        let address = op.line() * LINE_BYTES;
        let index = self.pieces.partition_point(|piece| piece.address <= address);
        let Some(piece) = index.checked_sub(1).map(|index| &self.pieces[index]) else { return op };
        // A last line may be longer than its buffer.
        let end = (piece.address + piece.bytes.end - piece.bytes.start).next_multiple_of(LINE_BYTES);
        if address >= end {
            return op;
        }
        op.over(arena + (piece.offset + address - piece.address) / LINE_BYTES, op.count())
    }
}

impl Workload for Stripped {
    /// The workload's: the arena belongs to the program.
    fn buffers(&self) -> &[Buffer] {
        self.launches.buffers()
    }

    fn launches(&self) -> u32 {
        self.strips.len()
    }

    fn launch(&self, index: u32) -> Launch {
        let strip = self.strip(index);
        Launch { work_groups: strip.groups.end - strip.groups.start, ..self.launches.launch(strip.launch) }
    }

    fn resources(&self, index: u32) -> Resources {
        self.launches.resources(self.strip(index).launch)
    }

    fn flushed_before(&self, index: u32) -> bool {
        let strip = self.strip(index);
        strip.groups.start == 0 && self.launches.flushed_before(strip.launch)
    }

    fn code_bytes(&self, index: u32) -> u64 {
        self.launches.code_bytes(self.strip(index).launch)
    }

    fn waits_for_some(&self) -> bool {
        self.launches.waits_for_some()
    }

    fn tells_dependences(&self) -> bool {
        self.launches.tells_dependences()
    }

    /// The workload's: staged data belongs to the host.
    fn host_side(&self) -> HostSide {
        self.launches.host_side()
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let strip = self.strip(launch);
        self.launches.fill(strip.launch, strip.groups.start + group, wavefront, cursor, out);
        out.each(|op| strip.moved(op, self.arena));
    }

    fn failure(&self) -> Option<String> {
        self.launches.failure()
    }

    fn result(&self) -> Vec<(&'static str, Vec<f64>)> {
        self.launches.result()
    }

    fn footprint(&self) -> u64 {
        self.launches.footprint()
    }

    fn held_bytes(&self) -> u64 {
        self.launches.held_bytes()
    }
}
