//! Access and links between GPUs.

use cudarc::driver::sys::{self, CUdevice_P2PAttribute_enum as Attribute};

use crate::driver::gpu::Gpu;
use crate::error::{Called, GpuError};

/// The driver's description of two GPUs. Its library does not say which link joins them, only how links rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Whether kernels and copies of one can reach the other's memory.
    pub(crate) access: bool,
    /// Rank among the links of this machine: 0 is the fastest kind.
    pub(crate) rank: u64,
    /// Whether atomic operations reach the other's memory as such.
    pub(crate) atomics: bool,
}

impl Link {
    /// The way from one GPU to the memory of the other.
    pub(crate) fn between(source: &Gpu, target: &Gpu) -> Result<Self, GpuError> {
        let mut can = 0;
        // SAFETY: writes one int; both devices come from the driver.
        unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, source.context().device(), target.context().device()) }
            .result()
            .called("cuDeviceCanAccessPeer")?;
        Ok(Self {
            access: can != 0,
            rank: attribute(Attribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, source, target)?,
            atomics: attribute(Attribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, source, target)? != 0,
        })
    }
}

fn attribute(which: Attribute, source: &Gpu, target: &Gpu) -> Result<u64, GpuError> {
    let mut value = 0;
    // SAFETY: writes one int; both devices come from the driver.
    unsafe {
        sys::cuDeviceGetP2PAttribute(&raw mut value, which, source.context().device(), target.context().device())
    }
    .result()
    .called("cuDeviceGetP2PAttribute")?;
    Ok(u64::try_from(value).unwrap_or(0))
}

/// While it lives, one GPU reaches another's memory.
pub(crate) struct Access<'a> {
    source: &'a Gpu,
    target: &'a Gpu,
    ours: bool,
}

impl<'a> Access<'a> {
    /// Leaves the source current. Access that is already there stays when this goes.
    pub(crate) fn enable(source: &'a Gpu, target: &'a Gpu) -> Result<Self, GpuError> {
        source.make_current()?;
        // SAFETY: both contexts live as long as their GPUs.
        let ours = match unsafe { sys::cuCtxEnablePeerAccess(target.context().handle(), 0) } {
            sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => false,
            other => other.result().called("cuCtxEnablePeerAccess").map(|()| true)?,
        };
        Ok(Self { source, target, ours })
    }
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        if self.ours && self.source.make_current().is_ok() {
            // SAFETY: enabled above; the target's context is alive.
            let _ = unsafe { sys::cuCtxDisablePeerAccess(self.target.context().handle()) }.result();
        }
    }
}
