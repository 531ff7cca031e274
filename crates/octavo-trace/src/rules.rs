//! The rules that each row obeys on its own and after the row before it.

use crate::schema::{CODE_LINES_END, MAX_LIST, too_long};
use crate::{Key, Kind, Row, Touched};

/// Bytes of a line.
const LINE_BYTES: u64 = 64;
/// Line numbers end here: addresses have 64 bits.
const LINES_END: u64 = 1 << 58;

/// Checks rows one after another.
#[derive(Clone, Copy, Debug)]
pub struct RowRules {
    lanes: u8,
    before: Option<(Key, Kind)>,
    /// Whether the first row may be anywhere in a wavefront.
    resumed: bool,
}

impl RowRules {
    /// Rules of a trace whose wavefronts have `lanes` lanes, before its first row.
    #[must_use]
    pub const fn new(lanes: u8) -> Self {
        Self { lanes, before: None, resumed: false }
    }

    /// Rules from some row of a trace on.
    #[must_use]
    pub const fn resumed(lanes: u8) -> Self {
        Self { lanes, before: None, resumed: true }
    }

    /// Takes the next row.
    ///
    /// # Errors
    /// What is wrong with it; the rules then still stand at the row before.
    pub fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        self.order(row.key)?;
        self.columns(row)?;
        self.before = Some((row.key, row.kind));
        Ok(())
    }

    /// After the last row.
    ///
    /// # Errors
    /// The last wavefront has not ended.
    pub fn finish(&self) -> Result<(), String> {
        match self.before {
            Some((key, kind)) if kind != Kind::End => Err(format!("{} has no `end`", wavefront(key))),
            _ => Ok(()),
        }
    }

    #[inline]
    fn order(&self, key: Key) -> Result<(), String> {
        let next = |before: Key| Key { sequence: before.sequence.wrapping_add(1), ..before };
        if self.before.is_some_and(|(before, kind)| kind != Kind::End && key == next(before) && key.sequence != 0) {
            return Ok(());
        }
        self.order_elsewhere(key)
    }

    /// The change that does not continue the wavefront of the row before, as most rows do.
    fn order_elsewhere(&self, key: Key) -> Result<(), String> {
        let Some((before, kind)) = self.before else {
            return if self.resumed { Ok(()) } else { first_of_wavefront(key) };
        };
        let place = |key: Key| (key.launch, key.group, key.wavefront);
        if place(key) == place(before) {
            if kind == Kind::End {
                return Err(format!("{} goes on after its `end`", wavefront(key)));
            }
            if before.sequence.checked_add(1) == Some(key.sequence) {
                return Ok(());
            }
            return Err(format!("sequence {} follows {} in {}", key.sequence, before.sequence, wavefront(key)));
        }
        if place(key) < place(before) {
            return Err(format!("not sorted: {} comes after {}", wavefront(key), wavefront(before)));
        }
        if kind != Kind::End {
            return Err(format!("{} has no `end`", wavefront(before)));
        }
        first_of_wavefront(key)
    }

    #[inline]
    fn columns(&self, row: &Row<'_>) -> Result<(), String> {
        let name = row.kind.name();
        if row.kind != Kind::Wait && (row.vector_wait.is_some() || row.scalar_wait.is_some()) {
            return Err(format!("a `{name}` with `vector_wait` or `scalar_wait`, which belong to `wait`"));
        }
        if !row.kind.is_vector() && row.lanes != 0 {
            return Err(format!("a `{name}` with {} lanes, expected 0", row.lanes));
        }
        if row.lanes > self.lanes {
            return Err(format!("{} lanes are active, but wavefronts have {}", row.lanes, self.lanes));
        }
        if !row.kind.is_memory() && (row.bytes != 0 || !row.touched.values().is_empty()) {
            return Err(format!("a `{name}` that moves bytes"));
        }
        if row.code_lines.len() > MAX_LIST {
            return Err(too_long("`code_lines`", row.code_lines.len()));
        }
        if let Some(line) = row.code_lines.iter().find(|line| **line >= CODE_LINES_END) {
            return Err(format!("line {line} of the code, expected fewer than {CODE_LINES_END}"));
        }
        match row.touched {
            Touched::Lines(lines) => check_lines(row, lines)?,
            Touched::Addresses(addresses) => check_addresses(row, addresses)?,
        }
        if row.partial.is_empty() { Ok(()) } else { check_partial(row) }
    }
}

fn first_of_wavefront(key: Key) -> Result<(), String> {
    if key.sequence == 0 {
        return Ok(());
    }
    Err(format!("{} begins with sequence {}, expected 0", wavefront(key), key.sequence))
}

fn check_lines(row: &Row<'_>, lines: &[u64]) -> Result<(), String> {
    if row.kind.is_vector() && lines.is_empty() != (row.lanes == 0) {
        return Err(format!("{} active lanes touch {} lines", row.lanes, lines.len()));
    }
    if !lines.is_empty() && row.bytes == 0 {
        return Err(format!("a `{}` of 0 bytes touches {} lines", row.kind.name(), lines.len()));
    }
    let accessors = u64::from(row.lanes.max(1));
    let most = accessors * (u64::from(row.bytes).div_ceil(LINE_BYTES) + 1);
    if lines.len() as u64 > most {
        return Err(format!(
            "{} lines, but {accessors} lanes of {} bytes touch at most {most}",
            lines.len(),
            row.bytes
        ));
    }
    if let Some(line) = lines.iter().find(|line| **line >= LINES_END) {
        return Err(format!("line {line} is beyond the last of a 64-bit address space"));
    }
    match repeated(lines) {
        Some(line) => Err(format!("line {line} stands twice in `lines`")),
        None => Ok(()),
    }
}

fn check_addresses(row: &Row<'_>, addresses: &[u64]) -> Result<(), String> {
    let expected = if row.kind.is_vector() { usize::from(row.lanes) } else { 1 };
    if !addresses.is_empty() && (addresses.len() != expected || row.bytes == 0) {
        let (found, lanes, bytes) = (addresses.len(), row.lanes, row.bytes);
        return Err(format!("{found} addresses for {lanes} active lanes of {bytes} bytes"));
    }
    let last = u64::from(row.bytes).saturating_sub(1);
    match addresses.iter().find(|address| address.checked_add(last).is_none()) {
        Some(address) => Err(format!("{} bytes at address {address} reach beyond 64 bits", row.bytes)),
        None => Ok(()),
    }
}

fn check_partial(row: &Row<'_>) -> Result<(), String> {
    let Touched::Lines(lines) = row.touched else {
        return Err("`partial` beside `addresses`, from which it follows".to_owned());
    };
    if !row.kind.is_written() {
        return Err(format!("a `{}` with `partial`, which belongs to stores", row.kind.name()));
    }
    if !row.partial.is_sorted_by(|a, b| a < b) {
        return Err("`partial` does not ascend".to_owned());
    }
    match row.partial.last() {
        Some(last) if *last >= lines.len() as u64 => {
            Err(format!("`partial` names position {last} of {} lines", lines.len()))
        }
        _ => Ok(()),
    }
}

/// The first repeated line.
fn repeated(lines: &[u64]) -> Option<u64> {
    // Most instructions touch ascending lines.
    if lines.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let mut sorted = lines.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

fn wavefront(key: Key) -> String {
    format!("wavefront {} of group {} of launch {}", key.wavefront, key.group, key.launch)
}
