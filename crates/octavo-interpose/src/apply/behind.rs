//! Allocates and frees memory of another kind with the driver's functions, for programs of the runtime, too: they do
//! not change the runtime's last error, and have the same arguments in every version.

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::apply::batch::{Batch, HOST, Way, current_device};
use crate::apply::placement::Hint;
use crate::apply::substitutes::Home;
use crate::calls::{NOWHERE, call};
use crate::events::is_capturing;
use crate::kind::Kind;
use crate::real::{Library, Slot};

/// `CU_MEM_ADVISE_SET_READ_MOSTLY`, `_SET_PREFERRED_LOCATION` and `_SET_ACCESSED_BY`.
const READ_MOSTLY: i32 = 1;
const PREFERRED: i32 = 3;
const ACCESSED_BY: i32 = 5;
/// Not the number of any device.
const NO_DEVICE: i32 = -1;

static CURRENT: Slot = Slot::new(c"cuCtxGetCurrent", Library::Driver);
static PUSH: Slot = Slot::new(c"cuCtxPushCurrent_v2", Library::Driver);
static POP: Slot = Slot::new(c"cuCtxPopCurrent_v2", Library::Driver);
static DEVICE_OF_RUNTIME: Slot = Slot::new(c"cudaGetDevice", Library::Runtime);

/// Finds the function behind the hook with a name; null if it is nowhere.
#[derive(Clone, Copy)]
pub struct Behind(pub fn(&str) -> *mut c_void);

/// The device that the runtime uses in this thread.
pub fn device_of_runtime() -> i32 {
    let mut device = NO_DEVICE;
    call!(DEVICE_OF_RUNTIME.real(std::ptr::null()), (*mut i32), &raw mut device);
    device
}

/// The context and the device in which this thread allocates memory.
pub fn home() -> Home {
    Home { context: context() as usize, device: current_device().unwrap_or(NO_DEVICE) }
}

/// The context of this thread.
fn context() -> *mut c_void {
    let mut context = null_mut();
    call!(CURRENT.real(std::ptr::null()), (*mut *mut c_void), &raw mut context);
    context
}

impl Behind {
    /// Allocates memory of a kind. Gives the status, and null unless it is 0.
    pub fn allocate(self, kind: Kind, bytes: usize, flags: u32) -> (i32, *mut c_void) {
        let mut made = null_mut();
        let out = &raw mut made;
        type Out = *mut *mut c_void;
        let status = match kind {
            Kind::Device => call!(self.0("cuMemAlloc_v2"), (Out, usize), out, bytes),
            Kind::Managed => call!(self.0("cuMemAllocManaged"), (Out, usize, u32), out, bytes, flags),
            Kind::Pinned => call!(self.0("cuMemAllocHost_v2"), (Out, usize), out, bytes),
        };
        if status == 0 && made.is_null() { (NOWHERE, made) } else { (status, made) }
    }

    /// Frees memory of a kind in the context where it was made, from any thread. Returns the status: unless it is 0,
    /// the memory is still there.
    pub fn free(self, kind: Kind, home: Home, pointer: *mut c_void) -> i32 {
        if home.context == 0 || home.context == context() as usize {
            return self.free_here(kind, pointer);
        }
        let status = call!(PUSH.real(std::ptr::null()), (*mut c_void), home.context as *mut c_void);
        if status != 0 {
            return status;
        }
        let status = self.free_here(kind, pointer);
        let mut own = null_mut();
        call!(POP.real(std::ptr::null()), (*mut *mut c_void), &raw mut own);
        status
    }

    /// Frees pinned memory only after its users have finished. The program may rely on that, but the driver's call for
    /// host memory does not promise it.
    fn free_here(self, kind: Kind, pointer: *mut c_void) -> i32 {
        if kind != Kind::Pinned {
            return call!(self.0("cuMemFree_v2"), (*mut c_void), pointer);
        }
        match self.wait() {
            0 => call!(self.0("cuMemFreeHost"), (*mut c_void), pointer),
            status => status,
        }
    }

    /// Waits for all that the context has to do. Gives the status.
    pub fn wait(self) -> i32 {
        call!(self.0("cuCtxSynchronize"), (),)
    }

    /// Waits for what a copy in the default stream waits for: that stream, and all that are not apart from it. Gives the
    /// status; the driver refuses this while it records such a stream.
    pub fn wait_as_copies_do(self) -> i32 {
        /// `CU_STREAM_LEGACY`.
        const LEGACY: *mut c_void = std::ptr::without_provenance_mut(1);
        /// `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT`.
        const IMPLICIT: i32 = 906;
        if is_capturing(LEGACY) {
            return IMPLICIT;
        }
        call!(self.0("cuStreamSynchronize"), (*mut c_void), LEGACY)
    }

    /// Tells the driver about managed memory. Gives the status.
    pub fn tell(self, hint: Hint, pointer: *mut c_void, bytes: usize) -> i32 {
        let device = match current_device() {
            Ok(device) => device,
            Err(status) => return status,
        };
        let advise = |advice: i32, place: i32| {
            call!(self.0("cuMemAdvise"), (*mut c_void, usize, i32, i32), pointer, bytes, advice, place)
        };
        match hint {
            Hint::PreferDevice => advise(PREFERRED, device),
            Hint::PreferHost => advise(PREFERRED, HOST),
            Hint::AccessedByDevice => advise(ACCESSED_BY, device),
            Hint::ReadMostly => advise(READ_MOSTLY, device),
            Hint::Prefetch => Batch::of(pointer as u64, bytes as u64, null_mut()).bring(Way::Device),
        }
    }
}
