//! Functions of CUDA's that this library calls itself.

/// `CUDA_ERROR_NOT_FOUND`, and `cudaErrorSymbolNotFound`: there is no such function.
pub const NOWHERE: i32 = 500;

/// Calls a function behind a hook or in a slot, if there is one. Gives its status.
macro_rules! call {
    ($function:expr, ($($type:ty),*), $($argument:expr),*) => {{
        let function: *mut ::std::ffi::c_void = $function;
        if function.is_null() {
            $crate::calls::NOWHERE
        } else {
            // SAFETY: the function of this name has these arguments.
            let function: unsafe extern "C-unwind" fn($($type),*) -> i32 = unsafe { std::mem::transmute(function) };
            // SAFETY: as of the caller's.
            unsafe { function($($argument),*) }
        }
    }};
}
pub(crate) use call;
