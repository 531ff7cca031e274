//! One kernel: its thread blocks, their warps, and the instructions of each.

use super::header::Header;
use super::instruction;
use super::warp::Warp;
use crate::convert::ConvertError;
use crate::convert::assemble::Assembler;
use crate::convert::sort::Sorter;
use crate::convert::text::{Lines, decimal, shown, triple};
use crate::convert::watch::{Notes, Watch};
use crate::{Row, TraceError};

/// Why reading stops.
pub(super) enum Halt {
    Failed(ConvertError),
    /// Warps are not in order, and rows are not sorted.
    Unsorted,
}

impl From<ConvertError> for Halt {
    fn from(error: ConvertError) -> Self {
        Self::Failed(error)
    }
}

impl From<TraceError> for Halt {
    fn from(error: TraceError) -> Self {
        Self::Failed(error.into())
    }
}

/// The destination of rows: the trace, or first a sorter.
pub(super) struct Target<'a> {
    assembler: &'a mut Assembler,
    sorter: Option<&'a mut Sorter>,
    order: u64,
}

impl<'a> Target<'a> {
    pub fn new(assembler: &'a mut Assembler, sorter: Option<&'a mut Sorter>) -> Self {
        Self { assembler, sorter, order: 0 }
    }

    fn push(&mut self, (group, wavefront): (u32, u16), row: Row<'_>) -> Result<(), Halt> {
        match &mut self.sorter {
            None if !self.assembler.accepts(group, wavefront) => Err(Halt::Unsorted),
            None => Ok(self.assembler.push(group, wavefront, row)?),
            Some(sorter) => {
                self.order += 1;
                Ok(sorter.push([u64::from(group), u64::from(wavefront), self.order, 0], &row)?)
            }
        }
    }

    /// Rows that were sorted go into the trace.
    fn finish(self, lines: &Lines, watch: &mut Watch<'_>) -> Result<(), Halt> {
        let Some(sorter) = self.sorter else { return Ok(()) };
        let assembler = self.assembler;
        let drained = sorter.drain(|[group, wavefront, ..], row| {
            watch.tick(assembler.rows())?;
            let (group, wavefront) = (group as u32, wavefront as u16);
            if !assembler.accepts(group, wavefront) {
                let reason = format!("warp {wavefront} of thread block number {group} stands twice");
                return Err(ConvertError::file(lines.path(), reason));
            }
            assembler.push(group, wavefront, row)
        });
        Ok(drained?)
    }
}

/// A kernel whose header was read.
pub(super) struct Kernel<'a> {
    lines: Lines,
    target: Target<'a>,
    /// Thread blocks in each dimension, and warps in each.
    grid: [u32; 3],
    warps: u16,
    words_before: usize,
    warp: Warp,
    /// The thread block, once it is named, and the warp that are open.
    inside: bool,
    group: Option<u32>,
    open: Option<u16>,
    /// Instructions that the warp announces, and those that came.
    announced: Option<u64>,
    found: u64,
    addresses: Vec<u64>,
    /// One more than the highest register that an instruction names.
    registers: u16,
}

impl<'a> Kernel<'a> {
    /// `lines` is at the beginning of the first thread block; the header's sizes have been checked.
    pub fn new(lines: Lines, header: &Header, warps: u16, target: Target<'a>) -> Self {
        Self {
            lines,
            target,
            grid: header.grid.unwrap_or_default(),
            warps,
            words_before: header.words_before(),
            warp: Warp::new(header),
            inside: false,
            group: None,
            open: None,
            announced: None,
            found: 0,
            addresses: Vec::new(),
            registers: 0,
        }
    }

    /// Reads all thread blocks; how many instructions they have, and how many registers they name.
    pub fn read(mut self, watch: &mut Watch<'_>, notes: &mut Notes) -> Result<(u64, u16), Halt> {
        loop {
            watch.tick(self.target.assembler.rows())?;
            self.line(notes)?;
            if !self.lines.advance()? {
                break;
            }
        }
        if self.inside {
            return Err(self.lines.error("ends within a thread block").into());
        }
        self.target.finish(&self.lines, watch)?;
        Ok((self.warp.instructions, self.registers))
    }

    fn line(&mut self, notes: &mut Notes) -> Result<(), Halt> {
        let line = self.lines.text().trim_ascii();
        match line.first() {
            None => Ok(()),
            Some(b'#') if line == b"#BEGIN_TB" => self.begin_block(),
            Some(b'#') if line == b"#END_TB" => self.end_block(notes),
            Some(b'#') => Ok(()),
            Some(b't' | b'w' | b'i' | b'c') => self.assignment(notes),
            Some(_) => self.instruction(notes),
        }
    }

