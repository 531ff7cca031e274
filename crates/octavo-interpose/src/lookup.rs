//! Hooks of the functions that look up others by name: they return the hooks of those.

#![allow(non_snake_case, unused_braces, reason = "the names are CUDA's, the braces those of the list")]

use std::arch::naked_asm;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use crate::hooks::{Hook, driver, hooks, runtime};
use crate::real::{self, Dlsym};
use crate::settings::active;

/// From this version of CUDA on, sizes and addresses have 64 bits: functions whose names end in `_v2`.
const WIDE: i32 = 3020;
/// From this version on, `cuMemPrefetchAsync` and `cuMemAdvise` take other arguments: functions whose names end in
/// `_v2`.
const LOCATIONS: i32 = 12020;
/// From this version on, `cuGetProcAddress` has one more argument.
const STATUS: i32 = 12000;
/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`.
const PER_THREAD: u64 = 2;

hooks! { Driver;
    [cuGetProcAddress](symbol: *const c_char, function: *mut *mut c_void, version: i32, flags: u64) always {
        replace(symbol, function, version, flags)
    }
    [cuGetProcAddress_v2](symbol: *const c_char, function: *mut *mut c_void, version: i32, flags: u64, found: *mut i32) always {
        replace(symbol, function, version, flags)
    }
}

/// The hook with this name.
fn named(name: &str) -> Option<&'static Hook> {
    [runtime::HOOKS, driver::HOOKS, HOOKS].into_iter().flatten().find(|hook| hook.name == name)
}

/// The function behind the hook with this name; null if it is nowhere.
pub fn behind(name: &str) -> *mut c_void {
    named(name).map_or(null_mut(), |hook| hook.slot.real(hook.hook))
}

/// `dlsym`: jumps to the C library's, whose answer may depend on the caller, for all names without a hook.
///
/// # Safety
/// As `dlsym`.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {route}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        route = sym route,
    )
}

/// The function that answers.
unsafe extern "C" fn route(handle: *mut c_void, name: *const c_char) -> Dlsym {
    // The name alone decides: reading the settings allocates, and a `malloc` of the program's may ask for the next one.
    // SAFETY: the caller of `dlsym` gives a string.
    let hooked = handle != libc::RTLD_NEXT && !name.is_null() && unsafe { of_c(name) }.is_some();
    if hooked { answered } else { real::dlsym().unwrap_or(nowhere) }
}

unsafe extern "C" fn nowhere(_: *mut c_void, _: *const c_char) -> *mut c_void {
    null_mut()
}

/// `dlsym` of a name with a hook.
unsafe extern "C" fn answered(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    let Some(dlsym) = real::dlsym() else { return null_mut() };
    // SAFETY: the arguments are the caller's.
    let (found, hook) = unsafe { (dlsym(handle, name), of_c(name)) };
    match hook {
        Some(hook) if found == hook.hook.cast_mut() && !active() => hook.slot.real(hook.hook),
        Some(hook) if !found.is_null() && active() => hook.instead_of(found),
        _ => found,
    }
}

/// # Safety
/// It is a string.
unsafe fn of_c(name: *const c_char) -> Option<&'static Hook> {
    // SAFETY: the caller says so.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_bytes().starts_with(b"cu").then(|| named(name.to_str().ok()?)).flatten()
}

impl Hook {
    /// The replacement for a function that was found: the hook, if it can stand before it.
    fn instead_of(&self, found: *mut c_void) -> *mut c_void {
        let own = self.hook.cast_mut();
        if found == own {
            // The global scope begins with this library: there has to be a function behind it.
            return if self.slot.real(self.hook).is_null() { null_mut() } else { own };
        }
        if self.slot.found(found) { own } else { found }
    }
}

/// Puts the hook in the place of a function that `cuGetProcAddress` gave.
///
/// # Safety
/// As for `cuGetProcAddress`, which succeeded.
unsafe fn replace(symbol: *const c_char, function: *mut *mut c_void, version: i32, flags: u64) {
    if symbol.is_null() || function.is_null() {
        return;
    }
    // SAFETY: the caller says that they are a string and a place with a function or null.
    let (symbol, found) = unsafe { (CStr::from_ptr(symbol), *function) };
    let hook = symbol.to_str().ok().and_then(|symbol| versioned(symbol, version, flags & PER_THREAD != 0));
    if let Some(hook) = hook.filter(|_| !found.is_null()) {
        // SAFETY: as above.
        unsafe { function.write(hook.instead_of(found)) };
    }
}

/// The hook of the function that a name means in a version.
fn versioned(symbol: &str, version: i32, per_thread: bool) -> Option<&'static Hook> {
    if symbol == "cuGetProcAddress" {
        return named(if version >= STATUS { "cuGetProcAddress_v2" } else { symbol });
    }
    let since = if matches!(symbol, "cuMemPrefetchAsync" | "cuMemAdvise") { LOCATIONS } else { WIDE };
    let newer = format!("{symbol}_v2");
    let name = match named(&newer) {
        Some(_) if version >= since => newer,
        // Narrow sizes and addresses have no hook.
        Some(_) if since == WIDE => return None,
        _ => symbol.to_owned(),
    };
    let own = ["_ptsz", "_ptds"].iter().find_map(|suffix| named(&format!("{name}{suffix}")));
    own.filter(|_| per_thread).or_else(|| named(&name))
}

#[cfg(test)]
mod tests {
    use super::versioned;

    #[test]
    fn names_mean_what_they_meant_in_a_version() {
        let name = |symbol, version, per_thread| versioned(symbol, version, per_thread).map(|hook| hook.name);
        assert_eq!(name("cuMemAlloc", 12000, false), Some("cuMemAlloc_v2"));
        assert_eq!(name("cuMemAlloc", 2000, false), None);
        assert_eq!(name("cuLaunchKernel", 12000, true), Some("cuLaunchKernel_ptsz"));
        assert_eq!(name("cuMemcpyHtoD", 12000, true), Some("cuMemcpyHtoD_v2_ptds"));
        assert_eq!(name("cuMemFree", 12000, true), Some("cuMemFree_v2"));
        assert_eq!(name("cuMemAdvise", 12010, false), Some("cuMemAdvise"));
        assert_eq!(name("cuMemAdvise", 12020, false), Some("cuMemAdvise_v2"));
        assert_eq!(name("cuMemPrefetchAsync", 13000, true), Some("cuMemPrefetchAsync_v2_ptsz"));
        assert_eq!(name("cuMemPrefetchAsync", 12000, true), Some("cuMemPrefetchAsync_ptsz"));
        assert_eq!(name("cuGetProcAddress", 11030, false), Some("cuGetProcAddress"));
        assert_eq!(name("cuGetProcAddress", 12000, false), Some("cuGetProcAddress_v2"));
        assert_eq!(name("cuCtxCreate", 12000, false), None);
    }
}
