//! The places of page tables in memory: the line that each read of a walk requests.

use crate::gpu::translate::walker::{LEVEL_BITS, TableShape};

/// Entries of 8 bytes in a line.
const ENTRIES_A_LINE_BITS: u32 = 3;

/// Page tables of several address spaces, one array of entries for each space and level, beyond the lines that programs
/// use. Pages are numbered over all spaces.
pub(crate) struct TableLines {
    shape: TableShape,
    /// First line of each level's arrays, and lines of one of them, the root's first.
    levels: Vec<(u64, u64)>,
    /// By stretch of 2 MiB of address space.
    spaces: Vec<u16>,
    /// log2 of the pages of a stretch.
    stretch_bits: u32,
}

impl TableLines {
    /// Tables for `pages` pages in this many spaces, from `first_line` on. `spaces` says which space each stretch of
    /// `1 << stretch_bits` pages belongs to.
    pub fn new(shape: TableShape, pages: u64, (spaces, stretch_bits): (Vec<u16>, u32), first_line: u64) -> Self {
        let count = u64::from(spaces.iter().copied().max().unwrap_or(0)) + 1;
        let mut next = first_line;
        let level = |level| {
            let entries = (pages >> shape.bits_below(level)) + 1;
            let (first, lines) = (next, entries.div_ceil(1 << ENTRIES_A_LINE_BITS));
            next += lines * count;
            (first, lines)
        };
        let levels = (0..shape.levels).map(level).collect();
        Self { shape, levels, spaces, stretch_bits }
    }

    /// The line with the entry of `page` at `level`, 0 being the root.
    pub fn line(&self, level: u32, page: u32) -> u64 {
        let space = u64::from(self.spaces[(page >> self.stretch_bits) as usize]);
        let (first, lines) = self.levels[level as usize];
        first + space * lines + (u64::from(page) >> (self.shape.bits_below(level) + ENTRIES_A_LINE_BITS))
    }
}

impl TableShape {
    /// log2 of the pages below one entry of `level`, 0 being the root.
    fn bits_below(self, level: u32) -> u32 {
        match self.levels - 1 - level {
            0 => 0,
            above => self.leaf_bits + LEVEL_BITS * (above - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_lines_and_spaces_do_not() {
        let shape = TableShape::for_page(4096);
        let tables = TableLines::new(shape, 4 * 512, (vec![0, 0, 1, 1], 9), 1000);
        assert_eq!(tables.line(3, 0), tables.line(3, 7));
        assert_ne!(tables.line(3, 7), tables.line(3, 8));
        for level in 0..3 {
            assert_eq!(tables.line(level, 0), tables.line(level, 1023), "level {level}");
            assert_ne!(tables.line(level, 1023), tables.line(level, 1024), "level {level}");
        }
        let lines = (0..4).flat_map(|level| (0..2048).map(move |page| (level, page)));
        assert!(lines.clone().all(|(level, page)| tables.line(level, page) >= 1000));
        let mut distinct: Vec<u64> = lines.map(|(level, page)| tables.line(level, page)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 256 + 3 * 2);
    }
}
