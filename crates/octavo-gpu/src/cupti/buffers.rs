//! Buffers that CUPTI fills, and what was in them.

use std::alloc::{self, Layout};
use std::sync::{Mutex, PoisonError};

/// Bytes of a buffer.
const SIZE: usize = 1 << 20;

/// What a record's address must be a multiple of (`ACTIVITY_RECORD_ALIGNMENT`).
const ALIGNMENT: usize = 8;

/// The valid bytes of each buffer, in the order in which they came back. CUPTI calls from threads of its own.
static FILLED: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// CUPTI wants a buffer. Where the host has no memory it gets none, and counts what it drops.
pub(super) unsafe extern "C" fn requested(buffer: *mut *mut u8, size: *mut usize, most_records: *mut usize) {
    // SAFETY: the layout is not empty; CUPTI gives three places to write to.
    unsafe {
        let memory = layout(SIZE).map_or(std::ptr::null_mut(), |layout| alloc::alloc_zeroed(layout));
        *buffer = memory;
        *size = if memory.is_null() { 0 } else { SIZE };
        *most_records = 0;
    }
}

/// CUPTI gives a buffer back, of which the first `valid` bytes are records.
pub(super) unsafe extern "C" fn completed(
    _context: *mut std::ffi::c_void,
    _stream: u32,
    buffer: *mut u8,
    size: usize,
    valid: usize,
) {
    let Some(layout) = layout(size).filter(|_| !buffer.is_null()) else { return };
    if valid > 0 {
        // SAFETY: `requested` allocated the buffer, and no more than its size was written.
        let records = unsafe { std::slice::from_raw_parts(buffer, valid.min(size)) }.to_vec();
        FILLED.lock().unwrap_or_else(PoisonError::into_inner).push(records);
    }
    // SAFETY: allocated by `requested` with this layout, and given back once.
    unsafe { alloc::dealloc(buffer, layout) };
}

/// What has come back since the last call.
pub(super) fn take() -> Vec<Vec<u8>> {
    std::mem::take(&mut *FILLED.lock().unwrap_or_else(PoisonError::into_inner))
}

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size, ALIGNMENT).ok().filter(|layout| layout.size() > 0)
}
