//! Accel-Sim's folders: a list of kernels and copies, and for each kernel the instructions of its warps.

mod addresses;
mod header;
mod instruction;
mod kernel;
mod list;
mod warp;

use std::path::Path;

use self::header::Header;
use self::kernel::{Halt, Kernel, Target};
use self::list::List;
use super::assemble::Assembler;
use super::converter::folder_of;
use super::footprint::Footprint;
use super::sort::Sorter;
use super::text::Lines;
use super::watch::{Notes, Watch};
use super::{Conversion, ConvertError, Converter, Summary};

pub(super) static CONVERTER: Converter = Converter {
    name: "accel-sim",
    summary: "folder of Accel-Sim: kernelslist.g with kernel-N.traceg files, plain or packed with gzip, zstd or xz",
    source: "accel-sim-framework, util/tracer_nvbit and gpu-simulator/trace-parser",
    detect: list::detect,
    convert,
};

fn convert(conversion: &Conversion<'_>, watch: &mut Watch<'_>) -> Result<Summary, ConvertError> {
    let list = List::read(conversion.input)?;
    watch.bytes = list.bytes();
    match attempt(conversion, &list, watch, false) {
        Err(Halt::Failed(error)) => Err(error),
        Ok(summary) => Ok(summary),
        // Rare enough to begin again: the post-processing writes thread blocks in order.
        Err(Halt::Unsorted) => match attempt(conversion, &list, watch, true) {
            Ok(summary) => Ok(summary),
            Err(Halt::Failed(error)) => Err(error),
            Err(Halt::Unsorted) => unreachable!("sorted rows are in order"),
        },
    }
}

fn attempt(conversion: &Conversion<'_>, list: &List, watch: &mut Watch<'_>, sort: bool) -> Result<Summary, Halt> {
    watch.read.set(0);
    let footprint = Footprint::new(list.copies.clone());
    let mut assembler = Assembler::create(conversion.output, conversion.replace, describe(list, watch)?, footprint)?;
    let mut sorter = sort.then(|| Sorter::new(folder_of(conversion.output)));
    let mut notes = Notes::default();
    let mut instructions = 0;
    for path in &list.kernels {
        let mut lines = Lines::open(path, &watch.read)?;
        let header = Header::read(&mut lines)?;
        let launch = header.launch(path)?;
        let warps = launch.wavefronts_per_group;
        assembler.begin(launch);
        let target = Target::new(&mut assembler, sorter.as_mut());
        let (found, registers) = Kernel::new(lines, &header, warps, target).read(watch, &mut notes)?;
        instructions += found;
        if !header.knows_registers() {
            assembler.set_registers(registers);
            notes.count("launches of more registers than a thread can have; taken from their instructions", 1);
        }
        assembler.end()?;
    }
    let [launches, rows, allocations, bare] = assembler.finish()?;
    notes.count("warps that recorded no instruction, and end at once", bare);
    notes.count("further CUDA contexts, whose launches run in the order of the list", list.further_contexts());
    notes.count("other lines of the list, such as copies from the device", list.ignored);
    Ok(Summary { launches, rows, allocations, instructions, notes: notes.finish(), ..Summary::default() })
}

/// Metadata of the trace, from the first kernel.
fn describe(list: &List, watch: &Watch<'_>) -> Result<crate::Header, ConvertError> {
    let header = Header::read(&mut Lines::open(&list.kernels[0], &watch.read)?)?;
    let tracer = header.tracer.map_or(String::new(), |version| format!(" tracer {version}"));
    let nvbit = header.nvbit.map_or(String::new(), |version| format!(", nvbit {version}"));
    watch.read.set(0);
    Ok(crate::Header { lanes: 32, source: format!("accel-sim{tracer}{nvbit}"), command: command(list.path()) })
}

/// The command, without folders, which differ between machines.
fn command(list: &Path) -> String {
    let name = list.file_name().unwrap_or_default().to_string_lossy();
    format!("octavo trace convert --format accel-sim {name}")
}
