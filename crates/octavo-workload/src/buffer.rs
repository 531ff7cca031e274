//! Named allocations of a workload and where they lie in virtual memory.

/// Every buffer starts on a 2 MiB boundary, so that no large page is shared by two allocations.
pub const BUFFER_ALIGNMENT: u64 = 2 << 20;

/// One named allocation of managed memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// What the program calls it.
    pub name: String,
    /// First byte, a multiple of [`BUFFER_ALIGNMENT`].
    pub base: u64,
    /// Size in bytes as the program asked for it.
    pub bytes: u64,
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

/// Hands out virtual addresses from zero upwards.
#[derive(Clone, Debug, Default)]
pub struct AddressSpace {
    buffers: Vec<Buffer>,
}

impl AddressSpace {
    /// Places a buffer after the ones before it.
    pub fn allocate(&mut self, name: &str, bytes: u64) -> Buffer {
        let buffer = Buffer { name: name.to_owned(), base: self.end(), bytes };
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
