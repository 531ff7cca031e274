//! Of the CUDA runtime.

#![allow(non_snake_case, unused_braces, reason = "the names are CUDA's, the braces those of the list")]

use std::ffi::c_void;

use super::hooks;
use crate::recorder::{Kind, advised, allocated, copied, filled, freed, launched, prefetched};

type Out = *mut *mut c_void;
type Stream = *mut c_void;

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

impl Dim3 {
    fn count(self) -> u64 {
        u64::from(self.x).saturating_mul(u64::from(self.y)).saturating_mul(u64::from(self.z))
    }
}

/// The beginning of `cudaLaunchConfig_t`.
#[repr(C)]
pub struct Config {
    grid: Dim3,
    block: Dim3,
}

// Arguments that a hook does not understand are passed on as registers, whatever the version of the runtime has there:
// in CUDA 13, `cudaMemPrefetchAsync` and `cudaMemAdvise` take a structure of eight bytes in place of a device.
hooks! { Runtime;
    [cudaMalloc](out: Out, size: usize) after { allocated(Kind::Device, "cudaMalloc", *out, size) }
    [cudaMallocManaged](out: Out, size: usize, flags: u32) after { allocated(Kind::Managed, "cudaMallocManaged", *out, size) }
    [cudaMallocHost](out: Out, size: usize) after { allocated(Kind::Pinned, "cudaMallocHost", *out, size) }
    [cudaHostAlloc](out: Out, size: usize, flags: u32) after { allocated(Kind::Pinned, "cudaHostAlloc", *out, size) }
    [cudaMallocPitch](out: Out, pitch: *mut usize, width: usize, height: usize) after {
        allocated(Kind::Device, "cudaMallocPitch", *out, (*pitch).saturating_mul(height))
    }
    [cudaMallocAsync, cudaMallocAsync_ptsz](out: Out, size: usize, stream: Stream) after {
        allocated(Kind::Device, "cudaMallocAsync", *out, size)
    }
    [cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz](out: Out, size: usize, pool: *mut c_void, stream: Stream) after {
        allocated(Kind::Device, "cudaMallocFromPoolAsync", *out, size)
    }
    [cudaFree, cudaFreeHost](pointer: *mut c_void) before { freed(pointer) }
    [cudaFreeAsync, cudaFreeAsync_ptsz](pointer: *mut c_void, stream: Stream) before { freed(pointer) }
    [cudaMemcpy, cudaMemcpy_ptds](to: *mut c_void, from: *const c_void, size: usize, kind: i32) after {
        copied(to, from, size)
    }
    [cudaMemcpyAsync, cudaMemcpyAsync_ptsz](to: *mut c_void, from: *const c_void, size: usize, kind: i32, stream: Stream) after {
        copied(to, from, size)
    }
    [cudaMemcpy2D, cudaMemcpy2D_ptds](to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: i32) after {
        copied(to, from, width.saturating_mul(height))
    }
    [cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz](to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: i32, stream: Stream) after {
        copied(to, from, width.saturating_mul(height))
    }
    [cudaMemset, cudaMemset_ptds](pointer: *mut c_void, value: i32, size: usize) after { filled(pointer, size) }
    [cudaMemsetAsync, cudaMemsetAsync_ptsz](pointer: *mut c_void, value: i32, size: usize, stream: Stream) after {
        filled(pointer, size)
    }
    [cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz](pointer: *const c_void, size: usize, third: usize, fourth: usize, fifth: usize) after {
        prefetched(pointer, size)
    }
    [cudaMemAdvise](pointer: *const c_void, size: usize, advice: usize, fourth: usize) after { advised(pointer) }
    [cudaLaunchKernel, cudaLaunchKernel_ptsz](kernel: *const c_void, grid: Dim3, block: Dim3, values: *mut *mut c_void, shared: usize, stream: Stream) after {
        launched(kernel, grid.count(), block.count())
    }
    [cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz](config: *const Config, kernel: *const c_void, values: *mut *mut c_void) after {
        launched(kernel, (*config).grid.count(), (*config).block.count())
    }
}
