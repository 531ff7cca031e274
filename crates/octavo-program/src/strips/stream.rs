//! The accesses of all work-groups, which are examined once, while the caller wants that.

use std::ops::ControlFlow;

use super::refusal::StripsRefused;
use crate::launches::{Cursor, Launch, Workload};
use crate::op::{Op, OpKind, OpSink};

/// The most operations that are looked at.
const MOST: u64 = 1 << 32;
/// Operations between two questions whether to continue: less than a tenth of a second. Chosen.
const BETWEEN_QUESTIONS: u64 = 1 << 20;
/// Operations produced at a time.
const CHUNK: usize = 1024;

/// A workload's operations, counted.
pub(super) struct Stream<'a> {
    workload: &'a dyn Workload,
    go_on: &'a mut dyn FnMut() -> ControlFlow<()>,
    looked_at: u64,
    asked_at: u64,
    chunk: [Op; CHUNK],
}

impl<'a> Stream<'a> {
    /// None of them has been examined yet.
    ///
    /// # Errors
    /// There are too many, as each wavefront has at least one.
    pub fn new(
        workload: &'a dyn Workload,
        go_on: &'a mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Self, StripsRefused> {
        let mut wavefronts = 0;
        for index in 0..workload.launches() {
            let Launch { kernel, work_groups, wavefronts_per_group } = workload.launch(index);
            wavefronts += u64::from(work_groups) * u64::from(wavefronts_per_group);
            if wavefronts > MOST {
                return Err(StripsRefused::TooMuchWork { launch: index, kernel: kernel.into_owned(), most: MOST });
            }
        }
        Ok(Self { workload, go_on, looked_at: 0, asked_at: 0, chunk: [Op::END; CHUNK] })
    }

    /// The accesses of a work-group, wavefront by wavefront.
    pub fn group(&mut self, launch: u32, group: u32, wavefronts: u32, out: &mut Vec<Op>) -> Result<(), StripsRefused> {
        out.clear();
        for wavefront in 0..wavefronts {
            let mut cursor = Cursor::default();
            while self.fill((launch, group, wavefront), &mut cursor, out) {
                self.count(launch)?;
            }
            self.count(launch)?;
        }
        Ok(())
    }

    /// Appends the next accesses of a wavefront; returns whether there are more.
    fn fill(&mut self, (launch, group, wavefront): (u32, u32, u32), cursor: &mut Cursor, out: &mut Vec<Op>) -> bool {
        let mut sink = OpSink::new(&mut self.chunk);
        self.workload.fill(launch, group, wavefront, cursor, &mut sink);
        let accesses = |op: &&Op| matches!(op.kind(), OpKind::Load | OpKind::Store | OpKind::ScalarLoad);
        out.extend(sink.as_slice().iter().filter(accesses));
        self.looked_at += sink.as_slice().len() as u64;
        sink.as_slice().last() != Some(&Op::END)
    }

    fn count(&mut self, launch: u32) -> Result<(), StripsRefused> {
        if self.looked_at > MOST {
            let kernel = self.workload.launch(launch).kernel.into_owned();
            return Err(StripsRefused::TooMuchWork { launch, kernel, most: MOST });
        }
        if self.looked_at - self.asked_at >= BETWEEN_QUESTIONS {
            self.asked_at = self.looked_at;
            if (self.go_on)().is_break() {
                return Err(StripsRefused::Stopped);
            }
        }
        Ok(())
    }
}
