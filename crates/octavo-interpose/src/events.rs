//! Events of the driver's, which tell when a stream came to a point.

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::calls::call;
use crate::real::{Library, Slot};

static MODE: Slot = Slot::new(c"cuThreadExchangeStreamCaptureMode", Library::Driver);
static CAPTURING: Slot = Slot::new(c"cuStreamIsCapturing", Library::Driver);
static CREATE: Slot = Slot::new(c"cuEventCreate", Library::Driver);
static RECORD: Slot = Slot::new(c"cuEventRecord", Library::Driver);
static QUERY: Slot = Slot::new(c"cuEventQuery", Library::Driver);
static ELAPSED: Slot = Slot::new(c"cuEventElapsedTime", Library::Driver);
static DESTROY: Slot = Slot::new(c"cuEventDestroy_v2", Library::Driver);

/// An event. It lives until it is ended explicitly, as frames that call CUDA must have nothing to drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event(usize);

/// Calls the driver in a way that disturbs no thread that records a graph: some calls would make that fail.
pub fn beside_captures<T>(work: impl FnOnce() -> T) -> T {
    /// `CU_STREAM_CAPTURE_MODE_RELAXED`.
    const RELAXED: i32 = 2;
    let mut mode = RELAXED;
    let exchange = |mode: &mut i32| call!(MODE.real(std::ptr::null()), (*mut i32), &raw mut *mode);
    let status = exchange(&mut mode);
    let done = work();
    if status == 0 {
        exchange(&mut mode);
    }
    done
}

/// Whether work for a stream is captured in a graph and runs later.
pub fn is_capturing(stream: *mut c_void) -> bool {
    /// `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT`: the default stream was used while another stream that depends on it is
    /// captured.
    const IMPLICIT: i32 = 906;
    let mut status = 0;
    let said = call!(CAPTURING.real(std::ptr::null()), (*mut c_void, *mut i32), stream, &raw mut status);
    said == IMPLICIT || (said == 0 && status != 0)
}

impl Event {
    /// The present position of a stream; none if the driver makes no event.
    pub fn of(stream: *mut c_void) -> Option<Self> {
        let mut made: *mut c_void = null_mut();
        if call!(CREATE.real(std::ptr::null()), (*mut *mut c_void, u32), &raw mut made, 0) != 0 || made.is_null() {
            return None;
        }
        if call!(RECORD.real(std::ptr::null()), (*mut c_void, *mut c_void), made, stream) == 0 {
            return Some(Self(made as usize));
        }
        Self(made as usize).end();
        None
    }

    /// Whether the stream has come there.
    pub fn is_over(self) -> bool {
        call!(QUERY.real(std::ptr::null()), (*mut c_void), self.0 as *mut c_void) == 0
    }

    /// Nanoseconds until another event, negative if that was earlier; both have happened.
    pub fn until(self, later: Self) -> Option<i64> {
        let mut ms = 0.0_f32;
        let (from, to) = (self.0 as *mut c_void, later.0 as *mut c_void);
        let status = call!(ELAPSED.real(std::ptr::null()), (*mut f32, *mut c_void, *mut c_void), &raw mut ms, from, to);
        (status == 0).then(|| (f64::from(ms) * 1e6).round() as i64)
    }

    /// It is no longer needed.
    pub fn end(self) {
        call!(DESTROY.real(std::ptr::null()), (*mut c_void), self.0 as *mut c_void);
    }
}
