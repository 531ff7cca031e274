//! The host's side of a workload as far as its launches tell.

use crate::buffer::Buffer;
use crate::host_side::{HostSide, Role};
use crate::launches::{Cursor, Workload};
use crate::op::{LINE_BYTES, Op, OpKind, OpSink};

impl HostSide {
    /// The host side as far as launches tell. A buffer whose first access (in the order of launches, work-groups and
    /// wavefronts) is a load is an input; a buffer that is stored to is an output.
    #[must_use]
    pub fn of_launches<W: Workload + ?Sized>(workload: &W) -> Self {
        let mut found = Derived::new(workload.buffers());
        for launch in 0..workload.launches() {
            let shape = workload.launch(launch);
            for group in 0..shape.work_groups {
                for wavefront in 0..shape.wavefronts_per_group {
                    found.wavefront(|cursor, out| workload.fill(launch, group, wavefront, cursor, out));
                }
            }
        }
        Self::of_roles(found.roles)
    }
}

/// Operations produced at a time.
const CHUNK: usize = 1024;

/// Knowledge about the host's side while the launches are streamed.
struct Derived<'a> {
    buffers: &'a [Buffer],
    touched: Vec<bool>,
    roles: Vec<Role>,
    chunk: Vec<Op>,
}

impl<'a> Derived<'a> {
    fn new(buffers: &'a [Buffer]) -> Self {
        let (touched, roles) = (vec![false; buffers.len()], vec![Role::default(); buffers.len()]);
        Self { buffers, touched, roles, chunk: vec![Op::END; CHUNK] }
    }

    fn wavefront(&mut self, fill: impl Fn(&mut Cursor, &mut OpSink<'_>)) {
        let mut cursor = Cursor::default();
        let mut chunk = std::mem::take(&mut self.chunk);
        loop {
            let mut sink = OpSink::new(&mut chunk);
            fill(&mut cursor, &mut sink);
            sink.as_slice().iter().for_each(|op| self.operation(*op));
            if sink.as_slice().last() == Some(&Op::END) {
                break;
            }
        }
        self.chunk = chunk;
    }

    fn operation(&mut self, op: Op) {
        if !matches!(op.kind(), OpKind::Load | OpKind::Store | OpKind::ScalarLoad) {
            return;
        }
        let [first, end] = [0, u64::from(op.count())].map(|lines| (op.line() + lines) * LINE_BYTES);
        let begin = self.buffers.partition_point(|buffer| buffer.base + buffer.bytes <= first);
        for index in begin..self.buffers.len() {
            if self.buffers[index].base >= end {
                break;
            }
            let role = &mut self.roles[index];
            role.input |= !self.touched[index] && !op.is_store();
            role.output |= op.is_store();
            self.touched[index] = true;
        }
    }
}
