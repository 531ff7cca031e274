//! Of the CUDA driver.

#![allow(non_snake_case, unused_braces, reason = "the names are CUDA's, the braces those of the list")]

use std::ffi::{c_char, c_void};

use super::hooks;
use crate::lookup::replace;
use crate::recorder::{Kind, advised, allocated, copied, filled, freed, launched, prefetched};

type Out = *mut *mut c_void;
type Stream = *mut c_void;
/// `CUdeviceptr`, which is an address.
type Address = *mut c_void;

/// The beginning of `CUlaunchConfig`: the grid, and the block.
type Config = [[u32; 3]; 2];

fn product(sizes: &[u32]) -> u64 {
    sizes.iter().fold(1, |product: u64, size| product.saturating_mul(u64::from(*size)))
}

hooks! { Driver;
    [cuGetProcAddress](symbol: *const c_char, function: Out, version: i32, flags: u64) always {
        replace(symbol, function, version, flags)
    }
    [cuGetProcAddress_v2](symbol: *const c_char, function: Out, version: i32, flags: u64, found: *mut i32) always {
        replace(symbol, function, version, flags)
    }
    [cuMemAlloc_v2](out: Out, size: usize) after { allocated(Kind::Device, "cuMemAlloc", *out, size) }
    [cuMemAllocManaged](out: Out, size: usize, flags: u32) after { allocated(Kind::Managed, "cuMemAllocManaged", *out, size) }
    [cuMemAllocHost_v2](out: Out, size: usize) after { allocated(Kind::Pinned, "cuMemAllocHost", *out, size) }
    [cuMemHostAlloc](out: Out, size: usize, flags: u32) after { allocated(Kind::Pinned, "cuMemHostAlloc", *out, size) }
    [cuMemAllocPitch_v2](out: Out, pitch: *mut usize, width: usize, height: usize, element: u32) after {
        allocated(Kind::Device, "cuMemAllocPitch", *out, (*pitch).saturating_mul(height))
    }
    [cuMemAllocAsync, cuMemAllocAsync_ptsz](out: Out, size: usize, stream: Stream) after {
        allocated(Kind::Device, "cuMemAllocAsync", *out, size)
    }
    [cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz](out: Out, size: usize, pool: *mut c_void, stream: Stream) after {
        allocated(Kind::Device, "cuMemAllocFromPoolAsync", *out, size)
    }
    [cuMemFree_v2, cuMemFreeHost](pointer: Address) before { freed(pointer) }
    [cuMemFreeAsync, cuMemFreeAsync_ptsz](pointer: Address, stream: Stream) before { freed(pointer) }
    [cuMemcpy, cuMemcpy_ptds, cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds, cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds, cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds](to: Address, from: *const c_void, size: usize) after { copied(to, from, size) }
    [cuMemcpyAsync, cuMemcpyAsync_ptsz, cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz](to: Address, from: *const c_void, size: usize, stream: Stream) after {
        copied(to, from, size)
    }
    [cuMemsetD8_v2, cuMemsetD8_v2_ptds](pointer: Address, value: u8, count: usize) after { filled(pointer, count) }
    [cuMemsetD16_v2, cuMemsetD16_v2_ptds](pointer: Address, value: u16, count: usize) after {
        filled(pointer, count.saturating_mul(2))
    }
    [cuMemsetD32_v2, cuMemsetD32_v2_ptds](pointer: Address, value: u32, count: usize) after {
        filled(pointer, count.saturating_mul(4))
    }
    [cuMemsetD8Async, cuMemsetD8Async_ptsz](pointer: Address, value: u8, count: usize, stream: Stream) after {
        filled(pointer, count)
    }
    [cuMemsetD16Async, cuMemsetD16Async_ptsz](pointer: Address, value: u16, count: usize, stream: Stream) after {
        filled(pointer, count.saturating_mul(2))
    }
    [cuMemsetD32Async, cuMemsetD32Async_ptsz](pointer: Address, value: u32, count: usize, stream: Stream) after {
        filled(pointer, count.saturating_mul(4))
    }
    [cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz](pointer: Address, size: usize, device: i32, stream: Stream) after {
        prefetched(pointer, size)
    }
    [cuMemAdvise](pointer: Address, size: usize, advice: i32, device: i32) after { advised(pointer) }
    [cuLaunchKernel, cuLaunchKernel_ptsz](kernel: *const c_void, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32, stream: Stream, values: Out, extra: Out) after {
        launched(kernel, product(&[grid_x, grid_y, grid_z]), product(&[block_x, block_y, block_z]))
    }
    [cuLaunchKernelEx, cuLaunchKernelEx_ptsz](config: *const Config, kernel: *const c_void, values: Out, extra: Out) after {
        let [grid, block] = config.read();
        launched(kernel, product(&grid), product(&block))
    }
}
