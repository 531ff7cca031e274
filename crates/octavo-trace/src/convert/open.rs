//! A file as a stream of plain bytes, however it is packed.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

/// Bytes read at once.
const BUFFER: usize = 1 << 18;
/// The largest window of a zstd frame: 2^27 bytes, which `zstd --long=27` writes.
const ZSTD_WINDOW_LOG: u32 = 27;
/// The most memory that an xz block may require: more than `xz -9` needs.
const XZ_MEMORY_KIB: u32 = 80 << 10;

/// Counts the bytes that are read, in their size on disk.
struct Counted {
    file: File,
    read: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        self.read.set(self.read.get() + bytes as u64);
        Ok(bytes)
    }
}

/// Opens `path`, plain or packed with gzip, zstd or xz as its first bytes say; `read` counts the bytes read of it.
pub(super) fn open(path: &Path, read: &Rc<Cell<u64>>) -> io::Result<Box<dyn BufRead>> {
    let file = Counted { file: File::open(path)?, read: Rc::clone(read) };
    let mut packed = BufReader::with_capacity(BUFFER, file);
    let start = packed.fill_buf()?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return Ok(buffered(MultiGzDecoder::new(packed)));
    }
    if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let mut decoder = zstd::Decoder::with_buffer(packed)?;
        decoder.window_log_max(ZSTD_WINDOW_LOG)?;
        return Ok(buffered(decoder));
    }
    if start.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        return Ok(buffered(XzReader::new_mem_limit(packed, true, XZ_MEMORY_KIB)));
    }
    Ok(Box::new(packed))
}

fn buffered(reader: impl Read + 'static) -> Box<dyn BufRead> {
    Box::new(BufReader::with_capacity(BUFFER, reader))
}
