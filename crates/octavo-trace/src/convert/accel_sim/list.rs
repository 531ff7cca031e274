//! The list of an Accel-Sim folder: copies to the device, and kernels in the order of their launches.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::convert::ConvertError;
use crate::convert::footprint::Span;
use crate::convert::sass::MAX_ADDRESS;
use crate::convert::text::{Lines, decimal, hexadecimal, shown};

/// Kernels and copies, at most.
const MAX_ENTRIES: usize = 1 << 20;
/// The ending of a packed file's name.
const PACKED: [&str; 4] = ["", ".gz", ".zst", ".xz"];

/// A list that was read.
#[derive(Debug)]
pub(super) struct List {
    path: PathBuf,
    /// Files of the launches, which exist; there is at least one.
    pub kernels: Vec<PathBuf>,
    /// The copies to the device, in order.
    pub copies: Vec<Span>,
    /// Lines that mean nothing to a trace.
    pub ignored: u64,
}

/// Whether `input` is a list, or a folder with one.
pub(super) fn detect(input: &Path) -> bool {
    if input.is_dir() { !lists(input).is_empty() } else { is_list(input.file_name().unwrap_or_default()) }
}

fn is_list(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with("kernelslist")
}

/// The lists of a folder: the lists of grouped traces if there are any.
fn lists(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<_> = entries.filter(|entry| is_list(&entry.file_name())).map(|entry| entry.path()).collect();
    all.sort();
    let grouped: Vec<_> = all.iter().filter(|path| path.extension() == Some(OsStr::new("g"))).cloned().collect();
    if grouped.is_empty() { all } else { grouped }
}

impl List {
    /// Reads the list `input`, or the list in the folder `input`.
    pub fn read(input: &Path) -> Result<Self, ConvertError> {
        let path = if input.is_dir() { only_list(input)? } else { input.to_owned() };
        let mut list = Self { path, kernels: Vec::new(), copies: Vec::new(), ignored: 0 };
        let mut lines = Lines::open(&list.path, &Rc::default())?;
        while lines.advance()? {
            list.line(lines.text()).map_err(|reason| lines.error(reason))?;
        }
        if list.kernels.is_empty() {
            return Err(ConvertError::file(&list.path, "lists no kernel"));
        }
        Ok(list)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of all kernels' files.
    pub fn bytes(&self) -> u64 {
        self.kernels.iter().map(|path| fs::metadata(path).map_or(0, |data| data.len())).sum()
    }

    /// CUDA contexts beyond the first that names of files tell apart, as tracer 5 writes them: `kernel-1-ctx_0x5.traceg`.
    pub fn further_contexts(&self) -> u64 {
        let context = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let (_, context) = name.split_once("-ctx_")?;
            Some(context.split('.').next().unwrap_or_default().to_owned())
        };
        let contexts: BTreeSet<String> = self.kernels.iter().filter_map(context).collect();
        contexts.len().saturating_sub(1) as u64
    }

    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        if self.kernels.len() + self.copies.len() >= MAX_ENTRIES {
            return Err(format!("more than {MAX_ENTRIES} kernels and copies"));
        }
        if let Some(copy) = line.strip_prefix(b"MemcpyHtoD") {
            self.copies.extend(copied(copy)?);
        } else if line.starts_with(b"kernel") {
            self.kernels.push(self.kernel(line)?);
        } else if line.starts_with(b"Memcpy") || line.starts_with(b"nccl") || line.starts_with(b"#") {
            self.ignored += 1;
        } else {
            return Err(format!("expected `MemcpyHtoD,0xADDRESS,BYTES` or `kernel-N.traceg`, found {}", shown(line)));
        }
        Ok(())
    }

    /// The file of a kernel: as listed, or grouped, or packed.
    fn kernel(&self, name: &[u8]) -> Result<PathBuf, String> {
        let name = std::str::from_utf8(name).map_err(|_| format!("{} is no name of a file", shown(name)))?;
        if name.contains(['/', '\\']) {
            return Err(format!("`{name}` lies outside of the folder"));
        }
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let plain = PACKED.iter().rev().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let raw = plain.ends_with(".trace");
        let grouped = if raw { format!("{plain}g") } else { plain.to_owned() };
        let exact = (!raw).then(|| folder.join(name));
        let mut candidates = exact.into_iter().chain(PACKED.iter().map(|end| folder.join(format!("{grouped}{end}"))));
        candidates.find(|path| path.is_file()).ok_or_else(|| {
            if raw && folder.join(name).is_file() {
                format!("`{name}` is not grouped by thread block: run Accel-Sim's post-traces-processing on it first")
            } else {
                format!("`{name}` is missing")
            }
        })
    }
}

fn only_list(folder: &Path) -> Result<PathBuf, ConvertError> {
    let mut lists = lists(folder);
    match lists.len() {
        0 => Err(ConvertError::file(folder, "has no kernelslist.g")),
        1 => Ok(lists.remove(0)),
        _ => {
            let plain = lists.iter().find(|path| path.file_name() == Some(OsStr::new("kernelslist.g")));
            let names = lists.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy());
            let names = names.collect::<Vec<_>>().join(", ");
            plain.cloned().ok_or_else(|| ConvertError::file(folder, format!("has several lists, name one: {names}")))
        }
    }
}

/// The copy of `,0xADDRESS,BYTES`, if it is one.
fn copied(text: &[u8]) -> Result<Option<Span>, String> {
    let mut parts = text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let (empty, base, bytes) = (parts.next(), parts.next(), parts.next());
    let parsed = base.and_then(hexadecimal).zip(bytes.and_then(decimal));
    let (Some(b""), Some((base, bytes)), None) = (empty, parsed, parts.next()) else {
        return Err(format!("expected `MemcpyHtoD,0xADDRESS,BYTES`, found `MemcpyHtoD` and {}", shown(text)));
    };
    match base.checked_add(bytes) {
        Some(end) if end <= MAX_ADDRESS => Ok((bytes > 0).then_some(Span { base, end })),
        _ => Err(format!("{bytes} bytes at {base:#x} lie beyond any address of a GPU")),
    }
}
