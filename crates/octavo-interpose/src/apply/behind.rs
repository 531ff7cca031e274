//! Allocates and frees memory of another kind with the driver's functions, for programs of the runtime, too: they do
//! not change the runtime's last error, and have the same arguments in every version.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use crate::apply::moved::Home;
use crate::apply::placement::Hint;
use crate::called::{NOWHERE, call};
use crate::hooks::named;
use crate::kind::Kind;
use crate::real::{Library, Slot};

/// `CU_DEVICE_CPU`.
const HOST: i32 = -1;
/// `CU_MEM_ADVISE_SET_READ_MOSTLY`, `_SET_PREFERRED_LOCATION` and `_SET_ACCESSED_BY`.
const READ_MOSTLY: i32 = 1;
const PREFERRED: i32 = 3;
const ACCESSED_BY: i32 = 5;
/// No device that there is.
const NO_DEVICE: i32 = -1;

static CURRENT: Slot = Slot::new(c"cuCtxGetCurrent", Library::Driver);
static PUSH: Slot = Slot::new(c"cuCtxPushCurrent_v2", Library::Driver);
static POP: Slot = Slot::new(c"cuCtxPopCurrent_v2", Library::Driver);
static DEVICE: Slot = Slot::new(c"cuCtxGetDevice", Library::Driver);
static BATCH: Slot = Slot::new(c"cuMemPrefetchBatchAsync", Library::Driver);
static DISCARD: Slot = Slot::new(c"cuMemDiscardBatchAsync", Library::Driver);
static DEVICE_OF_RUNTIME: Slot = Slot::new(c"cudaGetDevice", Library::Runtime);
/// Of the runtime, whose first call makes a context; it is no call of the program's.
static RUNTIME_FREE: &CStr = c"cudaFree";

/// A function of the driver's or the runtime's that has a hook; null if it is nowhere.
pub fn hooked(name: &str) -> *mut c_void {
    named(name).map_or(null_mut(), |hook| hook.slot.real(hook.hook))
}

/// Makes the runtime have a context, as its own allocation would have done. Gives the status.
pub fn ready_runtime() -> i32 {
    let name = RUNTIME_FREE.to_str().unwrap_or_default();
    call!(hooked(name), (*mut c_void), null_mut())
}

/// The device that the runtime uses in this thread.
pub fn device_of_runtime() -> i32 {
    let mut device = NO_DEVICE;
    call!(DEVICE_OF_RUNTIME.real(std::ptr::null()), (*mut i32), &raw mut device);
    device
}

/// How this thread allocates memory.
pub fn home() -> Home {
    let mut device = NO_DEVICE;
    call!(DEVICE.real(std::ptr::null()), (*mut i32), &raw mut device);
    Home { context: context() as usize, device }
}

/// The context of this thread.
fn context() -> *mut c_void {
    let mut context = null_mut();
    call!(CURRENT.real(std::ptr::null()), (*mut *mut c_void), &raw mut context);
    context
}

/// Allocates memory of a kind. Gives the status, and null unless it is 0.
pub fn allocate(kind: Kind, bytes: usize, flags: u32) -> (i32, *mut c_void) {
    let mut made = null_mut();
    let out = &raw mut made;
    type Out = *mut *mut c_void;
    let status = match kind {
        Kind::Device => call!(hooked("cuMemAlloc_v2"), (Out, usize), out, bytes),
        Kind::Managed => call!(hooked("cuMemAllocManaged"), (Out, usize, u32), out, bytes, flags),
        Kind::Pinned => call!(hooked("cuMemAllocHost_v2"), (Out, usize), out, bytes),
    };
    if status == 0 && made.is_null() { (NOWHERE, made) } else { (status, made) }
}

/// Frees memory of a kind in the context where it was made, from any thread. Returns the status: unless it is 0, the
/// memory is still there.
pub fn free(kind: Kind, home: Home, pointer: *mut c_void) -> i32 {
    if home.context == 0 || home.context == context() as usize {
        return free_here(kind, pointer);
    }
    let status = call!(PUSH.real(std::ptr::null()), (*mut c_void), home.context as *mut c_void);
    if status != 0 {
        return status;
    }
    let status = free_here(kind, pointer);
    let mut own = null_mut();
    call!(POP.real(std::ptr::null()), (*mut *mut c_void), &raw mut own);
    status
}

