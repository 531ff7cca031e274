//! Headers of pages, examined before the pages are decoded: their claims bound the allocated memory.

use super::compact::{Compact, kind};
use super::footer::{MAX_CHUNK_BYTES, MAX_CHUNK_VALUES};

/// The claims of a page's header.
#[derive(Default)]
struct PageHeader {
    kind: i64,
    uncompressed: i64,
    compressed: i64,
    values: i64,
}

const DICTIONARY_PAGE: i64 = 2;

/// Checks that the pages of a column chunk add up to no more than a row group may hold; returns how many values they
/// claim.
pub(super) fn check_pages(chunk: &[u8]) -> Result<u64, String> {
    let (mut at, mut bytes, mut values) = (0usize, 0u64, 0u64);
    while at < chunk.len() {
        let (header, length) = read_header(&chunk[at..]).map_err(|reason| format!("page header {reason}"))?;
        at += length;
        let [uncompressed, compressed, count] = [header.uncompressed, header.compressed, header.values]
            .map(|claimed| u64::try_from(claimed).unwrap_or(u64::MAX));
        if compressed > (chunk.len() - at) as u64 {
            return Err("a page reaches beyond the end of its column".to_owned());
        }
        at += compressed as usize;
        bytes = bytes.saturating_add(uncompressed);
        if bytes > MAX_CHUNK_BYTES {
            return Err(format!("pages claim {bytes} bytes, expected at most {MAX_CHUNK_BYTES}"));
        }
        if header.kind == DICTIONARY_PAGE {
            if count > uncompressed {
                return Err(format!("a dictionary claims {count} values in {uncompressed} bytes"));
            }
        } else {
            values = values.saturating_add(count);
        }
        if values > MAX_CHUNK_VALUES {
            return Err(format!("pages claim {values} values, expected at most {MAX_CHUNK_VALUES}"));
        }
    }
    Ok(values)
}

fn read_header(bytes: &[u8]) -> Result<(PageHeader, usize), &'static str> {
    let mut reader = Compact::new(bytes);
    let mut header = PageHeader::default();
    reader.fields(|reader, field, kind| {
        match (field, kind) {
            (1, kind::I32) => header.kind = reader.number()?,
            (2, kind::I32) => header.uncompressed = reader.number()?,
            (3, kind::I32) => header.compressed = reader.number()?,
            // The first field of each kind of page is its number of values.
            (5 | 7 | 8, kind::STRUCT) => reader.fields(|reader, field, kind| match (field, kind) {
                (1, kind::I32) => reader.number().map(|values| header.values = values),
                _ => reader.skip(kind),
            })?,
            _ => reader.skip(kind)?,
        }
        Ok(())
    })?;
    Ok((header, reader.position()))
}
