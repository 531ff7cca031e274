//! The functions that replace CUDA's and call them.

pub mod driver;
pub mod runtime;

use std::ffi::c_void;

use crate::kind::Kind;
use crate::real::Slot;
use crate::{apply, recorder};

/// One hook.
pub struct Hook {
    /// Its name, which the function behind it shares.
    pub name: &'static str,
    /// The function behind it.
    pub slot: &'static Slot,
    /// The hook function itself.
    pub hook: *const c_void,
}

// SAFETY: the pointer is a function's.
unsafe impl Sync for Hook {}

/// `CU_STREAM_PER_THREAD`, which null stands for in functions whose names end in `_ptsz`.
const PER_THREAD: *mut c_void = 2 as *mut c_void;

/// The stream that a function uses whose default stream is the thread's own.
fn per_thread(stream: *mut c_void) -> *mut c_void {
    if stream.is_null() { PER_THREAD } else { stream }
}

/// Bytes are set, in a stream.
fn fill(pointer: *const c_void, size: usize, stream: *mut c_void, real: impl FnOnce() -> i32) -> i32 {
    apply::moves::filling(pointer, size, stream);
    real()
}

/// Memory of any kind was allocated.
fn allocated(kind: Kind, call: &'static str, pointer: *const c_void, size: usize) {
    recorder::allocated(apply::kind_at(pointer).unwrap_or(kind), call, pointer, size);
}

/// The address at which the device reaches memory of the host: its own, if it is of another kind now.
unsafe fn device_address(out: *mut *mut c_void, pointer: *mut c_void, real: impl FnOnce() -> i32) -> i32 {
    if out.is_null() || apply::kind_at(pointer).is_none() {
        return real();
    }
    // SAFETY: the caller says that the address is wanted there.
    unsafe { out.write(pointer) };
    0
}

/// Hooks of a library. Each calls the function behind it; calls of the program itself are reported to the recorder,
/// `before` the call or `after` it if it succeeded. `always` also sees calls within calls. If there is a `by`
/// expression, it replaces calls of the program and may call the function behind, or another one. `C-unwind`: a thread
/// can be cancelled within a call.
macro_rules! hooks {
    ($library:ident; $([$($name:ident),+] $arguments:tt $when:ident $told:tt $(by $real:ident $instead:tt)?)*) => {
        $(hooks!(@all $library, [$($name),+], $arguments, $when, $told, [$($real $instead)?]);)*
        pub static HOOKS: &[$crate::hooks::Hook] = &[$($($crate::hooks::Hook {
            name: stringify!($name),
            slot: &$name::SLOT,
            hook: $name as *const std::ffi::c_void,
        }),+),*];
    };
    (@all $library:ident, [$($name:ident),+], $arguments:tt, $when:ident, $told:tt, $by:tt) => {
        $(hooks!(@one $library, $name, $arguments, $when, $told, $by);)+
    };
    (@one $library:ident, $name:ident, ($($argument:ident: $type:ty),*), $when:ident, $told:tt, $by:tt) => {
        mod $name {
            pub static SLOT: $crate::real::Slot = $crate::real::Slot::new(
                match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => unreachable!(),
                },
                $crate::real::Library::$library,
            );

            /// The function behind the hook; null if there is none.
            pub fn behind() -> *mut std::ffi::c_void {
                SLOT.real(super::$name as *const std::ffi::c_void)
            }
        }

        #[cfg_attr(not(test), unsafe(no_mangle))]
        unsafe extern "C-unwind" fn $name($($argument: $type),*) -> i32 {
            let real = $name::behind();
            if real.is_null() {
                return $crate::calls::NOWHERE;
            }
            // SAFETY: the function behind a hook has the hook's arguments.
            let real: unsafe extern "C-unwind" fn($($type),*) -> i32 = unsafe { std::mem::transmute(real) };
            if !$crate::settings::active() {
                // SAFETY: the arguments are the caller's.
                return unsafe { real($($argument),*) };
            }
            let call = $crate::nesting::Call::begin();
            hooks!(@told $when before, call, $told);
            let status = hooks!(@done $by, call, real, ($($argument),*));
            if status == 0 {
                hooks!(@told $when after, call, $told);
                hooks!(@told $when always, call, $told);
            }
            call.end();
            status
        }
    };
    (@done [], $call:ident, $real:ident, $arguments:tt) => {
        // SAFETY: the arguments are the caller's.
        unsafe { $real $arguments }
    };
    (@done [$own:ident $instead:tt], $call:ident, $real:ident, $arguments:tt) => {
        if $call.is_the_programs() {
            let $own = $real;
            // SAFETY: the arguments are the caller's, and an equivalent function takes the same ones.
            #[allow(unused_unsafe)]
            unsafe { $instead }
        } else {
            // SAFETY: as above.
            unsafe { $real $arguments }
        }
    };
    (@told before before, $call:ident, $told:tt) => { hooks!(@outermost $call, $told) };
    (@told after after, $call:ident, $told:tt) => { hooks!(@outermost $call, $told) };
    (@told always always, $call:ident, $told:tt) => {
        // SAFETY: the call succeeded with these arguments.
        unsafe { $told }
    };
    (@told $when:ident $other:ident, $call:ident, $told:tt) => {};
    (@outermost $call:ident, $told:tt) => {
        if $call.is_the_programs() {
            // SAFETY: pointers are read once the call that was to write them has succeeded.
            #[allow(unused_unsafe)]
            unsafe { $told }
        }
    };
}
pub(crate) use hooks;
