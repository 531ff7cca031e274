//! Lines that are larger than an access: one tag, and parts that come one by one.

/// Bytes of a part, which are the bytes of one access. On GPUs whose lines have four sectors of 32 bytes, a part is two
/// sectors, fetched together.
pub(crate) const SECTOR_BYTES: usize = 64;

/// log2 of the parts of a line.
#[inline(always)]
pub(crate) const fn shift<const SECTORS: usize>() -> u32 {
    SECTORS.trailing_zeros()
}

/// The part of its cache's line that a line of 64 bytes is.
#[inline(always)]
pub(crate) const fn sector<const SECTORS: usize>(line: u64) -> usize {
    line as usize % SECTORS
}
