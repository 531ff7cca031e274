//! The launches of a whole program, with all of its buffers.

use crate::buffer::Buffer;
use crate::forward::forward_to_launches;
use crate::launches::{Application, Cursor, Workload};
use crate::op::OpSink;
use crate::padding::padded;
use crate::program::Program;

/// A workload with other buffers: the buffers of a whole program (its own, and host memory after them), or its own,
/// rounded up.
pub struct WholeWorkload<'a> {
    launches: &'a dyn Workload,
    buffers: Vec<Buffer>,
}

impl<'a> WholeWorkload<'a> {
    /// The launches of `workload`, with the buffers of `program`.
    #[must_use]
    pub fn new(workload: &'a dyn Workload, program: &Program) -> Self {
        Self { launches: workload, buffers: program.buffers().iter().map(|buffer| buffer.buffer.clone()).collect() }
    }

    /// The launches of `workload`, with its buffers rounded up to whole prefetch trees, as far as no other one lies
    /// there.
    #[must_use]
    pub fn padded(workload: &'a dyn Workload) -> Self {
        Self { launches: workload, buffers: padded(workload.buffers().iter().map(|buffer| (buffer, true))) }
    }
}

impl Workload for WholeWorkload<'_> {
    // The footprint, too, is the workload's alone: the host's copies are not counted.
    forward_to_launches!();

    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn applications(&self) -> Vec<Application> {
        let mut applications = self.launches.applications();
        if let [alone] = applications.as_mut_slice() {
            alone.buffers = 0..self.buffers.len();
        }
        applications
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        self.launches.fill(launch, group, wavefront, cursor, out);
    }
}
