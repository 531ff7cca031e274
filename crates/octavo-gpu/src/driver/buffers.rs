//! Buffers: of the GPU, of the host, and managed ones that move.

use std::cell::Cell;
use std::rc::Rc;

use bytemuck::{AnyBitPattern, NoUninit};
use cudarc::driver::{result, sys};
use memmap2::MmapMut;

use crate::driver::memory::{BLOCK, Memory, Moving, Touchable, ends_within, to_usize};
use crate::error::{Called, GpuError};

/// Memory of the GPU.
pub struct DeviceMemory {
    address: u64,
    bytes: u64,
}

impl DeviceMemory {
    pub(crate) fn new(bytes: u64) -> Result<Self, GpuError> {
        // SAFETY: contents are not set, and stand for nothing.
        let address = unsafe { result::malloc_sync(to_usize(bytes)) }.called("cuMemAlloc")?;
        Ok(Self { address, bytes })
    }

    /// Copies the bytes that the host has here; waits.
    pub(crate) fn write<T: NoUninit>(&self, values: &[T]) -> Result<(), GpuError> {
        assert!(size_of_val(values) as u64 <= self.bytes, "what is written fits the buffer");
        // SAFETY: the buffer holds that many bytes.
        unsafe { result::memcpy_htod_sync(self.address, values) }.called("cuMemcpyHtoD")?;
        wait_for_default_stream()
    }

    /// Copies it to the host; waits.
    pub(crate) fn read<T: AnyBitPattern>(&self, count: usize) -> Result<Vec<T>, GpuError> {
        self.read_from(0, count)
    }

    /// Copies bytes from `offset` on to the host; waits.
    pub(crate) fn read_from<T: AnyBitPattern>(&self, offset: u64, count: usize) -> Result<Vec<T>, GpuError> {
        let mut values = vec![T::zeroed(); count];
        let bytes = size_of_val(values.as_slice()) as u64;
        assert!(ends_within(self.bytes, offset, bytes), "what is read lies in the buffer");
        // SAFETY: the buffer holds that many bytes there, and every pattern of bits is a value.
        unsafe { result::memcpy_dtoh_sync(&mut values, self.address + offset) }.called("cuMemcpyDtoH")?;
        Ok(values)
    }

    /// Sets every byte; waits.
    pub(crate) fn fill(&self, value: u8) -> Result<(), GpuError> {
        // SAFETY: the buffer holds that many bytes.
        unsafe { result::memset_d8_sync(self.address, value, to_usize(self.bytes)) }.called("cuMemsetD8")?;
        wait_for_default_stream()
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // SAFETY: freed once; the driver waits for what uses it.
        let _ = unsafe { result::free_sync(self.address) };
    }
}

/// Pages of the host that stay where they are, mapped for the GPU.
pub struct PinnedMemory {
    pointer: *mut u8,
    bytes: u64,
}

impl PinnedMemory {
    pub(crate) fn new(bytes: u64) -> Result<Self, GpuError> {
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: contents are not set, and stand for nothing.
        let pointer = unsafe { result::malloc_host(to_usize(bytes), flags) }.called("cuMemHostAlloc")?.cast();
        Ok(Self { pointer, bytes })
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        // SAFETY: freed once.
        let _ = unsafe { result::free_host(self.pointer.cast()) };
    }
}

/// Managed memory: pages move to the processor that touches them.
pub struct ManagedMemory {
    address: u64,
    bytes: u64,
    total: Rc<Cell<u64>>,
}

impl ManagedMemory {
    pub(crate) fn new(bytes: u64, total: Rc<Cell<u64>>) -> Result<Self, GpuError> {
        let flags = sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL;
        // SAFETY: contents are not set, and stand for nothing.
        let address = unsafe { result::malloc_managed(to_usize(bytes), flags) }.called("cuMemAllocManaged")?;
        total.set(total.get() + bytes);
        Ok(Self { address, bytes, total })
    }
}

impl Drop for ManagedMemory {
    fn drop(&mut self) {
        self.total.set(self.total.get() - self.bytes);
        // SAFETY: freed once; the driver waits for what uses it.
        let _ = unsafe { result::free_sync(self.address) };
    }
}

/// Pages of the host that the system maps when they are touched, from a block's boundary on.
pub struct HostMemory {
    mapping: MmapMut,
    begin: usize,
    bytes: u64,
    total: Option<Rc<Cell<u64>>>,
}

impl HostMemory {
    pub(crate) fn new(bytes: u64, total: Option<Rc<Cell<u64>>>) -> Result<Self, GpuError> {
        let refused = |_| GpuError::HostMemory(to_usize(bytes));
        let mapping = MmapMut::map_anon(to_usize(bytes + BLOCK)).map_err(refused)?;
        let begin = mapping.as_ptr().align_offset(to_usize(BLOCK));
        if let Some(total) = &total {
            total.set(total.get() + bytes);
        }
        Ok(Self { mapping, begin, bytes, total })
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if let Some(total) = &self.total {
            total.set(total.get() - self.bytes);
        }
    }
}

// SAFETY: this many bytes were allocated at the address, and are freed when this is dropped.
unsafe impl Memory for DeviceMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

// SAFETY: this many bytes were allocated at the address, and are freed when this is dropped.
unsafe impl Memory for PinnedMemory {
    fn address(&self) -> u64 {
        self.pointer.expose_provenance() as u64
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

// SAFETY: memory of the host that starts at a page, at least.
unsafe impl Touchable for PinnedMemory {
    fn pointer(&self) -> *mut u8 {
        self.pointer
    }
}

// SAFETY: this many bytes were allocated at the address, and are freed when this is dropped.
unsafe impl Memory for ManagedMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

// SAFETY: memory of the host that starts at a page, at least.
unsafe impl Touchable for ManagedMemory {
    fn pointer(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(to_usize(self.address))
    }
}

impl Moving for ManagedMemory {}

// SAFETY: this many bytes were allocated at the address, and are freed when this is dropped.
unsafe impl Memory for HostMemory {
    fn address(&self) -> u64 {
        self.pointer().expose_provenance() as u64
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

// SAFETY: memory of the host that starts at a page, at least.
unsafe impl Touchable for HostMemory {
    fn pointer(&self) -> *mut u8 {
        self.mapping.as_ptr().wrapping_add(self.begin).cast_mut()
    }
}

impl Moving for HostMemory {}

/// Calls that name no stream put their work into the default stream, and may return when it has begun. A copy from
/// pageable memory may return when its bytes have been put aside ("API synchronization behavior" of the driver's
/// reference). Our streams do not wait for that stream.
fn wait_for_default_stream() -> Result<(), GpuError> {
    result::ctx::synchronize().called("cuCtxSynchronize")
}
