//! Sorted accesses become wavefronts: warps of a thread block are numbered by the slots they took.

use std::collections::BTreeMap;
use std::path::Path;

use crate::convert::ConvertError;
use crate::convert::assemble::Assembler;
use crate::convert::mem_trace::launches::number;
use crate::convert::sort::SortKey;
use crate::{Counts, Key, Kind, LaunchRow, Row};

/// The warp that is open.
struct Open {
    launch: u64,
    block: [u32; 3],
    slot: u32,
    group: u32,
    wavefront: u16,
    /// Instructions since the last row.
    counts: Counts,
}

/// Puts wavefronts together.
pub(super) struct Wavefronts<'a> {
    /// Launches that have not begun, by the number that accesses give them.
    waiting: std::collections::btree_map::Iter<'a, u64, LaunchRow>,
    /// The launch that has begun.
    current: Option<(u64, &'a LaunchRow)>,
    assembler: &'a mut Assembler,
    input: &'a Path,
    open: Option<Open>,
}

impl<'a> Wavefronts<'a> {
    pub fn new(launches: &'a BTreeMap<u64, LaunchRow>, assembler: &'a mut Assembler, input: &'a Path) -> Self {
        Self { waiting: launches.iter(), current: None, assembler, input, open: None }
    }

    pub fn rows(&self) -> u64 {
        self.assembler.rows()
    }

    /// The next row in order. An `end` stands only for what it counts.
    pub fn push(&mut self, key: SortKey, row: Row<'_>) -> Result<(), ConvertError> {
        self.open(key)?;
        let Some(open) = &mut self.open else { return Ok(()) };
        if row.kind == Kind::End {
            add(&mut open.counts, row.counts);
            return Ok(());
        }
        let counts = std::mem::take(&mut open.counts);
        self.assembler.push(open.group, open.wavefront, Row { counts, ..row })
    }

    /// Ends the last wavefront, and begins the launches without any.
    pub fn finish(mut self) -> Result<(), ConvertError> {
        self.close()?;
        while self.begin()? {}
        Ok(())
    }

    /// Opens the wavefront that `key` names, unless it is open.
    fn open(&mut self, [launch, zy, x_slot, _]: SortKey) -> Result<(), ConvertError> {
        let block = [(x_slot >> 32) as u32, zy as u32, (zy >> 32) as u32];
        let slot = x_slot as u32;
        let wavefront = match &self.open {
            Some(open) if (open.launch, open.block, open.slot) == (launch, block, slot) => return Ok(()),
            Some(open) if (open.launch, open.block) == (launch, block) => open.wavefront + 1,
            _ => 0,
        };
        self.close()?;
        while self.current.is_none_or(|(current, _)| current != launch) {
            if !self.begin()? {
                return Err(ConvertError::file(self.input, format!("launch {} is not known", number(launch))));
            }
        }
        let group = self.group(launch, block, wavefront)?;
        self.open = Some(Open { launch, block, slot, group, wavefront, counts: Counts::default() });
        Ok(())
    }

    /// Number of a thread block that has a warp `wavefront`.
    fn group(&self, launch: u64, [x, y, z]: [u32; 3], wavefront: u16) -> Result<u32, ConvertError> {
        let Some((_, row)) = self.current else { return Ok(0) };
        let [nx, ny, nz] = [0, 1, 2].map(|axis| row.grid[axis] / row.group[axis]);
        let launch = number(launch);
        let wrong = |what: String| {
            ConvertError::file(self.input, format!("thread block {x},{y},{z} of launch {launch} {what}"))
        };
        if x >= nx || y >= ny || z >= nz {
            return Err(wrong(format!("lies outside of the grid of {nx},{ny},{nz}")));
        }
        let warps = row.wavefronts_per_group;
        if wavefront >= warps {
            return Err(wrong(format!("has accesses of more than the {warps} warps that its size allows")));
        }
        Ok(x + nx * (y + ny * z))
    }

    fn close(&mut self) -> Result<(), ConvertError> {
        let Some(Open { group, wavefront, counts, .. }) = self.open.take() else { return Ok(()) };
        self.assembler.push(group, wavefront, Row::plain(Key::default(), Kind::End, counts))
    }

    /// Ends the launch and begins the next; false if there is none.
    fn begin(&mut self) -> Result<bool, ConvertError> {
        if self.current.take().is_some() {
            self.assembler.end()?;
        }
        self.current = self.waiting.next().map(|(id, row)| (*id, row));
        if let Some((_, row)) = self.current {
            self.assembler.begin(row.clone());
        }
        Ok(self.current.is_some())
    }
}

fn add(counts: &mut Counts, more: Counts) {
    counts.vector_alu = counts.vector_alu.saturating_add(more.vector_alu);
    counts.scalar_alu = counts.scalar_alu.saturating_add(more.scalar_alu);
    counts.local_data = counts.local_data.saturating_add(more.local_data);
    counts.branch = counts.branch.saturating_add(more.branch);
}
