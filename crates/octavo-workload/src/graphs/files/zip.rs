//! Files inside a ZIP archive, stored or deflated: as much of the format as `NumPy` writes.

use std::io::Read;

use flate2::read::DeflateDecoder;

const END: [u8; 4] = *b"PK\x05\x06";
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";
/// Bytes of those records before what varies in length.
const END_BYTES: usize = 22;
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;

/// The file of that name, if the archive has it.
///
/// # Errors
/// Archives that are cut off, or packed otherwise.
pub fn find(archive: &[u8], name: &str) -> Result<Option<Vec<u8>>, String> {
    let end = (0..archive.len().saturating_sub(END_BYTES - 1)).rev().find(|&at| archive[at..].starts_with(&END));
    let Some(end) = end else { return Err("expected a ZIP archive, found other bytes".to_owned()) };
    let (entries, mut at) = (number(archive, end + 10, 2)?, number(archive, end + 16, 4)?);
    for _ in 0..entries {
        if !archive.get(at..).is_some_and(|rest| rest.starts_with(&ENTRY)) {
            return Err(cut_off());
        }
        let [name_bytes, extra, comment] = [28, 30, 32].map(|field| number(archive, at + field, 2));
        let (name_bytes, extra, comment) = (name_bytes?, extra?, comment?);
        let found = bytes(archive, at + ENTRY_BYTES, name_bytes)?;
        if found == name.as_bytes() {
            return unpack(archive, at).map(Some);
        }
        at += ENTRY_BYTES + name_bytes + extra + comment;
    }
    Ok(None)
}

/// The file of the directory's entry at `entry`.
fn unpack(archive: &[u8], entry: usize) -> Result<Vec<u8>, String> {
    let [method, packed, whole, local] =
        [(10, 2), (20, 4), (24, 4), (42, 4)].map(|(field, size)| number(archive, entry + field, size));
    let (method, packed, whole, local) = (method?, packed?, whole?, local?);
    if !archive.get(local..).is_some_and(|rest| rest.starts_with(&LOCAL)) {
        return Err("expected an archive of less than 4 GiB that is not cut off".to_owned());
    }
    let (name, extra) = (number(archive, local + 26, 2)?, number(archive, local + 28, 2)?);
    let content = bytes(archive, local + LOCAL_BYTES + name + extra, packed)?;
    match method {
        0 => Ok(content.to_vec()),
        8 => {
            let mut unpacked = Vec::new();
            let read = DeflateDecoder::new(content).take(whole as u64).read_to_end(&mut unpacked);
            if read.is_err() || unpacked.len() != whole { Err(cut_off()) } else { Ok(unpacked) }
        }
        other => Err(format!("expected files that are stored or deflated, found method {other}")),
    }
}

fn bytes(archive: &[u8], at: usize, count: usize) -> Result<&[u8], String> {
    archive.get(at..).and_then(|rest| rest.get(..count)).ok_or_else(cut_off)
}

fn number(archive: &[u8], at: usize, size: usize) -> Result<usize, String> {
    Ok(bytes(archive, at, size)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

fn cut_off() -> String {
    "expected a whole ZIP archive, found one that is cut off or damaged".to_owned()
}
