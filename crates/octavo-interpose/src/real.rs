//! The functions behind the hooks.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What `dlsym` is.
pub type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// Versions of `dlsym` in glibc. All have the oldest one, so that no search fails first, which would allocate.
const VERSIONS: [&CStr; 2] = [c"GLIBC_2.2.5", c"GLIBC_2.34"];

/// The `dlsym` of the C library; none if there is no such thing.
pub fn dlsym() -> Option<Dlsym> {
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let mut real = REAL.load(Ordering::Acquire);
    if real.is_null() {
        for version in VERSIONS {
            // SAFETY: both are strings.
            real = unsafe { dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) };
            if !real.is_null() {
                break;
            }
        }
        REAL.store(real, Ordering::Release);
    }
    // SAFETY: it is null or `dlsym`.
    unsafe { std::mem::transmute::<*mut c_void, Option<Dlsym>>(real) }
}

/// The library in which a function behind a hook is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// The CUDA runtime.
    Runtime,
    /// The CUDA driver.
    Driver,
}

impl Library {
    /// The beginning of its files' names, unless they were packed under other names.
    fn prefix(self) -> &'static [u8] {
        match self {
            Self::Runtime => b"libcudart.so",
            Self::Driver => b"libcuda.so",
        }
    }
}

/// The function behind one hook.
pub struct Slot {
    name: &'static CStr,
    library: Library,
    real: AtomicPtr<c_void>,
}

impl Slot {
    /// A slot for a name that has not been looked up yet.
    pub const fn new(name: &'static CStr, library: Library) -> Self {
        Self { name, library, real: AtomicPtr::new(null_mut()) }
    }

    /// Remembers the function that was found. False if there is a different one already; the hook cannot stand in front
    /// of both.
    pub fn found(&self, real: *mut c_void) -> bool {
        match self.real.compare_exchange(null_mut(), real, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(other) => other == real || self.library == Library::Driver,
        }
    }

    /// The function, looked up if it was not found yet; null if there is none.
    pub fn real(&self, hook: *const c_void) -> *mut c_void {
        let known = self.real.load(Ordering::Acquire);
        if !known.is_null() {
            return known;
        }
        let Some(dlsym) = dlsym() else { return null_mut() };
        // SAFETY: the name is a string.
        let mut real = unsafe { dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if real.is_null() || real.cast_const() == hook {
            real = self.in_loaded_object(dlsym, hook);
        }
        if !real.is_null() {
            self.real.store(real, Ordering::Release);
        }
        real
    }

    /// In objects that were loaded only for their user, where `RTLD_NEXT` does not look: first in files with the
    /// library's name, then in all.
    fn in_loaded_object(&self, dlsym: Dlsym, hook: *const c_void) -> *mut c_void {
        let mut objects: Vec<CString> = Vec::new();
        // SAFETY: `objects` outlives the call, which passes it on.
        unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut objects).cast()) };
        objects.sort_by_key(|path| !file(path).starts_with(self.library.prefix()));
        let found = objects.iter().find_map(|path| self.in_object(path, dlsym, hook));
        found.unwrap_or(null_mut())
    }

    fn in_object(&self, path: &CStr, dlsym: Dlsym, hook: *const c_void) -> Option<*mut c_void> {
        // SAFETY: the path is a string; nothing is loaded.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if handle.is_null() {
            return None;
        }
        // SAFETY: the handle is an open object, and the name is a C string.
        let real = unsafe { dlsym(handle, self.name.as_ptr()) };
        if real.is_null() || real.cast_const() == hook {
            // SAFETY: its user holds it, and this was one more.
            unsafe { libc::dlclose(handle) };
            return None;
        }
        // It stays open, as the function is called from now on.
        Some(real)
    }
}

fn file(path: &CStr) -> &[u8] {
    path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

unsafe extern "C" fn collect(object: *mut libc::dl_phdr_info, _: usize, objects: *mut c_void) -> c_int {
    // SAFETY: the loader gives an object with a name, and what `in_loaded_object` gave it.
    let (name, objects) = unsafe { (CStr::from_ptr((*object).dlpi_name), &mut *objects.cast::<Vec<CString>>()) };
    objects.push(name.to_owned());
    0
}
