//! Lines and words of a text, with bounded memory.

use std::cell::Cell;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::ConvertError;
use super::open::open;

/// Bytes of a line, at most: a kernel's name may be long, 32 addresses are not.
const MAX_LINE: u64 = 1 << 18;

/// The lines of a file, one at a time.
pub(super) struct Lines {
    file: PathBuf,
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    /// Opens `file`, before its first line; `read` counts the bytes read of it.
    pub fn open(file: &Path, read: &Rc<Cell<u64>>) -> Result<Self, ConvertError> {
        let reader = open(file, read).map_err(|error| ConvertError::file(file, format!("cannot be read: {error}")))?;
        Ok(Self { file: file.to_owned(), reader, line: Vec::new(), number: 0 })
    }

    /// Reads the next line; false after the last.
    pub fn advance(&mut self) -> Result<bool, ConvertError> {
        self.line.clear();
        let mut rest = self.reader.as_mut().take(MAX_LINE + 1);
        if let Err(error) = rest.read_until(b'\n', &mut self.line) {
            self.number += 1;
            return Err(self.error(format!("cannot be read: {error}")));
        }
        if self.line.is_empty() {
            return Ok(false);
        }
        self.number += 1;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if self.line.len() as u64 > MAX_LINE {
            return Err(self.error(format!("is longer than {MAX_LINE} bytes")));
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(true)
    }

    /// The line, without its end.
    pub fn text(&self) -> &[u8] {
        &self.line
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// An error about this line.
    pub fn error(&self, reason: impl Into<String>) -> ConvertError {
        ConvertError::line(&self.file, self.number, reason)
    }
}

/// The words of a line, which blanks part.
#[derive(Clone)]
pub(super) struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    pub fn new(line: &'a [u8]) -> Self {
        Self(line)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let rest = &self.0[start..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.0 = &rest[length..];
        Some(&rest[..length])
    }
}

/// A decimal number without sign.
pub(super) fn decimal(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// A decimal number, perhaps negative.
pub(super) fn signed(word: &[u8]) -> Option<i64> {
    match word.strip_prefix(b"-") {
        Some(digits) => decimal(digits).and_then(|value| 0i64.checked_sub_unsigned(value)),
        None => decimal(word).and_then(|value| i64::try_from(value).ok()),
    }
}

/// A hexadecimal number, with or without `0x`.
pub(super) fn hexadecimal(word: &[u8]) -> Option<u64> {
    let digits = word.strip_prefix(b"0x").unwrap_or(word);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits.iter().try_fold(0u64, |value, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return None,
        };
        Some(value << 4 | u64::from(digit))
    })
}

/// Three decimal numbers that commas part: `1,2,3`.
pub(super) fn triple(word: &[u8]) -> Option<[u32; 3]> {
    let mut parts = word.split(|byte| *byte == b',');
    let mut next = || u32::try_from(decimal(parts.next()?.trim_ascii())?).ok();
    let found = [next()?, next()?, next()?];
    parts.next().is_none().then_some(found)
}

/// `text` as messages show it: cut short, and readable for any bytes.
pub(super) fn shown(text: &[u8]) -> String {
    const SHOWN: usize = 60;
    let cut = if text.len() > SHOWN { "…" } else { "" };
    format!("`{}{cut}`", String::from_utf8_lossy(&text[..text.len().min(SHOWN)]).escape_debug())
}

#[cfg(test)]
mod tests {
    use super::{Words, decimal, hexadecimal, signed, triple};

    #[test]
    fn numbers_are_read_or_refused() {
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!([decimal(b"18446744073709551616"), decimal(b""), decimal(b"+1"), decimal(b"1x")], [None; 4]);
        assert_eq!([signed(b"-9223372036854775808"), signed(b"-4"), signed(b"7")], [Some(i64::MIN), Some(-4), Some(7)]);
        assert_eq!([signed(b"-"), signed(b"--1"), signed(b"9223372036854775808")], [None; 3]);
        assert_eq!([hexadecimal(b"0xfF"), hexadecimal(b"10")], [Some(255), Some(16)]);
        assert_eq!([hexadecimal(b"0x"), hexadecimal(b"0x00000000000000001"), hexadecimal(b"g")], [None; 3]);
        assert_eq!(triple(b"1, 2,3"), Some([1, 2, 3]));
        assert_eq!([triple(b"1,2"), triple(b"1,2,3,4"), triple(b"1,,2")], [None; 3]);
    }

    #[test]
    fn words_are_parted_by_blanks() {
        assert_eq!(Words::new(b"  a bc\t d ").collect::<Vec<_>>(), [&b"a"[..], b"bc", b"d"]);
    }
}
