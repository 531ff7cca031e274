//! Hooks of the CUDA driver.

#![allow(non_snake_case, unused_braces, reason = "the names are CUDA's, the braces those of the list")]

use std::ffi::{c_char, c_void};

use super::{allocated, device_address, fill, hooks, per_thread};
use crate::apply::{self, Asked, GLOBAL, copies, hint, is_moved, pass_on};
use crate::around::{launch, wait};
use crate::kind::Kind;
use crate::launch::{Launch, Shape, Wait, found};
use crate::recorder::{advised, copied, filled, freed, graph_launched, prefetched};

type Out = *mut *mut c_void;
type Stream = *mut c_void;
/// `CUdeviceptr`, which is an address.
type Address = *mut c_void;

/// The beginning of `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: Stream,
}

fn of(kernel: *const c_void, grid: [u32; 3], block: [u32; 3], stream: Stream, values: Out, extra: Out) -> Launch {
    let shape = Shape { kernel: kernel as usize, blocks: product(&grid), threads: product(&block) };
    Launch { shape, of_runtime: false, stream, values, extra }
}

fn product(sizes: &[u32]) -> u64 {
    sizes.iter().fold(1, |product: u64, size| product.saturating_mul(u64::from(*size)))
}

type Copy = unsafe extern "C-unwind" fn(Address, *const c_void, usize) -> i32;
type CopyAsync = unsafe extern "C-unwind" fn(Address, *const c_void, usize, Stream) -> i32;
/// Finds the function behind a hook.
type Behind = fn() -> *mut c_void;

/// The function that copies from wherever to wherever, if the direction of a copy no longer fits.
fn any_direction(to: Address, from: *const c_void, any: Behind) -> *mut c_void {
    if is_moved(to, from) { any() } else { std::ptr::null_mut() }
}

unsafe fn copy(to: Address, from: *const c_void, size: usize, any: Behind, real: Copy) -> i32 {
    let any = any_direction(to, from, any);
    // SAFETY: null or a function that copies, with these arguments.
    let copy = unsafe { std::mem::transmute::<*mut c_void, Option<Copy>>(any) }.unwrap_or(real);
    // SAFETY: the arguments are the caller's.
    unsafe { copy(to, from, size) }
}

unsafe fn copy_async(
    to: Address,
    from: *const c_void,
    size: usize,
    stream: Stream,
    any: Behind,
    real: CopyAsync,
) -> i32 {
    let any = any_direction(to, from, any);
    // SAFETY: null or a function that copies, with these arguments.
    let copy = unsafe { std::mem::transmute::<*mut c_void, Option<CopyAsync>>(any) }.unwrap_or(real);
    // SAFETY: the arguments are the caller's.
    unsafe { copy(to, from, size, stream) }
}

fn asked(kind: Kind, call: &'static str, bytes: usize, flags: u32) -> Asked {
    Asked { kind, call, bytes, flags, ready }
}

/// A caller of the driver has a context, or the driver refuses the call.
fn ready() -> i32 {
    0
}

