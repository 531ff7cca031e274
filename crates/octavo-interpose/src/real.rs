//! The functions behind the hooks.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What `dlsym` is.
pub type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// Where `dlsym` stands in glibc: since 2.34 in the library itself, before that in libdl.
const VERSIONS: [&CStr; 2] = [c"GLIBC_2.34", c"GLIBC_2.2.5"];

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

/// Where a function behind a hook is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// The CUDA runtime.
    Runtime,
    /// The CUDA driver.
    Driver,
}

impl Library {
    /// With what the names of its files begin.
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
    /// Of a name, not looked for yet.
    pub const fn new(name: &'static CStr, library: Library) -> Self {
        Self { name, library, real: AtomicPtr::new(null_mut()) }
    }

    /// Remembers the function that somebody found. False if another one is there already, behind which the hook cannot
    /// stand, too.
    pub fn found(&self, real: *mut c_void) -> bool {
        match self.real.compare_exchange(null_mut(), real, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(other) => other == real || self.library == Library::Driver,
        }
    }

    /// The function, looked for if nobody found it; null if it is nowhere.
    pub fn real(&self, hook: *const c_void) -> *mut c_void {
        let known = self.real.load(Ordering::Acquire);
        if !known.is_null() {
            return known;
        }
        let Some(dlsym) = dlsym() else { return null_mut() };
        // SAFETY: the name is a string.
        let mut real = unsafe { dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if real.is_null() || real.cast_const() == hook {
            real = self.in_loaded_library(dlsym);
        }
        if !real.is_null() {
            self.real.store(real, Ordering::Release);
        }
        real
    }

    /// In a library that was loaded for its user alone, where the next one is not looked for.
    fn in_loaded_library(&self, dlsym: Dlsym) -> *mut c_void {
        let mut search = Search { prefix: self.library.prefix(), found: None };
        // SAFETY: `search` outlives the call, which passes it on.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
        let Some(path) = search.found else { return null_mut() };
        // SAFETY: the path is a string; the library stays loaded, as its user holds it.
        unsafe {
            let handle = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if handle.is_null() { null_mut() } else { dlsym(handle, self.name.as_ptr()) }
        }
    }
}

struct Search {
    prefix: &'static [u8],
    found: Option<CString>,
}

unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader gives an object with a name, and what `in_loaded_library` gave it.
    let (name, search) = unsafe { (CStr::from_ptr((*object).dlpi_name), &mut *search.cast::<Search>()) };
    let file = name.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if !file.starts_with(search.prefix) {
        return 0;
    }
    search.found = Some(name.to_owned());
    1
}
