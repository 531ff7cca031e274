//! The launches of a workload whose buffers lie as close to each other as an allocator packs them.

use crate::buffer::Buffer;
use crate::forward::forward_to_launches;
use crate::launches::{Application, Cursor, Workload};
use crate::op::{LINE_BYTES, Op, OpKind, OpSink};

/// A workload with its buffers moved together: each begins at the next multiple of an alignment behind the one before.
pub struct Packed {
    launches: Box<dyn Workload>,
    buffers: Vec<Buffer>,
    /// First lines of the workload's own buffers, ascending, and where they are now.
    moved: Vec<(u64, u64)>,
}

impl Packed {
    /// The launches of `workload`, whose buffers begin at multiples of `alignment` bytes, which are whole lines.
    #[must_use]
    pub fn new(workload: Box<dyn Workload>, alignment: u64) -> Self {
        let (mut end, mut buffers, mut moved) = (0_u64, Vec::new(), Vec::new());
        for buffer in workload.buffers() {
            // Data of a line stay in a line: a recorded buffer may begin in the middle of one.
            let base = end.next_multiple_of(alignment) + buffer.base % LINE_BYTES;
            moved.push((buffer.base / LINE_BYTES, base / LINE_BYTES));
            end = base + buffer.bytes;
            buffers.push(Buffer { base, ..buffer.clone() });
        }
        Self { launches: workload, buffers, moved }
    }

    /// An operation with its lines where their buffer is. What lies behind a buffer's end stays behind it.
    fn moved(&self, op: Op) -> Op {
        if !matches!(op.kind(), OpKind::Load | OpKind::Store | OpKind::ScalarLoad) {
            return op;
        }
        let after = self.moved.partition_point(|(own, _)| *own <= op.line());
        let Some((own, now)) = after.checked_sub(1).map(|index| self.moved[index]) else { return op };
        op.over(op.line() - own + now, op.count())
    }
}

impl Workload for Packed {
    forward_to_launches!();

    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn applications(&self) -> Vec<Application> {
        self.launches.applications()
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        self.launches.fill(launch, group, wavefront, cursor, out);
        out.each(|op| self.moved(op));
    }

    fn result(&self) -> Vec<(&'static str, Vec<f64>)> {
        self.launches.result()
    }
}
