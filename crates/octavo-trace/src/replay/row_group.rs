//! A row group as operations.

use octavo_program::Op;

use super::layout::Placement;
use super::ops::{Scratch, ops_of_row};
use super::order::{Held, InstructionOrder};
use crate::actions::Named;
use crate::{Key, RowRules, Rows, TraceError, TraceReader};

/// Rows decoded at a time: what they need stays in the caches of the simulating machine.
const BATCH: usize = 2048;

/// Launch, work-group, wavefront.
pub(super) type Wavefront = (u32, u32, u16);

pub(super) fn wavefront(key: Key) -> Wavefront {
    (key.launch, key.group, key.wavefront)
}

/// The operations of a row group, and where each wavefront's operations begin.
pub(super) struct Decoded {
    pub ops: Vec<Op>,
    /// Each wavefront with rows here, in order, and its first operation.
    pub starts: Vec<(Wavefront, u32)>,
    /// Keys of the first and the last row.
    pub first: Key,
    pub last: Key,
}

impl Decoded {
    fn empty(rows: usize) -> Self {
        let ops = Vec::with_capacity(2 * rows);
        Self { ops, starts: Vec::new(), first: Key::default(), last: Key::default() }
    }

    /// Decodes and checks a row group, which has rows.
    pub fn new(
        reader: &TraceReader,
        group: usize,
        (placement, named): (&Placement, &Named),
        order: InstructionOrder,
    ) -> Result<Self, TraceError> {
        let mut batches = reader.batches(group)?;
        let mut rows = Rows::default();
        let mut decoded = Self::empty(reader.group_rows(group));
        let mut rules = RowRules::resumed(reader.header().lanes);
        let mut scratch = Scratch::default();
        let mut held = Held::default();
        while let Some(number) = batches.fill(&mut rows, BATCH)? {
            if decoded.starts.is_empty() {
                decoded.first = rows.key(0);
            }
            for (index, row) in rows.iter().enumerate() {
                if decoded.starts.is_empty() || row.key.sequence == 0 {
                    decoded.starts.push((wavefront(row.key), decoded.ops.len() as u32));
                }
                let wrong = |reason| TraceError::at(reader.instructions_path(), number + index as u64, reason);
                rules.take(&row).map_err(wrong)?;
                if order == InstructionOrder::Grouped && held.take(&row) {
                    continue;
                }
                if !held.fits(&row) {
                    held.replay(&mut decoded.ops).map_err(wrong)?;
                }
                ops_of_row(&held.join(&row), placement, named, &mut scratch, &mut decoded.ops).map_err(wrong)?;
                held.clear();
            }
            decoded.last = rows.key(rows.len() - 1);
        }
        held.replay(&mut decoded.ops).map_err(|reason| TraceError::new(reader.instructions_path(), reason))?;
        decoded.ops.shrink_to_fit();
        Ok(decoded)
    }

    /// The first operation of a wavefront, if it has any here.
    pub fn start(&self, wavefront: Wavefront) -> Option<u32> {
        let index = self.starts.binary_search_by_key(&wavefront, |(found, _)| *found).ok()?;
        Some(self.starts[index].1)
    }

    /// Memory that it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.ops.capacity() * size_of::<Op>()
            + self.starts.capacity() * size_of::<(Wavefront, u32)>()
    }
}