    fn begin_block(&mut self) -> Result<(), Halt> {
        if self.inside {
            return Err(self.wrong("a thread block begins within another"));
        }
        self.inside = true;
        self.group = None;
        Ok(())
    }

    fn end_block(&mut self, notes: &mut Notes) -> Result<(), Halt> {
        if !self.inside {
            return Err(self.wrong("a thread block ends that did not begin"));
        }
        self.end_warp(notes)?;
        self.inside = false;
        Ok(())
    }

    /// `thread block = x,y,z`, `warp = N`, `insts = N`; or an instruction after all.
    fn assignment(&mut self, notes: &mut Notes) -> Result<(), Halt> {
        let line = self.lines.text();
        let Some(equals) = line.iter().position(|byte| *byte == b'=') else { return self.instruction(notes) };
        let (key, value) = (line[..equals].trim_ascii(), line[equals + 1..].trim_ascii());
        if !self.inside {
            return Err(self.wrong(format!("{} outside of a thread block", shown(key))));
        }
        match key {
            b"thread block" => self.name_block(triple(value)),
            b"warp" => {
                let number = decimal(value);
                self.end_warp(notes)?;
                self.begin_warp(number)
            }
            b"insts" => match decimal(value) {
                Some(count) if self.open.is_some() && self.found == 0 => {
                    self.announced = Some(count);
                    Ok(())
                }
                _ => Err(self.wrong("expected `insts = NUMBER` after `warp`")),
            },
            _ if key.starts_with(b"cluster ") => Ok(()),
            _ => Err(self.wrong(format!("expected an instruction, found {}", shown(line)))),
        }
    }

    fn name_block(&mut self, place: Option<[u32; 3]>) -> Result<(), Halt> {
        let [nx, ny, nz] = self.grid;
        match place {
            Some([x, y, z]) if self.group.is_none() && x < nx && y < ny && z < nz => {
                // The grid has been checked to have no more thread blocks than can be numbered.
                self.group = Some(x + nx * (y + ny * z));
                Ok(())
            }
            Some(_) if self.group.is_some() => Err(self.wrong("a thread block has two names")),
            Some(_) => Err(self.wrong(format!("lies outside of the grid of {nx},{ny},{nz}"))),
            None => Err(self.wrong("expected `thread block = X,Y,Z`")),
        }
    }

    fn begin_warp(&mut self, number: Option<u64>) -> Result<(), Halt> {
        if self.group.is_none() {
            return Err(self.wrong("a warp before `thread block = X,Y,Z`"));
        }
        let number = number.filter(|number| *number < u64::from(self.warps));
        self.open = Some(number.ok_or_else(|| {
            self.wrong(format!("expected `warp = NUMBER`, a number below the {} warps of a thread block", self.warps))
        })? as u16);
        (self.announced, self.found) = (None, 0);
        Ok(())
    }

    /// An open warp ends. One without any instruction has no row here.
    fn end_warp(&mut self, notes: &mut Notes) -> Result<(), Halt> {
        let Some((group, warp)) = self.group.zip(self.open.take()) else { return Ok(()) };
        if self.announced.is_some_and(|announced| announced != self.found) {
            let (announced, found) = (self.announced.unwrap_or(0), self.found);
            return Err(self.wrong(format!("warp {warp} announces {announced} instructions and has {found}")));
        }
        if self.found > 0 {
            let exited = self.warp.end(&mut |row| self.target.push((group, warp), row))?;
            notes.count("warps whose last instruction is no EXIT", u64::from(!exited));
        }
        Ok(())
    }

    fn instruction(&mut self, notes: &mut Notes) -> Result<(), Halt> {
        let Some(place) = self.group.filter(|_| self.inside).zip(self.open) else {
            return Err(self.wrong(format!("expected a warp, found {}", shown(self.lines.text()))));
        };
        let read = instruction::read(self.lines.text(), self.words_before, &mut self.addresses);
        let instruction = read.map_err(|reason| self.lines.error(reason))?;
        self.found += 1;
        self.registers = self.registers.max(instruction.registers());
        self.warp.take(&instruction, &self.addresses, notes, &mut |row| self.target.push(place, row))
    }

    fn wrong(&self, reason: impl Into<String>) -> Halt {
        self.lines.error(reason).into()
    }
}
