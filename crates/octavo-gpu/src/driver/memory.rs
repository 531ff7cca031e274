//! Bytes that copies and kernels can name, and that the processor may touch.

use std::marker::PhantomData;

use bytemuck::{AnyBitPattern, NoUninit};
use cudarc::driver::{result, sys};

use crate::driver::place::Place;
use crate::error::{Called, GpuError};

/// The granule in which the host's memory moves and faults; larger pages of a host are whole multiples.
pub const PAGE: u64 = 4096;

/// A large page, and the driver's block: allocations begin at one, so that blocks are whole.
pub const BLOCK: u64 = 2 << 20;

/// Bytes at an address that copies and kernels can name.
///
/// # Safety
/// This many bytes at the address are the buffer's own for as long as it lives.
pub(crate) unsafe trait Memory {
    /// Where it begins.
    fn address(&self) -> u64;
    /// How long it is.
    fn bytes(&self) -> u64;
}

/// Memory that the processor can touch itself.
///
/// # Safety
/// The pointer is to the bytes of [`Memory`], aligned to a page, and the processor may read and write all of them
/// while nothing of the GPU uses them.
pub(crate) unsafe trait Touchable: Memory {
    /// Where it begins.
    fn pointer(&self) -> *mut u8;

    /// The processor writes one byte of each `stride` bytes of the first `bytes`.
    fn host_writes(&self, bytes: u64, stride: u64) {
        assert!(bytes <= self.bytes(), "touches stay inside their buffer");
        for offset in (0..bytes).step_by(to_usize(stride)) {
            // SAFETY: inside the buffer; volatile, so that no touch is left out.
            unsafe { self.pointer().add(to_usize(offset)).write_volatile(offset.to_le_bytes()[0]) };
        }
    }

    /// The processor sets `bytes` bytes from `begin` on.
    fn host_fills(&self, value: u8, begin: u64, bytes: u64) {
        assert!(ends_within(self.bytes(), begin, bytes), "what is filled lies in its buffer");
        // SAFETY: inside the buffer.
        unsafe { self.pointer().add(to_usize(begin)).write_bytes(value, to_usize(bytes)) };
    }

    /// The processor reads one byte of each `stride` bytes of the first `bytes`.
    fn host_reads(&self, bytes: u64, stride: u64) {
        assert!(bytes <= self.bytes(), "touches stay inside their buffer");
        for offset in (0..bytes).step_by(to_usize(stride)) {
            // SAFETY: inside the buffer; volatile, so that no touch is left out.
            let _ = unsafe { self.pointer().add(to_usize(offset)).read_volatile() };
        }
    }
}

/// The processor writes one value, `offset` bytes behind the beginning. The write is volatile, so that no touch is left
/// out.
pub(crate) fn host_puts<T: NoUninit>(memory: &dyn Touchable, offset: u64, value: T) {
    check::<T>(memory.bytes(), offset);
    // SAFETY: inside the buffer and aligned.
    unsafe { memory.pointer().add(to_usize(offset)).cast::<T>().write_volatile(value) };
}

/// A buffer that threads read together.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    begin: usize,
    bytes: u64,
    memory: PhantomData<&'a ()>,
}

impl<'a> View<'a> {
    /// All of a buffer.
    pub(crate) fn of(memory: &'a dyn Touchable) -> Self {
        Self { begin: memory.pointer().expose_provenance(), bytes: memory.bytes(), memory: PhantomData }
    }

    /// The processor reads one value, `offset` bytes behind the beginning. The read is volatile, as the GPU may have
    /// written it, and so that no touch is left out.
    pub(crate) fn get<T: AnyBitPattern>(self, offset: u64) -> T {
        check::<T>(self.bytes, offset);
        let begin: *const u8 = std::ptr::with_exposed_provenance(self.begin);
        // SAFETY: inside the buffer and aligned, and every pattern of bits is a value.
        unsafe { begin.add(to_usize(offset)).cast::<T>().read_volatile() }
    }
}

fn check<T>(bytes: u64, offset: u64) {
    assert!(ends_within(bytes, offset, size_of::<T>() as u64), "touches stay inside their buffer");
    assert!(to_usize(offset).is_multiple_of(align_of::<T>()), "touches are aligned");
}

/// Whether this many bytes from `begin` on lie in a buffer of `size`.
pub(crate) fn ends_within(size: u64, begin: u64, bytes: u64) -> bool {
    begin.checked_add(bytes).is_some_and(|end| end <= size)
}

/// Memory that both sides touch, and that the driver may move.
pub(crate) trait Moving: Touchable {
    /// Tells the driver what to expect for the whole allocation.
    ///
    /// # Errors
    /// The driver refuses: system memory may be nothing it can move.
    fn advise(&self, advice: sys::CUmem_advise, place: Place) -> Result<(), GpuError> {
        // SAFETY: the whole of one allocation.
        unsafe { result::mem_advise(self.address(), to_usize(self.bytes()), advice, place.location()) }
            .called("cuMemAdvise")
    }
}

/// Buffers and what is in them fit the address space.
pub(crate) fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).expect("buffers fit the address space")
}

#[cfg(test)]
mod tests {
    use super::{View, ends_within, host_puts};
    use crate::driver::buffers::HostMemory;

    #[test]
    fn what_the_processor_writes_it_reads_again() {
        let memory = HostMemory::new(8192, None).unwrap();
        host_puts(&memory, 8184, 0x0123_4567_89ab_cdef_u64);
        assert_eq!(View::of(&memory).get::<u64>(8184), 0x0123_4567_89ab_cdef);
        assert_eq!(View::of(&memory).get::<u32>(4096), 0);
    }

    #[test]
    #[should_panic(expected = "touches stay inside their buffer")]
    fn a_value_that_ends_outside_is_not_written() {
        host_puts(&HostMemory::new(4096, None).unwrap(), 4092, 0_u64);
    }

    #[test]
    #[should_panic(expected = "touches stay inside their buffer")]
    fn a_value_that_ends_outside_is_not_read() {
        View::of(&HostMemory::new(4096, None).unwrap()).get::<u8>(4096);
    }

    #[test]
    #[should_panic(expected = "touches are aligned")]
    fn a_value_between_two_places_is_not_read() {
        View::of(&HostMemory::new(4096, None).unwrap()).get::<u32>(2);
    }

    #[test]
    fn ends_beyond_every_address_are_outside() {
        assert!(ends_within(16, 8, 8));
        assert!(!ends_within(16, 8, 9));
        assert!(!ends_within(u64::MAX, u64::MAX, 1));
    }
}
