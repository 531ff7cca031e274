//! Named allocations of a workload, where they lie in virtual memory, and parts of them.

use std::ops::Range;

use octavo_manager::{Kind, Spread};

/// Buffers of the kernels start on boundaries of 2 MiB, so that no large page is shared by two of them. Recorded
/// programs have their allocations where they had them.
pub const BUFFER_ALIGNMENT: u64 = 2 << 20;

/// One named allocation of managed memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name in the program.
    pub name: String,
    /// First byte.
    pub base: u64,
    /// Size in bytes as requested by the program.
    pub bytes: u64,
    /// GPU whose memory the program requested, from 1; 0 for none in particular.
    pub gpu: u8,
}

impl Buffer {
    /// Address of element `index` of `size` bytes.
    #[must_use]
    #[inline]
    pub fn at(&self, index: u64, size: u64) -> u64 {
        debug_assert!(index * size < self.bytes, "{} has {} bytes", self.name, self.bytes);
        self.base + index * size
    }
}

/// A buffer of a program, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub u32);

impl BufferId {
    /// Index into the program's buffers.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Bytes of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which buffer.
    pub buffer: BufferId,
    /// The range of bytes, from its start; at least one.
    pub bytes: Range<u64>,
}

impl Span {
    /// How many bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.bytes.end.saturating_sub(self.bytes.start)
    }

    /// Whether there are none, which no action allows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A buffer of a whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramBuffer {
    /// Its name and where it lies.
    pub buffer: Buffer,
    /// What it is.
    pub kind: Kind,
    /// Its distribution over several GPUs, if it is device memory for which the program names no GPU.
    pub spread: Spread,
}

/// Pages of each of `buffers`, which are in address order: a page that several of them share belongs to the first.
pub fn pages_of(buffers: &[Buffer], page_bytes: u64) -> impl Iterator<Item = Range<u64>> {
    buffers.iter().scan(0, move |taken, buffer| {
        let end = (buffer.base + buffer.bytes).div_ceil(page_bytes);
        let first = (buffer.base / page_bytes).max(*taken).min(end);
        *taken = end;
        Some(first..end)
    })
}

/// Hands out virtual addresses from zero upwards.
#[derive(Clone, Debug, Default)]
pub struct AddressSpace {
    buffers: Vec<Buffer>,
}

impl AddressSpace {
    /// Places a buffer after the ones before it.
    pub fn allocate(&mut self, name: &str, bytes: u64) -> Buffer {
        let buffer = Buffer { name: name.to_owned(), base: self.end(), bytes, gpu: 0 };
        self.buffers.push(buffer.clone());
        buffer
    }

    /// One past the last byte that belongs to a buffer, rounded up to [`BUFFER_ALIGNMENT`].
    #[must_use]
    pub fn end(&self) -> u64 {
        self.buffers.last().map_or(0, |last| (last.base + last.bytes).next_multiple_of(BUFFER_ALIGNMENT))
    }

    /// All buffers in address order.
    #[must_use]
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_belongs_to_the_first_buffer_that_has_a_part_of_it() {
        let buffer = |base, bytes| Buffer { name: String::new(), base, bytes, gpu: 0 };
        let buffers = [buffer(100, 4000), buffer(4100, 100), buffer(4200, 5000), buffer(16384, 1)];
        let pages: Vec<_> = pages_of(&buffers, 4096).collect();
        assert_eq!(pages, [0..2, 2..2, 2..3, 4..5]);
    }
}
