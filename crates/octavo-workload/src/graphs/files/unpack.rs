//! Files as plain bytes: unpacked, or packed with gzip or zstd, which their first bytes show.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Unpacked bytes, at most (our choice): a few packed bytes can claim to be any number.
const MOST_BYTES: u64 = 1 << 36;

/// The bytes of a file, unpacked.
pub fn read(file: &str) -> io::Result<Vec<u8>> {
    let bytes = std::fs::read(file)?;
    let reader: Box<dyn Read + '_> = match () {
        () if bytes.starts_with(&GZIP) => Box::new(MultiGzDecoder::new(bytes.as_slice())),
        () if bytes.starts_with(&ZSTD) => Box::new(zstd::Decoder::with_buffer(bytes.as_slice())?),
        () => return Ok(bytes),
    };
    let mut plain = Vec::new();
    reader.take(MOST_BYTES + 1).read_to_end(&mut plain)?;
    if plain.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it has more than {MOST_BYTES} bytes once it is unpacked")));
    }
    Ok(plain)
}

/// A name without the suffix that says how it is packed.
pub fn plain_name(file: &str) -> &str {
    [".gz", ".zst"].iter().find_map(|packed| file.strip_suffix(packed)).unwrap_or(file)
}
