//! Pieces of managed memory that move together, by the driver's functions of whatever version.

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::calls::{NOWHERE, call};
use crate::real::{Library, Slot};

/// Pieces that one call is about, at most; our choice: few launches use more buffers.
pub const MOST: usize = 16;
/// `CU_DEVICE_CPU`.
pub const HOST: i32 = -1;

static DEVICE: Slot = Slot::new(c"cuCtxGetDevice", Library::Driver);
static PREFETCH: Slot = Slot::new(c"cuMemPrefetchAsync", Library::Driver);
static PREFETCH_TO_PLACE: Slot = Slot::new(c"cuMemPrefetchAsync_v2", Library::Driver);
static PREFETCH_BATCH: Slot = Slot::new(c"cuMemPrefetchBatchAsync", Library::Driver);
static DISCARD_BATCH: Slot = Slot::new(c"cuMemDiscardBatchAsync", Library::Driver);

/// The device of this thread's context, or the status that says why there is none.
pub fn current_device() -> Result<i32, i32> {
    let mut device = HOST;
    match call!(DEVICE.real(std::ptr::null()), (*mut i32), &raw mut device) {
        0 => Ok(device),
        status => Err(status),
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

/// Pieces that go the same way in a stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Batch {
    begins: [u64; MOST],
    bytes: [u64; MOST],
    count: usize,
    /// The stream's address.
    pub stream: usize,
}

impl Batch {
    /// One piece.
    pub fn of(begin: u64, bytes: u64, stream: *mut c_void) -> Self {
        let mut batch = Self { stream: stream as usize, ..Self::default() };
        batch.add(begin, bytes);
        batch
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether there is no room in it.
    pub fn is_full(&self) -> bool {
        self.count == MOST
    }

    /// One more piece, if there is room.
    pub fn add(&mut self, begin: u64, bytes: u64) {
        if !self.is_full() {
            (self.begins[self.count], self.bytes[self.count]) = (begin, bytes);
            self.count += 1;
        }
    }

    /// Its pieces: begin and bytes.
    pub fn each(&self) -> impl Iterator<Item = (*const c_void, usize)> + use<> {
        let Self { begins, bytes, count, .. } = *self;
        (0..count).map(move |number| (begins[number] as *const c_void, bytes[number] as usize))
    }

    fn stream(&self) -> *mut c_void {
        self.stream as *mut c_void
    }

    /// Moves it: in one call where the driver has that (CUDA 13), which it does not do in the default stream. Gives the
    /// status.
    pub fn bring(&self, way: Way) -> i32 {
        let place = match way {
            Way::Device => current_device(),
            Way::Host => Ok(HOST),
        };
        let device = match place {
            Ok(device) => device,
            Err(status) => return status,
        };
        let together = self.count > 1 && self.stream != 0;
        let batch = if together { PREFETCH_BATCH.real(std::ptr::null()) } else { null_mut() };
        if batch.is_null() {
            let each = (0..self.count).map(|number| self.bring_one(number, device));
            return each.reduce(|first, next| if first == 0 { next } else { first }).unwrap_or(0);
        }
        let (place, first) = (location(device), 0_usize);
        type Column = *const u64;
        call!(
            batch,
            (Column, Column, usize, Column, *const usize, usize, u64, *mut c_void),
            self.begins.as_ptr(),
            self.bytes.as_ptr(),
            self.count,
            &raw const place,
            &raw const first,
            1,
            0,
            self.stream()
        )
    }

    /// By the function of all drivers, or by that of CUDA 12.2 and later.
    fn bring_one(&self, number: usize, device: i32) -> i32 {
        let (begin, bytes) = (self.begins[number], self.bytes[number]);
        let old = PREFETCH.real(std::ptr::null());
        if !old.is_null() {
            return call!(old, (u64, u64, i32, *mut c_void), begin, bytes, device, self.stream());
        }
        let new = PREFETCH_TO_PLACE.real(std::ptr::null());
        call!(new, (u64, u64, u64, u32, *mut c_void), begin, bytes, location(device), 0, self.stream())
    }

    /// Says that the content is no longer needed, if the driver accepts that (CUDA 13, not in the default stream).
    /// Gives the status.
    pub fn discard(&self) -> i32 {
        if self.stream == 0 {
            return NOWHERE;
        }
        call!(
            DISCARD_BATCH.real(std::ptr::null()),
            (*const u64, *const u64, usize, u64, *mut c_void),
            self.begins.as_ptr(),
            self.bytes.as_ptr(),
            self.count,
            0,
            self.stream()
        )
    }
}

/// `CUmemLocation`: a sort of place, and its number.
fn location(device: i32) -> u64 {
    const OF_DEVICE: u64 = 1;
    const OF_HOST: u64 = 2;
    if device == HOST { OF_HOST } else { OF_DEVICE | u64::from(device as u32) << 32 }
}
