//! Whether the driver exists: checked before anything else, as the binding panics without it.

use std::sync::OnceLock;

use cudarc::driver::{result, sys};

use crate::error::{Called, GpuError};

/// CUDA 12.2: the first whose driver takes a location for `cuMemAdvise_v2` and `cuMemPrefetchAsync_v2`.
const NEEDED: i32 = 12020;

/// Opens and initialises the driver; returns the newest CUDA version it knows, as `1000 * major + 10 * minor`.
pub(crate) fn driver() -> Result<i32, GpuError> {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    // SAFETY: opens the driver's library, whose constructors have no demands.
    if !PRESENT.get_or_init(|| unsafe { sys::is_culib_present() }) {
        return Err(GpuError::NoDriver);
    }
    initialise()?;
    let version = version()?;
    if version < NEEDED {
        return Err(GpuError::OldDriver { found: dotted(version), needed: dotted(NEEDED) });
    }
    Ok(version)
}

/// `12020` is `12.2`.
pub(crate) fn dotted(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// A driver without a GPU says so here.
fn initialise() -> Result<(), GpuError> {
    result::init().map_err(|error| match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => GpuError::NoGpu,
        _ => Err::<(), _>(error).called("cuInit").expect_err("it is an error"),
    })
}

fn version() -> Result<i32, GpuError> {
    let mut version = 0;
    // SAFETY: writes one int.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().called("cuDriverGetVersion")?;
    Ok(version)
}