hooks! { Driver;
    [cuMemAlloc_v2](out: Out, size: usize) after { allocated(Kind::Device, "cuMemAlloc", *out, size) }
        by real { apply::allocate(asked(Kind::Device, "cuMemAlloc", size, GLOBAL), out, || real(out, size)) }
    [cuMemAllocManaged](out: Out, size: usize, flags: u32) after { allocated(Kind::Managed, "cuMemAllocManaged", *out, size) }
        by real { apply::allocate(asked(Kind::Managed, "cuMemAllocManaged", size, flags), out, || real(out, size, flags)) }
    [cuMemAllocHost_v2](out: Out, size: usize) after { allocated(Kind::Pinned, "cuMemAllocHost", *out, size) }
        by real { apply::allocate(asked(Kind::Pinned, "cuMemAllocHost", size, GLOBAL), out, || real(out, size)) }
    [cuMemHostAlloc](out: Out, size: usize, flags: u32) after { allocated(Kind::Pinned, "cuMemHostAlloc", *out, size) }
        by real { apply::allocate(asked(Kind::Pinned, "cuMemHostAlloc", size, GLOBAL), out, || real(out, size, flags)) }
    [cuMemAllocPitch_v2](out: Out, pitch: *mut usize, width: usize, height: usize, element: u32) after {
        allocated(Kind::Device, "cuMemAllocPitch", *out, (*pitch).saturating_mul(height))
    } by real { pass_on("cuMemAllocPitch", out, || (*pitch).saturating_mul(height), || real(out, pitch, width, height, element)) }
    [cuMemAllocAsync, cuMemAllocAsync_ptsz](out: Out, size: usize, stream: Stream) after {
        allocated(Kind::Device, "cuMemAllocAsync", *out, size)
    } by real { pass_on("cuMemAllocAsync", out, || size, || real(out, size, stream)) }
    [cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz](out: Out, size: usize, pool: *mut c_void, stream: Stream) after {
        allocated(Kind::Device, "cuMemAllocFromPoolAsync", *out, size)
    } by real { pass_on("cuMemAllocFromPoolAsync", out, || size, || real(out, size, pool, stream)) }
    [cuMemFree_v2, cuMemFreeHost](pointer: Address) before { freed(pointer) }
        by real { apply::free(pointer, ready, || real(pointer)) }
    [cuMemFreeAsync, cuMemFreeAsync_ptsz](pointer: Address, stream: Stream) before { freed(pointer) }
        by real { apply::free(pointer, ready, || real(pointer, stream)) }
    [cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2](device: i32) after {}
        by real { apply::end(|home| home.device == device, || real(device)) }
    [cuCtxDestroy_v2](context: *mut c_void) after {}
        by real { apply::end(|home| home.context == context as usize, || real(context)) }
    [cuMemcpy](to: Address, from: *const c_void, size: usize) after { copied(to, from, size, true) }
        by real { wait(Wait::Other, || copies::by_host(to, from, size, || real(to, from, size))) }
    [cuMemcpy_ptds](to: Address, from: *const c_void, size: usize) after { copied(to, from, size, false) }
        by real { wait(Wait::Other, || real(to, from, size)) }
    [cuMemcpyHtoD_v2, cuMemcpyDtoH_v2, cuMemcpyDtoD_v2](to: Address, from: *const c_void, size: usize) after {
        copied(to, from, size, true)
    } by real { wait(Wait::Other, || copies::by_host(to, from, size, || copy(to, from, size, cuMemcpy::behind, real))) }
    [cuMemcpyHtoD_v2_ptds, cuMemcpyDtoH_v2_ptds, cuMemcpyDtoD_v2_ptds](to: Address, from: *const c_void, size: usize) after {
        copied(to, from, size, false)
    } by real { wait(Wait::Other, || copy(to, from, size, cuMemcpy_ptds::behind, real)) }
    [cuMemcpyAsync, cuMemcpyAsync_ptsz](to: Address, from: *const c_void, size: usize, stream: Stream) after {
        copied(to, from, size, false)
    }
    [cuMemcpyHtoDAsync_v2, cuMemcpyDtoHAsync_v2, cuMemcpyDtoDAsync_v2](to: Address, from: *const c_void, size: usize, stream: Stream) after {
        copied(to, from, size, false)
    } by real { copy_async(to, from, size, stream, cuMemcpyAsync::behind, real) }
    [cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoDAsync_v2_ptsz](to: Address, from: *const c_void, size: usize, stream: Stream) after {
        copied(to, from, size, false)
    } by real { copy_async(to, from, size, stream, cuMemcpyAsync_ptsz::behind, real) }
    [cuMemsetD8_v2, cuMemsetD8_v2_ptds](pointer: Address, value: u8, count: usize) after { filled(pointer, count) }
    [cuMemsetD16_v2, cuMemsetD16_v2_ptds](pointer: Address, value: u16, count: usize) after {
        filled(pointer, count.saturating_mul(2))
    }
    [cuMemsetD32_v2, cuMemsetD32_v2_ptds](pointer: Address, value: u32, count: usize) after {
        filled(pointer, count.saturating_mul(4))
    }
    [cuMemsetD8Async, cuMemsetD8Async_ptsz](pointer: Address, value: u8, count: usize, stream: Stream) after {
        filled(pointer, count)
    } by real { fill(pointer, count, stream, || real(pointer, value, count, stream)) }
    [cuMemsetD16Async, cuMemsetD16Async_ptsz](pointer: Address, value: u16, count: usize, stream: Stream) after {
        filled(pointer, count.saturating_mul(2))
    } by real { fill(pointer, count.saturating_mul(2), stream, || real(pointer, value, count, stream)) }
    [cuMemsetD32Async, cuMemsetD32Async_ptsz](pointer: Address, value: u32, count: usize, stream: Stream) after {
        filled(pointer, count.saturating_mul(4))
    } by real { fill(pointer, count.saturating_mul(4), stream, || real(pointer, value, count, stream)) }
    [cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz](pointer: Address, size: usize, device: i32, stream: Stream) after {
        prefetched(pointer, size)
    } by real { hint(pointer, || real(pointer, size, device, stream)) }
    [cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz](pointer: Address, size: usize, place: u64, flags: u32, stream: Stream) after {
        prefetched(pointer, size)
    } by real { hint(pointer, || real(pointer, size, place, flags, stream)) }
    [cuMemAdvise](pointer: Address, size: usize, advice: i32, device: i32) after { advised(pointer) }
        by real { hint(pointer, || real(pointer, size, advice, device)) }
    [cuMemAdvise_v2](pointer: Address, size: usize, advice: i32, place: u64) after { advised(pointer) }
        by real { hint(pointer, || real(pointer, size, advice, place)) }
    [cuMemHostGetDevicePointer_v2](out: Out, pointer: *mut c_void, flags: u32) after {}
        by real { device_address(out, pointer, || real(out, pointer, flags)) }
    [cuLaunchKernel](kernel: *const c_void, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32, stream: Stream, values: Out, extra: Out) after {} by real {
        launch(
            of(kernel, [grid_x, grid_y, grid_z], [block_x, block_y, block_z], stream, values, extra),
            || real(kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, values, extra),
        )
    }
    [cuLaunchKernel_ptsz](kernel: *const c_void, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32, stream: Stream, values: Out, extra: Out) after {} by real {
        launch(
            of(kernel, [grid_x, grid_y, grid_z], [block_x, block_y, block_z], per_thread(stream), values, extra),
            || real(kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, values, extra),
        )
    }
    [cuLaunchCooperativeKernel](kernel: *const c_void, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32, stream: Stream, values: Out) after {} by real {
        launch(
            of(kernel, [grid_x, grid_y, grid_z], [block_x, block_y, block_z], stream, values, std::ptr::null_mut()),
            || real(kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, values),
        )
    }
    [cuLaunchCooperativeKernel_ptsz](kernel: *const c_void, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32, stream: Stream, values: Out) after {} by real {
        launch(
            of(kernel, [grid_x, grid_y, grid_z], [block_x, block_y, block_z], per_thread(stream), values, std::ptr::null_mut()),
            || real(kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, values),
        )
    }
    [cuLaunchKernelEx](config: *const Config, kernel: *const c_void, values: Out, extra: Out) after {} by real {
        let Config { grid, block, stream, .. } = config.read();
        launch(of(kernel, grid, block, stream, values, extra), || real(config, kernel, values, extra))
    }
    [cuLaunchKernelEx_ptsz](config: *const Config, kernel: *const c_void, values: Out, extra: Out) after {} by real {
        let Config { grid, block, stream, .. } = config.read();
        launch(of(kernel, grid, block, per_thread(stream), values, extra), || real(config, kernel, values, extra))
    }
    [cuModuleGetFunction](out: Out, module: *mut c_void, name: *const c_char) always { found(out, name) }
    [cuLibraryGetKernel](out: Out, library: *mut c_void, name: *const c_char) always { found(out, name) }
    [cuGraphLaunch, cuGraphLaunch_ptsz](graph: *mut c_void, stream: Stream) after { graph_launched() }
    [cuCtxSynchronize]() after {} by real { wait(Wait::All, || real()) }
    [cuStreamSynchronize](stream: Stream) after {} by real { wait(Wait::Stream(stream as usize), || real(stream)) }
    [cuStreamSynchronize_ptsz](stream: Stream) after {} by real { wait(Wait::Stream(per_thread(stream) as usize), || real(stream)) }
    [cuEventSynchronize](event: *mut c_void) after {} by real { wait(Wait::Other, || real(event)) }
}
