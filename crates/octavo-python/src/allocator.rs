//! Memory: who allocates it, how much each thread has, and what happens when the system has none.
#![expect(unsafe_code, reason = "allocators are unsafe, and so is talking to the system without allocating")]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use mimalloc::MiMalloc;

/// Counts what each thread allocates and frees.
///
/// A run stays on its thread, so this is the run's memory: the same bytes each time, whatever else happens.
pub struct Counting;

/// It requests huge pages from the system, where that is allowed. The tables of a node are tens of megabytes, read all
/// over: with pages of 4 KiB, a tenth of a run goes to giving memory out and to translating its addresses.
static ALLOCATOR: MiMalloc = MiMalloc;

/// The status of a process that ends because the system has no memory for it: `EX_OSERR` of `sysexits.h`.
pub const NO_MEMORY_STATUS: c_int = 71;
/// A size that cannot be meant, such as that of a vector that a damaged file announces: the caller gets an error.
/// Chosen: 1 TiB.
const ABSURD: usize = 1 << 40;
const NO_MEMORY: &[u8] =
    b"error: the system has no more memory for Octavo: `ulimit -v`, a container or the machine limits it; finished runs are \
kept, and --memory-limit below that limit says which run takes too much\n";

thread_local! {
    /// Bytes that this thread has allocated and not freed; negative if others allocated memory that it frees.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// Bytes that this thread has allocated and not freed.
pub fn held() -> isize {
    HELD.get()
}

/// Bytes of a page of this machine.
pub fn page_bytes() -> u64 {
    unsafe extern "C" {
        safe fn getpagesize() -> c_int;
    }
    getpagesize().unsigned_abs().into()
}

/// Returns memory that this thread freed to the system.
pub fn give_back() {
    unsafe extern "C" {
        fn mi_collect(force: bool);
    }
    // SAFETY: may be called at any time, by any thread.
    unsafe { mi_collect(true) };
}

// SAFETY: `MiMalloc` does all of it. Counting neither allocates nor unwinds: the cell needs no initialisation and has no
// destructor.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        counted(unsafe { ALLOCATOR.alloc(layout) }, layout.size(), 0)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        counted(unsafe { ALLOCATOR.alloc_zeroed(layout) }, layout.size(), 0)
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        counted(unsafe { ALLOCATOR.realloc(pointer, layout, size) }, size, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        // SAFETY: as the caller promises.
        unsafe { ALLOCATOR.dealloc(pointer, layout) };
    }
}

/// Counts memory that was given out in place of `before` bytes.
#[inline]
fn counted(given: *mut u8, bytes: usize, before: usize) -> *mut u8 {
    if given.is_null() {
        return refused(bytes);
    }
    HELD.set(HELD.get() + bytes.cast_signed() - before.cast_signed());
    given
}

/// Ends the process with one sentence: nothing can continue without memory, and the caller could not report it.
#[cold]
#[inline(never)]
fn refused(bytes: usize) -> *mut u8 {
    unsafe extern "C" {
        fn write(file: c_int, text: *const c_void, bytes: usize) -> isize;
        fn _exit(status: c_int) -> !;
    }
    if bytes >= ABSURD {
        return null_mut();
    }
    // SAFETY: the text has that many bytes. Neither call allocates; what is written is cut at worst.
    unsafe {
        write(2, NO_MEMORY.as_ptr().cast(), NO_MEMORY.len());
        _exit(NO_MEMORY_STATUS)
    }
}
