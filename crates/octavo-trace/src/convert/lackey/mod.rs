//! The output of Valgrind's tool Lackey with `--trace-mem=yes`: the loads and stores of one program on the host.
//!
//! It becomes a program that runs on the host alone. The host of a simulation has no caches, so that accesses pass
//! [one](cache::Cache) here.

mod cache;
mod line;
mod program;

use std::path::Path;
use std::rc::Rc;

use self::cache::Cache;
use self::line::Line;
use super::text::Lines;
use super::watch::{Notes, Watch};
use super::{Conversion, ConvertError, Converter, Summary};
use crate::{Header, TraceWriter};

/// Lines among which an access must be for the format to be recognised.
const DETECTED: usize = 4096;
/// Lines that pass the cache, at most: as many words of memory.
const MOST_LINES: usize = 1 << 25;

pub(super) static CONVERTER: Converter = Converter {
    name: "lackey",
    summary: "output of Valgrind's Lackey with --trace-mem=yes: a host program; plain or packed with gzip, zstd or xz",
    source: "Valgrind, lackey/lk_main.c",
    detect,
    convert,
};

fn detect(input: &Path) -> bool {
    let Ok(mut lines) = Lines::open(input, &Rc::default()) else { return false };
    (0..DETECTED)
        .map_while(|_| lines.advance().ok().filter(|more| *more).map(|_| lines.text().to_vec()))
        .any(|text| matches!(line::read(&text), Ok(Line::Access(_) | Line::Instruction)))
}

fn convert(conversion: &Conversion<'_>, watch: &mut Watch<'_>) -> Result<Summary, ConvertError> {
    let Conversion { input, output, replace, .. } = *conversion;
    let name = input.file_name().unwrap_or_default().to_string_lossy();
    let command = format!("octavo trace convert --format lackey {name}");
    let header = Header { lanes: 32, source: "valgrind lackey".to_owned(), command };
    let create = if replace { TraceWriter::replace } else { TraceWriter::create };
    let writer = create(output, header)?;
    let mut cache = Cache::default();
    let mut notes = Notes::default();
    let accesses = read(input, &mut cache, &mut notes, watch)?;
    let traffic = cache.finish();
    notes.count("accesses that hit the modelled cache of 1 MiB, left out", traffic.hits);
    notes.count("lines that come from memory, by one thread and with nothing computed between them", traffic.lines());
    let refused = |reason| ConvertError::file(input, reason);
    let allocations = program::write(writer, &traffic).map_err(|error| error.in_file(refused))?;
    Ok(Summary { allocations, instructions: accesses, notes: notes.finish(), ..Summary::default() })
}

/// Sends all accesses through the cache; how many there were.
fn read(input: &Path, cache: &mut Cache, notes: &mut Notes, watch: &mut Watch<'_>) -> Result<u64, ConvertError> {
    let mut lines = Lines::open(input, &watch.read)?;
    watch.bytes = std::fs::metadata(input).map_or(0, |data| data.len());
    let mut accesses = 0;
    while lines.advance()? {
        watch.tick(cache.passed() as u64)?;
        match line::read(lines.text()).map_err(|reason| lines.error(reason))? {
            Line::Access(access) => {
                accesses += 1;
                cache.access(access);
                if cache.passed() > MOST_LINES {
                    let reason = format!("more than {MOST_LINES} lines come from memory; trace a shorter part");
                    return Err(lines.error(reason));
                }
            }
            Line::Instruction => notes.count("instructions, whose fetches and time are not simulated", 1),
            Line::Other => notes.count("lines that the tool did not print, or of no interest", 1),
        }
    }
    if accesses == 0 {
        return Err(ConvertError::file(input, "has no access: expected lines ` L address,size`, ` S …` or ` M …`"));
    }
    Ok(accesses)
}
