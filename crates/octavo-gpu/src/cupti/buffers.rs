//! Buffers that CUPTI fills, and their contents.

use std::alloc::{self, Layout};
use std::sync::{Mutex, PoisonError};

/// Bytes of a buffer.
const SIZE: usize = 1 << 20;

/// A record's address must be a multiple of this (`ACTIVITY_RECORD_ALIGNMENT`).
const ALIGNMENT: usize = 8;

/// Layout of every buffer.
const LAYOUT: Layout = match Layout::from_size_align(SIZE, ALIGNMENT) {
    Ok(layout) => layout,
    Err(_) => panic!("a megabyte at a multiple of eight"),
};

/// The valid bytes of each buffer, in the order in which they came back. CUPTI calls from threads of its own.
static FILLED: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// CUPTI wants a buffer. If the host has no memory, CUPTI gets none, and counts what it drops.
pub(super) unsafe extern "C" fn requested(buffer: *mut *mut u8, size: *mut usize, most_records: *mut usize) {
    // SAFETY: the layout is not empty.
    let memory = unsafe { alloc::alloc_zeroed(LAYOUT) };
    // SAFETY: CUPTI gives three places to write to.
    unsafe {
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
    _size: usize,
    valid: usize,
) {
    if buffer.is_null() {
        return;
    }
    if valid > 0 {
        // SAFETY: `requested` allocated the buffer, with zeros, and gives it away for good.
        let records = unsafe { std::slice::from_raw_parts(buffer, valid.min(SIZE)) }.to_vec();
        FILLED.lock().unwrap_or_else(PoisonError::into_inner).push(records);
    }
    // SAFETY: allocated by `requested` with this layout, and given back once.
    unsafe { alloc::dealloc(buffer, LAYOUT) };
}

/// Buffers that have come back since the last call.
pub(super) fn take() -> Vec<Vec<u8>> {
    std::mem::take(&mut *FILLED.lock().unwrap_or_else(PoisonError::into_inner))
}
