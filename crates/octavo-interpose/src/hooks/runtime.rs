//! Hooks of the CUDA runtime.

#![allow(non_snake_case, unused_braces, reason = "the names are CUDA's, the braces those of the list")]

use std::ffi::c_void;

use super::{allocated, device_address, fill, hooks, per_thread};
use crate::apply::{self, Asked, GLOBAL, copies, device_of_runtime, hint, is_moved, pass_on};
use crate::around::{launch, wait};
use crate::calls::call;
use crate::kind::Kind;
use crate::launch::{Launch, Shape, Wait};
use crate::recorder::{advised, copied, filled, freed, graph_launched, prefetched};

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
    shared: usize,
    stream: Stream,
}

impl Config {
    fn of(&self, kernel: *const c_void, values: Out, stream: Stream) -> Launch {
        of(kernel, self.grid, self.block, values, stream)
    }
}

fn of(kernel: *const c_void, grid: Dim3, block: Dim3, values: Out, stream: Stream) -> Launch {
    let shape = Shape { kernel: kernel as usize, blocks: grid.count(), threads: block.count() };
    Launch { shape, of_runtime: true, stream, values, extra: std::ptr::null_mut() }
}

/// `cudaMemcpyDefault`: from wherever to wherever.
const ANY_DIRECTION: i32 = 4;

fn direction(to: *const c_void, from: *const c_void, asked: i32) -> i32 {
    if is_moved(to, from) { ANY_DIRECTION } else { asked }
}

fn asked(kind: Kind, call: &'static str, bytes: usize, flags: u32) -> Asked {
    Asked { kind, call, bytes, flags, ready }
}

/// Makes the runtime have a context, as its own allocation would have done: its first call does, and this one does
/// nothing else. Gives the status.
fn ready() -> i32 {
    call!(cudaFree::behind(), (*mut c_void), std::ptr::null_mut())
}

