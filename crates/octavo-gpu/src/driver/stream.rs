//! Work in order: copies, kernels, prefetches.

use cudarc::driver::{result, sys};

use crate::driver::context::Context;
use crate::driver::memory::Memory;
use crate::driver::place::Place;
use crate::error::{Called, GpuError};

/// A stream that does not wait for the default stream.
pub struct Stream(sys::CUstream);

impl Stream {
    pub(crate) fn new() -> Result<Self, GpuError> {
        result::stream::create(result::stream::StreamKind::NonBlocking).called("cuStreamCreate").map(Self)
    }

    pub(crate) fn handle(&self) -> sys::CUstream {
        self.0
    }

    /// Begins to copy the first `bytes` of one buffer to another; which way follows from the addresses.
    pub(crate) fn copy(&self, to: &dyn Memory, from: &dyn Memory, bytes: u64) -> Result<(), GpuError> {
        assert!(bytes <= to.bytes() && bytes <= from.bytes(), "a copy stays inside its buffers");
        let bytes = usize::try_from(bytes).expect("buffers fit the address space");
        // SAFETY: both buffers hold that many bytes, and live until the stream is waited for.
        unsafe { sys::cuMemcpyAsync(to.address(), from.address(), bytes, self.0) }.result().called("cuMemcpyAsync")
    }

    /// Begins to copy from one GPU to another, directly where one may access the other and by way of the host where
    /// not. Each buffer comes with the context of its GPU.
    pub(crate) fn copy_between(
        &self,
        (to, to_context): (&dyn Memory, &Context),
        (from, from_context): (&dyn Memory, &Context),
        bytes: u64,
    ) -> Result<(), GpuError> {
        assert!(bytes <= to.bytes() && bytes <= from.bytes(), "a copy stays inside its buffers");
        let bytes = usize::try_from(bytes).expect("buffers fit the address space");
        let (to, from) = (to.address(), from.address());
        // SAFETY: both buffers hold that many bytes, and live until the stream is waited for.
        unsafe { result::memcpy_peer_async(to_context.handle(), to, from_context.handle(), from, bytes, self.0) }
            .called("cuMemcpyPeerAsync")
    }

    /// Begins to bring the first `bytes` of managed memory to a place.
    pub(crate) fn prefetch(&self, memory: &dyn Memory, bytes: u64, place: Place) -> Result<(), GpuError> {
        assert!(bytes <= memory.bytes(), "a prefetch stays inside its buffer");
        let bytes = usize::try_from(bytes).expect("buffers fit the address space");
        // SAFETY: the buffer holds that many bytes.
        unsafe { result::mem_prefetch_async(memory.address(), bytes, place.location(), self.0) }
            .called("cuMemPrefetchAsync")
    }

    /// Waits until all of it is done.
    ///
    /// # Errors
    /// What a kernel has failed with.
    pub fn wait(&self) -> Result<(), GpuError> {
        // SAFETY: the stream is alive.
        unsafe { result::stream::synchronize(self.0) }.called("cuStreamSynchronize")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: destroyed once; what is still running is finished by the driver.
        let _ = unsafe { result::stream::destroy(self.0) };
    }
}
