//! Copies that the host makes itself. No frame here that calls CUDA holds a lock or anything to drop.

use std::ffi::c_void;

use crate::apply::batch::Way;
use crate::apply::behind::home;
use crate::apply::hosted::{Copy, End};
use crate::apply::placement::Hint;
use crate::apply::state::Applied;
use crate::calls::call;
use crate::events::beside_captures;
use crate::real::{Library, Slot};

static ATTRIBUTE: Slot = Slot::new(c"cuPointerGetAttribute", Library::Driver);

/// A copy for which the host waits, and which it makes itself if it can.
///
/// # Safety
/// The program gives the memory for the copy; `real` makes it.
pub unsafe fn by_host(to: *mut c_void, from: *const c_void, size: usize, real: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the caller says so.
    if unsafe { stored(to, from, size) } { 0 } else { real() }
}

unsafe fn stored(to: *mut c_void, from: *const c_void, size: usize) -> bool {
    let Some(applied) = Applied::current().filter(|applied| size > 0 && applied.moves().is_some()) else {
        return false;
    };
    let copy = applied.told(|known| known.movables.hosted.copy(to, from, size)).flatten();
    let Some(copy) = copy else { return false };
    if !beside_captures(|| is_reached(&copy) && applied.behind.wait_as_copies_do() == 0) {
        return false;
    }
    // SAFETY: both ends lie in memory that the host reaches, and the program gives it for the copy.
    unsafe { libc::memmove(to, from, size) };
    applied.told(|known| known.movables.trial.log.stored(copy.buffer, size as u64));
    true
}

/// Whether the host reaches both ends of a copy, which this thread's context would make.
fn is_reached(copy: &Copy) -> bool {
    let reaches = |end: &End| if end.hosted { is_managed(end.pointer) } else { is_of_host(end.pointer) };
    copy.home == home() && copy.ends.iter().all(reaches)
}

/// What the driver says of an address: the status, and the value.
fn attribute(number: i32, pointer: *const c_void) -> (i32, u32) {
    let mut value = 0_u32;
    let out = (&raw mut value).cast::<c_void>();
    let status = call!(ATTRIBUTE.real(std::ptr::null()), (*mut c_void, i32, *const c_void), out, number, pointer);
    (status, value)
}

/// Whether managed memory still lies there: it may have ended with its context by a call without a hook.
fn is_managed(pointer: *const c_void) -> bool {
    /// `CU_POINTER_ATTRIBUTE_IS_MANAGED`.
    const MANAGED: i32 = 8;
    let (status, managed) = attribute(MANAGED, pointer);
    status == 0 && managed != 0
}

/// Whether the driver takes an address for ordinary memory of the host, or for pinned.
fn is_of_host(pointer: *const c_void) -> bool {
    /// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`, and `CU_MEMORYTYPE_HOST`.
    const KIND: i32 = 2;
    const HOST: u32 = 1;
    /// `CUDA_ERROR_INVALID_VALUE`: it knows of no such memory.
    const UNKNOWN: i32 = 1;
    let (status, kind) = attribute(KIND, pointer);
    !pointer.is_null() && (status == UNKNOWN || (status == 0 && kind == HOST))
}

/// A launch is about to begin in a stream: what did not help goes to the device, where it stays.
pub fn launching(applied: &'static Applied, stream: *mut c_void) {
    let told = applied.told(|known| known.movables.trial.hosted.withdrawn && known.movables.hosted.is_there());
    if told != Some(true) {
        return;
    }
    let home = home();
    let Some(mut batch) = applied.told(|known| known.movables.hosted.withdrawn(home)) else { return };
    for (begin, bytes) in batch.each() {
        applied.behind.tell(Hint::PreferDevice, begin.cast_mut(), bytes);
    }
    batch.stream = stream as usize;
    if !batch.is_empty() && batch.bring(Way::Device) != 0 {
        applied.told(|known| known.movables.trial.log.refused());
    }
}
