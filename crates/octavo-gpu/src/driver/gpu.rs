//! A GPU that is in use.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use cudarc::driver::{result, sys};

use crate::driver::architecture::Architecture;
use crate::driver::buffers::{DeviceMemory, HostMemory, ManagedMemory, PinnedMemory};
use crate::driver::code::Kernels;
use crate::driver::context::Context;
use crate::driver::describe::{self, Description};
use crate::driver::event::Stopwatch;
use crate::driver::kernel::Module;
use crate::driver::memory::Memory;
use crate::driver::source::Source;
use crate::driver::stream::Stream;
use crate::error::{Called, GpuError};

/// A GPU with its primary context, current on the thread that opened it; all calls stay on that thread.
pub struct Gpu {
    /// The driver's description of it.
    pub description: Description,
    kernels: &'static dyn Kernels,
    managed_limit: u64,
    managed: Rc<Cell<u64>>,
    modules: RefCell<BTreeMap<&'static str, Rc<Module>>>,
    /// Last, as fields go in order: modules are unloaded from a context that is still there.
    context: Context,
}

impl Gpu {
    /// The GPU of that number, for which kernels come from there.
    ///
    /// # Errors
    /// No driver, no such GPU, or the driver refuses a context.
    pub fn open(index: usize, kernels: &'static dyn Kernels) -> Result<Self, GpuError> {
        let mut found = describe::describe()?;
        if index >= found.len() {
            return Err(GpuError::UnknownGpu { asked: index, found: found.len() });
        }
        let description = found.swap_remove(index);
        let context = Context::retain(describe::handle(index)?)?;
        let mut gpu = Self {
            description,
            kernels,
            managed_limit: 0,
            managed: Rc::default(),
            modules: RefCell::default(),
            context,
        };
        gpu.make_current()?;
        gpu.managed_limit = gpu.free_memory()? / 4;
        Ok(gpu)
    }

    /// The number of multiprocessors.
    pub(crate) fn multiprocessors(&self) -> u32 {
        u32::try_from(self.description.number("multiprocessors")).unwrap_or(1).max(1)
    }

    /// Warps that a multiprocessor holds at most.
    pub(crate) fn warps_per_multiprocessor(&self) -> u32 {
        let warps = self.description.number("threads_per_multiprocessor") / self.description.number("warp_size").max(1);
        u32::try_from(warps).unwrap_or(1).max(1)
    }

    /// Bytes of the second-level cache, rounded up to a power of two: sizes far beyond every cache, or well within, are
    /// multiples of it.
    pub(crate) fn l2(&self) -> u64 {
        self.description.number("l2_bytes").max(1 << 20).next_power_of_two()
    }

    /// Bytes of memory that nothing uses.
    ///
    /// # Errors
    /// The driver fails.
    pub fn free_memory(&self) -> Result<u64, GpuError> {
        Ok(result::mem_get_info().called("cuMemGetInfo")?.0 as u64)
    }

    /// Bytes that all managed allocations together may use: a quarter of the memory that was free at first.
    #[must_use]
    pub fn managed_limit(&self) -> u64 {
        self.managed_limit
    }

    /// Memory of the GPU.
    ///
    /// # Errors
    /// The GPU has too little.
    pub fn device_memory(&self, bytes: u64) -> Result<DeviceMemory, GpuError> {
        DeviceMemory::new(bytes)
    }

    /// Memory of the host that stays where it is, seen by the GPU at the same address.
    ///
    /// # Errors
    /// The host has too little.
    pub fn pinned_memory(&self, bytes: u64) -> Result<PinnedMemory, GpuError> {
        PinnedMemory::new(bytes)
    }

    /// Managed memory, resident nowhere yet.
    ///
    /// # Errors
    /// More than [`Self::managed_limit`] in all, or the driver refuses.
    pub fn managed_memory(&self, bytes: u64) -> Result<ManagedMemory, GpuError> {
        let asked = self.managed.get() + bytes;
        if asked > self.managed_limit {
            return Err(GpuError::TooMuchManaged { asked, free: 4 * self.managed_limit });
        }
        ManagedMemory::new(bytes, Rc::clone(&self.managed))
    }

    /// Memory of the system's own allocator, mapped and not touched. Counts as managed: where it moves, it moves in the
    /// same way.
    ///
    /// # Errors
    /// More than [`Self::managed_limit`] in all, or the host refuses.
    pub fn system_memory(&self, bytes: u64) -> Result<HostMemory, GpuError> {
        let asked = self.managed.get() + bytes;
        if asked > self.managed_limit {
            return Err(GpuError::TooMuchManaged { asked, free: 4 * self.managed_limit });
        }
        HostMemory::new(bytes, Some(Rc::clone(&self.managed)))
    }

    /// Memory of the host that the GPU does not touch itself: the source and destination of copies.
    ///
    /// # Errors
    /// The host refuses.
    pub fn pageable_memory(&self, bytes: u64) -> Result<HostMemory, GpuError> {
        HostMemory::new(bytes, None)
    }

    /// The kernels of a source, loaded once for this GPU.
    ///
    /// # Errors
    /// No compiler, or source that does not compile.
    pub fn module(&self, source: &Source) -> Result<Rc<Module>, GpuError> {
        if let Some(known) = self.modules.borrow().get(source.name) {
            return Ok(Rc::clone(known));
        }
        let code = self.kernels.code(source, Architecture { capability: self.description.capability })?;
        let module = Rc::new(Module::load(source, &code)?);
        self.modules.borrow_mut().insert(source.name, Rc::clone(&module));
        Ok(module)
    }

    /// A separate stream.
    ///
    /// # Errors
    /// The driver fails.
    pub fn stream(&self) -> Result<Stream, GpuError> {
        Stream::new()
    }

    /// Measures the time between two points of a stream with the GPU's clock (resolution about half a microsecond). Any
    /// source contains the kernel that it needs.
    ///
    /// # Errors
    /// The driver fails, or the source does not compile.
    pub fn stopwatch(&self, source: &Source) -> Result<Stopwatch, GpuError> {
        Stopwatch::new(self.module(source)?.kernel("hold")?)
    }

    /// Waits until the GPU has nothing to do; errors of kernels show here.
    ///
    /// # Errors
    /// What a kernel before has failed with.
    pub fn wait(&self) -> Result<(), GpuError> {
        result::ctx::synchronize().called("cuCtxSynchronize")
    }

    /// Copies the first `bytes` of one buffer to another, in one call that returns when it is done.
    pub(crate) fn copy(&self, to: &dyn Memory, from: &dyn Memory, bytes: u64) -> Result<(), GpuError> {
        assert!(bytes <= to.bytes() && bytes <= from.bytes(), "a copy stays inside its buffers");
        let bytes = usize::try_from(bytes).expect("buffers fit the address space");
        // SAFETY: both buffers hold that many bytes.
        unsafe { sys::cuMemcpy(to.address(), from.address(), bytes) }.result().called("cuMemcpy")
    }

    /// Where its kernels come from.
    pub(crate) fn kernels(&self) -> &'static dyn Kernels {
        self.kernels
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Makes this GPU the current one, where several are open.
    ///
    /// # Errors
    /// The driver fails.
    pub fn make_current(&self) -> Result<(), GpuError> {
        self.context.make_current()
    }
}
