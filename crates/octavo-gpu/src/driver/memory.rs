//! Buffers: of the GPU, of the host, and managed ones that move.

use std::cell::Cell;
use std::rc::Rc;

use cudarc::driver::{result, sys};
use memmap2::MmapMut;

use crate::driver::place::Place;
use crate::error::{Called, GpuError};

/// The granule in which the host's memory moves and faults; larger pages of a host are whole multiples.
pub const PAGE: u64 = 4096;

/// A large page, and the driver's block: allocations begin at one, so that blocks are whole.
pub const BLOCK: u64 = 2 << 20;

/// Bytes at an address that copies and kernels can name.
pub trait Memory {
    /// Where it begins.
    fn address(&self) -> u64;
    /// How long it is.
    fn bytes(&self) -> u64;
}

/// Memory that the processor can touch itself.
pub trait Touchable: Memory {
    /// Where it begins.
    fn pointer(&self) -> *mut u8;

    /// The processor writes one byte of each `stride` bytes of the first `bytes`.
    fn host_writes(&self, bytes: u64, stride: u64) {
        assert!(bytes <= self.bytes(), "touches stay inside their buffer");
        for offset in (0..bytes).step_by(usize::try_from(stride).expect("a stride fits")) {
            // SAFETY: inside the buffer; volatile, so that no touch is left out.
            unsafe { self.pointer().add(to_usize(offset)).write_volatile(offset.to_le_bytes()[0]) };
        }
    }

    /// The processor sets every byte.
    fn host_fills(&self, value: u8) {
        // SAFETY: all of the buffer, which nobody else uses now.
        unsafe { self.pointer().write_bytes(value, to_usize(self.bytes())) };
    }

    /// The processor reads one byte of each `stride` bytes of the first `bytes`.
    fn host_reads(&self, bytes: u64, stride: u64) {
        assert!(bytes <= self.bytes(), "touches stay inside their buffer");
        for offset in (0..bytes).step_by(usize::try_from(stride).expect("a stride fits")) {
            // SAFETY: inside the buffer; volatile, so that no touch is left out.
            let _ = unsafe { self.pointer().add(to_usize(offset)).read_volatile() };
        }
    }
}

/// Memory that both sides touch, and that the driver may move.
pub trait Moving: Touchable {
    /// Tells the driver what to expect of all of it.
    ///
    /// # Errors
    /// The driver refuses: system memory may be nothing it can move.
    fn advise(&self, advice: sys::CUmem_advise, place: Place) -> Result<(), GpuError> {
        // SAFETY: the whole of one allocation.
        unsafe { result::mem_advise(self.address(), to_usize(self.bytes()), advice, place.location()) }
            .called("cuMemAdvise")
    }
}

/// Memory of the GPU.
pub struct DeviceMemory {
    address: u64,
    bytes: u64,
}

impl DeviceMemory {
    pub(crate) fn new(bytes: u64) -> Result<Self, GpuError> {
        // SAFETY: contents are not set, and nobody takes them for anything.
        let address = unsafe { result::malloc_sync(to_usize(bytes)) }.called("cuMemAlloc")?;
        Ok(Self { address, bytes })
    }

    /// Copies what the host has here; waits.
    pub(crate) fn write<T: Copy>(&self, values: &[T]) -> Result<(), GpuError> {
        assert!(size_of_val(values) as u64 <= self.bytes, "what is written fits the buffer");
        // SAFETY: the buffer holds that many bytes.
        unsafe { result::memcpy_htod_sync(self.address, values) }.called("cuMemcpyHtoD")?;
        wait_for_default_stream()
    }

    /// Copies it to the host; waits.
    pub(crate) fn read<T: Copy + Default>(&self, count: usize) -> Result<Vec<T>, GpuError> {
        self.read_from(0, count)
    }

    /// Copies what lies `offset` bytes behind its beginning to the host; waits.
    pub(crate) fn read_from<T: Copy + Default>(&self, offset: u64, count: usize) -> Result<Vec<T>, GpuError> {
        let mut values = vec![T::default(); count];
        assert!(offset + size_of_val(values.as_slice()) as u64 <= self.bytes, "what is read lies in the buffer");
        // SAFETY: the buffer holds that many bytes, and every pattern is a number.
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
        // SAFETY: contents are not set, and nobody takes them for anything.
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

/// Managed memory: pages move to whoever touches them.
pub struct ManagedMemory {
    address: u64,
    bytes: u64,
    total: Rc<Cell<u64>>,
}

impl ManagedMemory {
    pub(crate) fn new(bytes: u64, total: Rc<Cell<u64>>) -> Result<Self, GpuError> {
        let flags = sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL;
        // SAFETY: contents are not set, and nobody takes them for anything.
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

impl Memory for DeviceMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Memory for PinnedMemory {
    fn address(&self) -> u64 {
        self.pointer.expose_provenance() as u64
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Touchable for PinnedMemory {
    fn pointer(&self) -> *mut u8 {
        self.pointer
    }
}

impl Memory for ManagedMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Touchable for ManagedMemory {
    fn pointer(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(to_usize(self.address))
    }
}

impl Moving for ManagedMemory {}

impl Memory for HostMemory {
    fn address(&self) -> u64 {
        self.pointer().expose_provenance() as u64
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Touchable for HostMemory {
    fn pointer(&self) -> *mut u8 {
        self.mapping.as_ptr().wrapping_add(self.begin).cast_mut()
    }
}

impl Moving for HostMemory {}

/// Calls that name no stream put their work into the default stream, and may return when it has begun: a copy from
/// pageable memory when its bytes have been put aside ("API synchronization behavior" of the driver's reference). Our
/// streams do not wait for that stream.
fn wait_for_default_stream() -> Result<(), GpuError> {
    result::ctx::synchronize().called("cuCtxSynchronize")
}

/// Buffers and what is in them fit the address space.
pub(crate) fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).expect("buffers fit the address space")
}
