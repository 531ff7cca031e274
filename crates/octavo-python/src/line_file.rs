//! Lines of memory as a file that simulators of memory read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use octavo_sim::MemoryLine;

/// How much zstd packs: its usual level.
const LEVEL: i32 = 3;

/// A file that is being written.
pub struct LineFile {
    out: Packed,
    /// Whether each line has its time and GPU, as a row of a table; else it is one of Ramulator 2's load-store traces.
    timed: bool,
}

enum Packed {
    Plain(BufWriter<File>),
    Gzip(BufWriter<GzEncoder<File>>),
    Zstd(BufWriter<zstd::Encoder<'static, File>>),
}

impl LineFile {
    /// Begins a file, packed as `gz`, `zst`, or not at all.
    pub fn create(path: &Path, timed: bool, packing: &str) -> io::Result<Self> {
        let file = File::create(path)?;
        let out = match packing {
            "gz" => Packed::Gzip(BufWriter::new(GzEncoder::new(file, Compression::default()))),
            "zst" => Packed::Zstd(BufWriter::new(zstd::Encoder::new(file, LEVEL)?)),
            _ => Packed::Plain(BufWriter::new(file)),
        };
        let mut made = Self { out, timed };
        if timed {
            writeln!(made.out(), "time_ps,gpu,kind,address")?;
        }
        Ok(made)
    }

    fn out(&mut self) -> &mut dyn Write {
        match &mut self.out {
            Packed::Plain(out) => out,
            Packed::Gzip(out) => out,
            Packed::Zstd(out) => out,
        }
    }

    /// Writes a line of memory.
    pub fn take(&mut self, line: MemoryLine) -> io::Result<()> {
        let MemoryLine { time, gpu, address, write } = line;
        if self.timed {
            let kind = if write { "write" } else { "read" };
            return writeln!(self.out(), "{time},{gpu},{kind},{address}");
        }
        writeln!(self.out(), "{} {address:#x}", if write { "ST" } else { "LD" })
    }

    /// Ends the file.
    pub fn finish(self) -> io::Result<()> {
        match self.out {
            Packed::Plain(mut out) => out.flush(),
            Packed::Gzip(out) => out.into_inner()?.finish().map(drop),
            Packed::Zstd(out) => out.into_inner()?.finish().map(drop),
        }
    }
}
