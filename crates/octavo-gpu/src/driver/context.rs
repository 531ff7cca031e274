//! The primary context of a GPU, which calls of the driver refer to.

use cudarc::driver::{result, sys};

use crate::error::{Called, GpuError};

/// A primary context, held as long as this lives.
pub(crate) struct Context {
    handle: sys::CUcontext,
    device: sys::CUdevice,
}

impl Context {
    /// The device comes from [`super::describe::handle`].
    pub(crate) fn retain(device: sys::CUdevice) -> Result<Self, GpuError> {
        // SAFETY: the driver refuses a number that is no device; released when dropped.
        let handle = unsafe { result::primary_ctx::retain(device) }.called("cuDevicePrimaryCtxRetain")?;
        Ok(Self { handle, device })
    }

    pub(crate) fn handle(&self) -> sys::CUcontext {
        self.handle
    }

    pub(crate) fn device(&self) -> sys::CUdevice {
        self.device
    }

    /// Makes it the current context of this thread until the answer goes; then the one before is current again.
    pub(crate) fn pushed(&self) -> Result<Pushed, GpuError> {
        // SAFETY: retained as long as this lives.
        unsafe { sys::cuCtxPushCurrent_v2(self.handle) }.result().called("cuCtxPushCurrent").map(|()| Pushed(()))
    }

    /// Makes it the current context of this thread.
    pub(crate) fn make_current(&self) -> Result<(), GpuError> {
        // SAFETY: retained as long as this lives.
        unsafe { result::ctx::set_current(self.handle) }.called("cuCtxSetCurrent")
    }
}

/// A context is current that was not before.
pub(crate) struct Pushed(());

impl Drop for Pushed {
    fn drop(&mut self) {
        let mut context = std::ptr::null_mut();
        // SAFETY: writes one handle; something was pushed.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&raw mut context) }.result();
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}