/// Frees pinned memory only after its users have finished. The program may rely on that, but the driver's call for host
/// memory does not promise it.
fn free_here(kind: Kind, pointer: *mut c_void) -> i32 {
    if kind != Kind::Pinned {
        return call!(hooked("cuMemFree_v2"), (*mut c_void), pointer);
    }
    match call!(hooked("cuCtxSynchronize"), (),) {
        0 => call!(hooked("cuMemFreeHost"), (*mut c_void), pointer),
        status => status,
    }
}

/// Tells the driver about managed memory. Gives the status.
pub fn tell(hint: Hint, pointer: *mut c_void, bytes: usize) -> i32 {
    let mut device = 0;
    let status = call!(DEVICE.real(std::ptr::null()), (*mut i32), &raw mut device);
    if status != 0 {
        return status;
    }
    let advise = |advice: i32, place: i32| {
        call!(hooked("cuMemAdvise"), (*mut c_void, usize, i32, i32), pointer, bytes, advice, place)
    };
    match hint {
        Hint::PreferDevice => advise(PREFERRED, device),
        Hint::PreferHost => advise(PREFERRED, HOST),
        Hint::AccessedByDevice => advise(ACCESSED_BY, device),
        Hint::ReadMostly => advise(READ_MOSTLY, device),
        Hint::Prefetch => move_to(device, &[(pointer as u64, bytes as u64)], null_mut()),
    }
}

/// Where memory goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the device of this thread.
    Device,
    /// To the host.
    Host,
}

/// Moves managed memory, in a stream. Gives the status.
pub fn bring(way: Way, pieces: &[(u64, u64)], stream: *mut c_void) -> i32 {
    let mut device = HOST;
    if way == Way::Device {
        let status = call!(DEVICE.real(std::ptr::null()), (*mut i32), &raw mut device);
        if status != 0 {
            return status;
        }
    }
    move_to(device, pieces, stream)
}

/// `CUmemLocation`: a sort of place, and its number.
fn location(device: i32) -> u64 {
    const OF_DEVICE: u64 = 1;
    const OF_HOST: u64 = 2;
    if device == HOST { OF_HOST } else { OF_DEVICE | u64::from(device as u32) << 32 }
}

/// In one call where the driver has that (CUDA 13), which it does not do in the default stream.
fn move_to(device: i32, pieces: &[(u64, u64)], stream: *mut c_void) -> i32 {
    let batch = if pieces.len() > 1 && !stream.is_null() { BATCH.real(std::ptr::null()) } else { null_mut() };
    if batch.is_null() {
        return pieces
            .iter()
            .map(|(begin, bytes)| move_one(device, *begin, *bytes, stream))
            .find(|status| *status != 0)
            .unwrap_or(0);
    }
    let (begins, bytes) = columns(pieces);
    let (place, first) = (location(device), 0_usize);
    type Sizes = *const u64;
    call!(
        batch,
        (Sizes, Sizes, usize, *const u64, *const usize, usize, u64, *mut c_void),
        begins.as_ptr(),
        bytes.as_ptr(),
        pieces.len().min(MOST),
        &raw const place,
        &raw const first,
        1,
        0,
        stream
    )
}

/// Pieces that one call is about, at most.
pub const MOST: usize = 16;

fn columns(pieces: &[(u64, u64)]) -> ([u64; MOST], [u64; MOST]) {
    let (mut begins, mut bytes) = ([0; MOST], [0; MOST]);
    for (number, piece) in pieces.iter().take(MOST).enumerate() {
        (begins[number], bytes[number]) = *piece;
    }
    (begins, bytes)
}

/// By the function of all drivers, or else by that of CUDA 12.2 and later.
fn move_one(device: i32, begin: u64, bytes: u64, stream: *mut c_void) -> i32 {
    let old = hooked("cuMemPrefetchAsync");
    if !old.is_null() {
        return call!(old, (u64, u64, i32, *mut c_void), begin, bytes, device, stream);
    }
    let new = hooked("cuMemPrefetchAsync_v2");
    call!(new, (u64, u64, u64, u32, *mut c_void), begin, bytes, location(device), 0, stream)
}

/// Says that what is in memory is needed no more, where the driver can be told (CUDA 13, not in the default stream).
pub fn discard(begin: u64, bytes: u64, stream: *mut c_void) -> i32 {
    if stream.is_null() {
        return NOWHERE;
    }
    call!(
        DISCARD.real(std::ptr::null()),
        (*const u64, *const u64, usize, u64, *mut c_void),
        &raw const begin,
        &raw const bytes,
        1,
        0,
        stream
    )
}