// Arguments that a hook does not understand are passed on as registers, whatever they mean in this version of the
// runtime. In CUDA 13, `cudaMemPrefetchAsync` and `cudaMemAdvise` take a structure of eight bytes in place of a device.
hooks! { Runtime;
    [cudaMalloc](out: Out, size: usize) after { allocated(Kind::Device, "cudaMalloc", *out, size) }
        by real { apply::allocate(asked(Kind::Device, "cudaMalloc", size, GLOBAL), out, || real(out, size)) }
    [cudaMallocManaged](out: Out, size: usize, flags: u32) after { allocated(Kind::Managed, "cudaMallocManaged", *out, size) }
        by real { apply::allocate(asked(Kind::Managed, "cudaMallocManaged", size, flags), out, || real(out, size, flags)) }
    [cudaMallocHost](out: Out, size: usize) after { allocated(Kind::Pinned, "cudaMallocHost", *out, size) }
        by real { apply::allocate(asked(Kind::Pinned, "cudaMallocHost", size, GLOBAL), out, || real(out, size)) }
    [cudaHostAlloc](out: Out, size: usize, flags: u32) after { allocated(Kind::Pinned, "cudaHostAlloc", *out, size) }
        by real { apply::allocate(asked(Kind::Pinned, "cudaHostAlloc", size, GLOBAL), out, || real(out, size, flags)) }
    [cudaMallocPitch](out: Out, pitch: *mut usize, width: usize, height: usize) after {
        allocated(Kind::Device, "cudaMallocPitch", *out, (*pitch).saturating_mul(height))
    } by real { pass_on("cudaMallocPitch", out, || (*pitch).saturating_mul(height), || real(out, pitch, width, height)) }
    [cudaMallocAsync, cudaMallocAsync_ptsz](out: Out, size: usize, stream: Stream) after {
        allocated(Kind::Device, "cudaMallocAsync", *out, size)
    } by real { pass_on("cudaMallocAsync", out, || size, || real(out, size, stream)) }
    [cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz](out: Out, size: usize, pool: *mut c_void, stream: Stream) after {
        allocated(Kind::Device, "cudaMallocFromPoolAsync", *out, size)
    } by real { pass_on("cudaMallocFromPoolAsync", out, || size, || real(out, size, pool, stream)) }
    [cudaFree, cudaFreeHost](pointer: *mut c_void) before { freed(pointer) }
        by real { apply::free(pointer, ready, || real(pointer)) }
    [cudaFreeAsync, cudaFreeAsync_ptsz](pointer: *mut c_void, stream: Stream) before { freed(pointer) }
        by real { apply::free(pointer, ready, || real(pointer, stream)) }
    [cudaDeviceReset]() after {} by real {
        let device = device_of_runtime();
        apply::end(|home| home.device == device, || real())
    }
    [cudaMemcpy](to: *mut c_void, from: *const c_void, size: usize, kind: i32) after {
        copied(to, from, size, true)
    } by real {
        let direction = direction(to, from, kind);
        wait(Wait::Other, || copies::by_host(to, from, size, || real(to, from, size, direction)))
    }
    [cudaMemcpy_ptds](to: *mut c_void, from: *const c_void, size: usize, kind: i32) after {
        copied(to, from, size, false)
    } by real {
        let direction = direction(to, from, kind);
        wait(Wait::Other, || real(to, from, size, direction))
    }
    [cudaMemcpyAsync, cudaMemcpyAsync_ptsz](to: *mut c_void, from: *const c_void, size: usize, kind: i32, stream: Stream) after {
        copied(to, from, size, false)
    } by real { real(to, from, size, direction(to, from, kind), stream) }
    [cudaMemcpy2D, cudaMemcpy2D_ptds](to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: i32) after {
        copied(to, from, width.saturating_mul(height), false)
    } by real { real(to, to_pitch, from, from_pitch, width, height, direction(to, from, kind)) }
    [cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz](to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: i32, stream: Stream) after {
        copied(to, from, width.saturating_mul(height), false)
    } by real { real(to, to_pitch, from, from_pitch, width, height, direction(to, from, kind), stream) }
    [cudaMemset, cudaMemset_ptds](pointer: *mut c_void, value: i32, size: usize) after { filled(pointer, size) }
    [cudaMemsetAsync, cudaMemsetAsync_ptsz](pointer: *mut c_void, value: i32, size: usize, stream: Stream) after {
        filled(pointer, size)
    } by real { fill(pointer, size, stream, || real(pointer, value, size, stream)) }
    [cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync_v2_ptsz](pointer: *const c_void, size: usize, third: usize, fourth: usize, fifth: usize) after {
        prefetched(pointer, size)
    } by real { hint(pointer, || real(pointer, size, third, fourth, fifth)) }
    [cudaMemAdvise, cudaMemAdvise_v2](pointer: *const c_void, size: usize, advice: usize, fourth: usize) after { advised(pointer) }
        by real { hint(pointer, || real(pointer, size, advice, fourth)) }
    [cudaHostGetDevicePointer](out: Out, pointer: *mut c_void, flags: u32) after {}
        by real { device_address(out, pointer, || real(out, pointer, flags)) }
    [cudaLaunchKernel, cudaLaunchCooperativeKernel](kernel: *const c_void, grid: Dim3, block: Dim3, values: Out, shared: usize, stream: Stream) after {}
        by real { launch(of(kernel, grid, block, values, stream), || real(kernel, grid, block, values, shared, stream)) }
    [cudaLaunchKernel_ptsz, cudaLaunchCooperativeKernel_ptsz](kernel: *const c_void, grid: Dim3, block: Dim3, values: Out, shared: usize, stream: Stream) after {}
        by real { launch(of(kernel, grid, block, values, per_thread(stream)), || real(kernel, grid, block, values, shared, stream)) }
    [cudaLaunchKernelExC](config: *const Config, kernel: *const c_void, values: Out) after {}
        by real { launch((*config).of(kernel, values, (*config).stream), || real(config, kernel, values)) }
    [cudaLaunchKernelExC_ptsz](config: *const Config, kernel: *const c_void, values: Out) after {}
        by real { launch((*config).of(kernel, values, per_thread((*config).stream)), || real(config, kernel, values)) }
    [cudaGraphLaunch, cudaGraphLaunch_ptsz](graph: *mut c_void, stream: Stream) after { graph_launched() }
    [cudaDeviceSynchronize, cudaThreadSynchronize]() after {} by real { wait(Wait::All, || real()) }
    [cudaStreamSynchronize](stream: Stream) after {} by real { wait(Wait::Stream(stream as usize), || real(stream)) }
    [cudaStreamSynchronize_ptsz](stream: Stream) after {} by real { wait(Wait::Stream(per_thread(stream) as usize), || real(stream)) }
    [cudaEventSynchronize](event: *mut c_void) after {} by real { wait(Wait::Other, || real(event)) }
}
