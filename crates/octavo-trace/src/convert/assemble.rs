//! Rows in program order become a trace: sequence numbers, wavefronts that recorded nothing, the footprint.

use std::path::Path;

use super::ConvertError;
use super::footprint::Footprint;
use crate::{Counts, Header, Key, Kind, LaunchRow, Row, TraceWriter};

/// Wavefronts without any instruction that a trace may have: the input does not pay for them with its size.
const MAX_BARE: u64 = 1 << 26;

/// Writes the rows of one launch after another.
pub(super) struct Assembler {
    writer: TraceWriter,
    footprint: Footprint,
    launches: Vec<LaunchRow>,
    /// Wavefronts of the launch, and in each of its work-groups.
    wavefronts: u64,
    per_group: u64,
    /// The wavefront that comes next, all work-groups counted through; the open one is the one before.
    next: u64,
    open: bool,
    sequence: u32,
    bare: u64,
}

impl Assembler {
    pub fn create(output: &Path, replace: bool, header: Header, footprint: Footprint) -> Result<Self, ConvertError> {
        let create = if replace { TraceWriter::replace } else { TraceWriter::create };
        let writer = create(output, header)?;
        let (launches, open) = (Vec::new(), false);
        let (wavefronts, per_group, next, sequence, bare) = (0, 0, 0, 0, 0);
        Ok(Self { writer, footprint, launches, wavefronts, per_group, next, open, sequence, bare })
    }

    /// Begins a launch, whose sizes must have been checked with [`shape`].
    pub fn begin(&mut self, launch: LaunchRow) {
        self.per_group = u64::from(launch.wavefronts_per_group);
        self.wavefronts = u64::from(launch.work_groups().unwrap_or(0)) * self.per_group;
        (self.next, self.open) = (0, false);
        self.launches.push(launch);
    }

    /// Whether rows of this wavefront may still come.
    pub fn accepts(&self, group: u32, wavefront: u16) -> bool {
        let place = self.place(group, wavefront);
        place >= self.next || (self.open && place + 1 == self.next)
    }

    /// Appends a row to a wavefront that [`Assembler::accepts`] it; its key's sequence does not matter.
    pub fn push(&mut self, group: u32, wavefront: u16, row: Row<'_>) -> Result<(), ConvertError> {
        let place = self.place(group, wavefront);
        if !(self.open && place + 1 == self.next) {
            self.fill(place)?;
            (self.next, self.open, self.sequence) = (place + 1, true, 0);
        }
        self.footprint.touch(row.touched.values()).map_err(|reason| self.refused(reason))?;
        let key = Key { launch: self.launch(), group, wavefront, sequence: self.sequence };
        self.writer.push(Row { key, ..row })?;
        self.open = row.kind != Kind::End;
        self.sequence = self.sequence.checked_add(1).ok_or_else(|| {
            self.refused(format!("wavefront {wavefront} of group {group} has more rows than can be numbered"))
        })?;
        Ok(())
    }

    /// Says how many vector registers a lane of the launch has.
    pub fn set_registers(&mut self, registers: u16) {
        if let Some(launch) = self.launches.last_mut() {
            launch.vector_registers = registers;
        }
    }

    /// Ends the launch.
    pub fn end(&mut self) -> Result<(), ConvertError> {
        self.fill(self.wavefronts)
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.writer.rows()
    }

    /// Writes the tables; launches, rows, allocations and wavefronts without any instruction.
    pub fn finish(self) -> Result<[u64; 4], ConvertError> {
        let rows = self.writer.rows();
        let allocations = self.footprint.allocations();
        self.writer.finish(&allocations, &self.launches)?;
        Ok([self.launches.len() as u64, rows, allocations.len() as u64, self.bare])
    }

    fn launch(&self) -> u32 {
        self.launches.len() as u32 - 1
    }

    fn place(&self, group: u32, wavefront: u16) -> u64 {
        u64::from(group) * self.per_group + u64::from(wavefront)
    }

    /// Wavefronts up to `place` that recorded nothing end at once.
    fn fill(&mut self, place: u64) -> Result<(), ConvertError> {
        self.bare += place.saturating_sub(self.next);
        if self.bare > MAX_BARE {
            return Err(self.refused(format!("more than {MAX_BARE} wavefronts have no instruction at all")));
        }
        for bare in self.next..place {
            let (group, wavefront) = ((bare / self.per_group) as u32, (bare % self.per_group) as u16);
            let key = Key { launch: self.launch(), group, wavefront, sequence: 0 };
            self.writer.push(Row::plain(key, Kind::End, Counts::default()))?;
        }
        Ok(())
    }

    fn refused(&self, reason: String) -> ConvertError {
        let kernel = self.launches.last().map_or("", |launch| launch.kernel.as_str());
        ConvertError::Format(format!("launch {} ({kernel}): {reason}", self.launch()))
    }
}

/// A launch of `blocks` thread blocks of `threads` threads.
///
/// # Errors
/// A size is 0 or cannot be numbered.
pub(super) fn shape(kernel: String, blocks: [u32; 3], threads: [u32; 3]) -> Result<LaunchRow, String> {
    let refused = || format!("{blocks:?} thread blocks of {threads:?} threads are none, or too many to be numbered");
    let mut grid = [0; 3];
    for axis in 0..3 {
        grid[axis] = blocks[axis].checked_mul(threads[axis]).ok_or_else(refused)?;
    }
    let count = threads.iter().try_fold(1u32, |product, size| product.checked_mul(*size)).ok_or_else(refused)?;
    let wavefronts_per_group = u16::try_from(count.div_ceil(32)).map_err(|_| refused())?;
    let launch = LaunchRow {
        kernel,
        grid,
        group: threads,
        wavefronts_per_group,
        vector_registers: 0,
        scalar_registers: 0,
        local_data_bytes: 0,
        code_bytes: 0,
        flushed: false,
        split: Vec::new(),
    };
    launch.work_groups().map(|_| launch).ok_or_else(refused)
}
