//! The output of NVBit's tool `mem_trace`: the addresses of each memory instruction, with the warps of a launch
//! interleaved.

mod launches;
mod line;
mod wavefronts;

use std::path::Path;
use std::rc::Rc;

use self::launches::Launches;
use self::line::{Access, Line};
use self::wavefronts::Wavefronts;
use super::assemble::Assembler;
use super::converter::folder_of;
use super::footprint::Footprint;
use super::sass::{Class, Opcode, SHARED_END};
use super::sort::Sorter;
use super::text::Lines;
use super::watch::{Notes, Watch};
use super::{Conversion, ConvertError, Converter, Summary};
use crate::lines::{lines_of_addresses, partial_of_addresses};
use crate::{Counts, Header, Key, Kind, Row, Touched};

/// Lines among which an access must be for the format to be recognised.
const DETECTED: usize = 4096;

pub(super) static CONVERTER: Converter = Converter {
    name: "nvbit-mem-trace",
    summary: "output of NVBit's mem_trace tool, plain or packed with gzip, zstd or xz",
    source: "NVBit, tools/mem_trace",
    detect,
    convert,
};

fn detect(input: &Path) -> bool {
    let Ok(mut lines) = Lines::open(input, &Rc::default()) else { return false };
    let mut addresses = Vec::new();
    (0..DETECTED)
        .map_while(|_| lines.advance().ok().filter(|more| *more).map(|_| lines.text().to_vec()))
        .any(|text| matches!(line::read(&text, &mut addresses), Ok(Line::Launch(_) | Line::Access(_))))
}

fn convert(conversion: &Conversion<'_>, watch: &mut Watch<'_>) -> Result<Summary, ConvertError> {
    let Conversion { input, output, replace, .. } = *conversion;
    let header = Header { lanes: 32, source: "nvbit mem_trace".to_owned(), command: command(input) };
    let mut assembler = Assembler::create(output, replace, header, Footprint::new(Vec::new()))?;
    let mut reading = Reading::new(Sorter::new(folder_of(output)));
    let lines = Lines::open(input, &watch.read)?;
    watch.bytes = std::fs::metadata(input).map_or(0, |data| data.len());
    reading.read(lines, watch)?;
    let Reading { launches, mut sorter, mut notes, instructions, .. } = reading;
    let contexts = "further CUDA contexts, whose launches are taken to share one address space";
    notes.count(contexts, launches.further_contexts());
    let (launches, guessed) = launches.finish().map_err(|reason| ConvertError::file(input, reason))?;
    if launches.is_empty() {
        return Err(ConvertError::file(input, "has neither a LAUNCH line nor an access"));
    }
    let mut wavefronts = Wavefronts::new(&launches, &mut assembler, input);
    sorter.drain(|key, row| {
        watch.tick(wavefronts.rows())?;
        wavefronts.push(key, row)
    })?;
    wavefronts.finish()?;
    let [launches, rows, allocations, bare] = assembler.finish()?;
    notes.count("launches without a LAUNCH line, whose sizes are guessed from their accesses", guessed);
    notes.count("warps that recorded no instruction, and end at once", bare);
    Ok(Summary { launches, rows, allocations, instructions, notes: notes.finish(), ..Summary::default() })
}

/// The command, without folders, which differ between machines.
fn command(input: &Path) -> String {
    let name = input.file_name().unwrap_or_default().to_string_lossy();
    format!("octavo trace convert --format nvbit-mem-trace {name}")
}

/// Lines on their way into the sorter.
struct Reading {
    sorter: Sorter,
    launches: Launches,
    notes: Notes,
    order: u64,
    instructions: u64,
    lines: Vec<u64>,
    partial: Vec<u64>,
}

impl Reading {
    fn new(sorter: Sorter) -> Self {
        let (launches, notes) = (Launches::default(), Notes::default());
        Self { sorter, launches, notes, order: 0, instructions: 0, lines: Vec::new(), partial: Vec::new() }
    }

    fn read(&mut self, mut lines: Lines, watch: &mut Watch<'_>) -> Result<(), ConvertError> {
        let mut addresses = Vec::new();
        while lines.advance()? {
            watch.tick(0)?;
            match line::read(lines.text(), &mut addresses).map_err(|reason| lines.error(reason))? {
                Line::Launch(launch) => self.launches.declare(launch).map_err(|reason| lines.error(reason))?,
                Line::Access(access) => {
                    let launch = self.launches.see(&access).map_err(|reason| lines.error(reason))?;
                    self.access(launch, &access, &addresses)?;
                }
                Line::Other => self.notes.count("lines that the tool did not print, or of no interest", 1),
            }
        }
        Ok(())
    }

    fn access(&mut self, launch: u64, access: &Access<'_>, addresses: &[u64]) -> Result<(), ConvertError> {
        let opcode = Opcode::new(access.opcode);
        if opcode.class == Class::AsyncLoad && addresses.first().is_some_and(|first| *first < SHARED_END) {
            // The other half of a copy, where it goes in shared memory.
            return Ok(());
        }
        self.instructions += 1;
        self.order += 1;
        let [x, y, z] = access.block.map(u64::from);
        let key = [launch, z << 32 | y, x << 32 | u64::from(access.warp), self.order];
        let Some(kind) = kind(opcode.class) else {
            let counts = self.count(opcode.class, access.opcode);
            // Stands for counts alone: wavefronts get their ends when they are put together.
            return self.sorter.push(key, &Row::plain(Key::default(), Kind::End, counts));
        };
        let bytes = opcode.bytes_or(0);
        self.lines.clear();
        self.partial.clear();
        lines_of_addresses(addresses, bytes, &mut self.lines);
        if kind.is_written() {
            partial_of_addresses(addresses, bytes, &self.lines, &mut self.partial);
        }
        let plain = Row::plain(Key::default(), kind, Counts::default());
        let touched = Touched::Lines(&self.lines);
        self.sorter.push(key, &Row { bytes, lanes: addresses.len() as u8, touched, partial: &self.partial, ..plain })
    }

    /// Counts of an instruction without a row.
    fn count(&mut self, class: Class, opcode: &[u8]) -> Counts {
        match class {
            Class::LocalData => Counts { local_data: 1, ..Counts::default() },
            Class::Unknown => {
                self.notes.unknown(opcode);
                Counts { vector_alu: 1, ..Counts::default() }
            }
            _ => Counts { scalar_alu: 1, ..Counts::default() },
        }
    }
}

fn kind(class: Class) -> Option<Kind> {
    match class {
        Class::Load | Class::AsyncLoad => Some(Kind::Load),
        Class::Store => Some(Kind::Store),
        Class::Atomic => Some(Kind::Atomic),
        _ => None,
    }
}
