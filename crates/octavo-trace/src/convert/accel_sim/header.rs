//! The lines before the first thread block of a kernel's file.

use std::path::Path;

use crate::LaunchRow;
use crate::convert::ConvertError;
use crate::convert::assemble::shape;
use crate::convert::text::{Lines, decimal, hexadecimal, shown, triple};

/// The tracer whose lines no longer begin with the thread block and the warp.
const WITHOUT_PLACE: u64 = 3;
/// Words of the place: three of the thread block, one of the warp.
const PLACE_WORDS: usize = 4;

/// Threads of a thread block, registers of a thread and bytes of shared memory of a thread block, at most: compute
/// capabilities 5.0 to 12.0 (CUDA C++ Programming Guide, table of technical specifications; 227 KiB of 9.0 and a
/// reserved KiB).
const MOST_THREADS: u32 = 1024;
const MOST_REGISTERS: u64 = 255;
const MOST_SHARED_BYTES: u64 = 228 << 10;

/// The header of a kernel.
#[derive(Debug, Default)]
pub(super) struct Header {
    name: String,
    /// Thread blocks in each dimension.
    pub grid: Option<[u32; 3]>,
    /// Threads of a thread block in each dimension.
    block: Option<[u32; 3]>,
    shared_bytes: u64,
    registers: u64,
    line_numbers: bool,
    /// Lines name their thread block and warp.
    places: bool,
    /// The beginnings of the windows of shared and local memory among generic addresses.
    pub shared_window: Option<u64>,
    pub local_window: Option<u64>,
    /// Version of the tracer.
    pub tracer: Option<u64>,
    pub nvbit: Option<String>,
}

impl Header {
    /// Reads up to the line that begins the first thread block, which is then the line of `lines`.
    pub fn read(lines: &mut Lines) -> Result<Self, ConvertError> {
        let mut header = Self::default();
        while lines.advance()? {
            let line = lines.text().trim_ascii();
            if line == b"#BEGIN_TB" {
                return Ok(header);
            } else if let Some(format) = line.strip_prefix(b"#traces format =") {
                header.places |= format.trim_ascii_start().starts_with(b"threadblock");
            } else if let Some(pair) = line.strip_prefix(b"-") {
                header.pair(pair).map_err(|reason| lines.error(reason))?;
            } else if !(line.is_empty() || line.starts_with(b"#")) {
                let found = shown(line);
                return Err(lines.error(format!("expected `-key = value` or `#BEGIN_TB`, found {found}")));
            }
        }
        Err(ConvertError::file(lines.path(), "has no thread block"))
    }

    /// The row of the launch table.
    pub fn launch(&self, file: &Path) -> Result<LaunchRow, ConvertError> {
        let missing = |key: &str| ConvertError::file(file, format!("no `-{key}` before the first thread block"));
        let grid = self.grid.ok_or_else(|| missing("grid dim"))?;
        let block = self.block.ok_or_else(|| missing("block dim"))?;
        let launch = shape(self.name.clone(), grid, block).map_err(|reason| ConvertError::file(file, reason))?;
        let threads: u32 = block.iter().product();
        if threads > MOST_THREADS {
            let reason = format!("`-block dim`: expected at most {MOST_THREADS} threads, found {threads}");
            return Err(ConvertError::file(file, reason));
        }
        if self.shared_bytes > MOST_SHARED_BYTES {
            let reason = format!("`-shmem`: expected at most {MOST_SHARED_BYTES} bytes, found {}", self.shared_bytes);
            return Err(ConvertError::file(file, reason));
        }
        let vector_registers = if self.knows_registers() { self.registers as u16 } else { 0 };
        Ok(LaunchRow { vector_registers, local_data_bytes: self.shared_bytes as u32, ..launch })
    }

    /// Whether a thread can have as many registers as the header says. Some tracers write random content of memory.
    pub fn knows_registers(&self) -> bool {
        self.registers <= MOST_REGISTERS
    }

    /// Words of an instruction's line before its program counter.
    pub fn words_before(&self) -> usize {
        let places = self.places || self.tracer.is_some_and(|version| version < WITHOUT_PLACE);
        usize::from(self.line_numbers) + if places { PLACE_WORDS } else { 0 }
    }

    fn pair(&mut self, pair: &[u8]) -> Result<(), String> {
        let Some(equals) = pair.iter().position(|byte| *byte == b'=') else {
            return Err(format!("expected `-key = value`, found {}", shown(pair)));
        };
        let (key, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
        let wrong = || format!("`-{}` of {}", String::from_utf8_lossy(key), shown(value));
        let sizes = || triple(value.strip_prefix(b"(")?.strip_suffix(b")")?);
        let text = || String::from_utf8_lossy(value).into_owned();
        match key {
            b"kernel name" => self.name = text(),
            b"grid dim" => self.grid = Some(sizes().ok_or_else(wrong)?),
            b"block dim" => self.block = Some(sizes().ok_or_else(wrong)?),
            b"shmem" => self.shared_bytes = decimal(value).ok_or_else(wrong)?,
            b"nregs" => self.registers = decimal(value).ok_or_else(wrong)?,
            b"enable lineinfo" => self.line_numbers = decimal(value).ok_or_else(wrong)? != 0,
            b"shmem base_addr" => self.shared_window = Some(hexadecimal(value).ok_or_else(wrong)?),
            b"local mem base_addr" => self.local_window = Some(hexadecimal(value).ok_or_else(wrong)?),
            b"accelsim tracer version" => self.tracer = Some(decimal(value).ok_or_else(wrong)?),
            b"nvbit version" => self.nvbit = Some(text()),
            _ => {}
        }
        Ok(())
    }
}
