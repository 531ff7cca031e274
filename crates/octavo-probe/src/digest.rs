//! Sizes and hashes of what is written, as `octavo.files.digest` and the samples of `octavo calibrate` have them.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use blake2::digest::consts::U16;
use blake2::{Blake2b, Digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// BLAKE2b of 128 bits.
type Hasher = Blake2b<U16>;

/// The size and the hash of a file when it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub bytes: u64,
    /// Hexadecimal, 128 bits.
    pub blake2b: String,
}

impl Entry {
    /// The present size and hash of a file.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut hasher = Hasher::new();
        let bytes = io::copy(&mut File::open(path)?, &mut Hashing(&mut hasher))?;
        Ok(Self { bytes, blake2b: hexadecimal(hasher) })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes with BLAKE2b {}", self.bytes, self.blake2b)
    }
}

/// The hash of an object without its `check`: of its text with sorted keys, as Python's `json.dumps` writes it.
pub fn check(object: &Value) -> String {
    let mut object = object.clone();
    if let Some(entries) = object.as_object_mut() {
        entries.shift_remove("check");
    }
    object.sort_all_objects();
    let mut text = Vec::new();
    object.serialize(&mut Serializer::with_formatter(&mut text, Python)).expect("JSON is written to memory");
    hexadecimal(Hasher::new_with_prefix(text))
}

fn hexadecimal(hasher: Hasher) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Hashing<'a>(&'a mut Hasher);

impl io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A space after commas and colons, and ASCII alone.
struct Python;

impl Formatter for Python {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        for letter in text.chars() {
            if (' '..='~').contains(&letter) {
                write!(writer, "{letter}")?;
            } else {
                letter.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(writer, "\\u{unit:04x}"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Entry, check};

    /// What `hashlib.blake2b(..., digest_size=16)` says in Python.
    #[test]
    fn files_have_the_hashes_that_python_finds() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x");
        std::fs::write(&path, "abc").unwrap();
        let expected = Entry { bytes: 3, blake2b: "cf4ab791c62b8d2b2109c90275287816".to_owned() };
        assert_eq!(Entry::of(&path).unwrap(), expected);
    }

    /// Of `json.dumps(..., sort_keys=True)` in Python.
    #[test]
    fn objects_have_the_check_that_python_finds() {
        let object = json!({
            "b": [1, -2, true, null, []], "a": { "z": "é\u{7f}\n\"\\\u{1F600}", "y": {} }, "check": "of another"
        });
        assert_eq!(check(&object), "3b7753a5b5dd4c8ce553f00696c66271");
    }
}
