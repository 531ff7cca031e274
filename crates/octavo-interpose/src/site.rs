//! Who called: frames of the stack as files and offsets, which are the same in every run.

use std::collections::hash_map::{Entry, HashMap};
use std::ffi::{CStr, OsString, c_int, c_void};
use std::os::unix::ffi::OsStringExt;

use serde::Serialize;

/// Frames that are looked at, and those of them that are kept; chosen.
const SEEN: usize = 32;
const KEPT: usize = 12;

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Frame {
    /// File of the program or library.
    pub module: String,
    /// Of the return address in it, as its debug information counts.
    pub offset: u64,
    /// The nearest exported symbol before it.
    pub symbol: Option<String>,
}

/// Places from which something was allocated.
#[derive(Default)]
pub struct Sites {
    numbers: HashMap<Vec<usize>, usize>,
    /// By number.
    pub frames: Vec<Vec<Frame>>,
}

/// Return addresses of the callers, nearest first, without this library's own.
pub fn callers() -> Vec<usize> {
    let mut seen = [std::ptr::null_mut::<c_void>(); SEEN];
    // SAFETY: there is room for so many.
    let count = unsafe { libc::backtrace(seen.as_mut_ptr(), SEEN as c_int) }.max(0) as usize;
    let own = object(callers as *const () as usize).map(|(_, base)| base);
    let addresses = seen[..count.min(SEEN)].iter().map(|address| *address as usize);
    addresses.skip_while(|address| object(*address).map(|(_, base)| base) == own).take(KEPT).collect()
}

impl Sites {
    /// The number of a place.
    pub fn number(&mut self, callers: Vec<usize>) -> usize {
        match self.numbers.entry(callers) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let number = self.frames.len();
                self.frames.push(new.key().iter().map(|address| frame(*address)).collect());
                *new.insert(number)
            }
        }
    }
}

fn frame(address: usize) -> Frame {
    let Some((module, base)) = object(address) else {
        return Frame { module: String::new(), offset: address as u64, symbol: None };
    };
    Frame { module, offset: (address - base) as u64, symbol: symbol(address) }
}

fn symbol(address: usize) -> Option<String> {
    // SAFETY: zeros are a structure without anything.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the loader looks the address up, and reads nothing there.
    let known = unsafe { libc::dladdr(address as *const c_void, &raw mut about) };
    if known == 0 || about.dli_sname.is_null() {
        return None;
    }
    // SAFETY: it is a string of the library's.
    Some(unsafe { CStr::from_ptr(about.dli_sname) }.to_string_lossy().into_owned())
}

/// The name of a function that a pointer means, if it is exported.
pub fn name_of(function: usize) -> Option<String> {
    symbol(function)
}

struct Search {
    address: usize,
    found: Option<(OsString, usize)>,
}

/// The file that an address is in, and how far it was moved when it was loaded.
fn object(address: usize) -> Option<(String, usize)> {
    let mut search = Search { address, found: None };
    // SAFETY: `search` outlives the call, which passes it on.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    let (name, base) = search.found?;
    if name.is_empty() {
        return Some((std::env::current_exe().ok()?.to_string_lossy().into_owned(), base));
    }
    Some((name.to_string_lossy().into_owned(), base))
}

unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader gives an object with so many headers and a name, and what `object` gave it.
    let (object, search) = unsafe { (&*object, &mut *search.cast::<Search>()) };
    // SAFETY: as above.
    let headers = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let base = object.dlpi_addr as usize;
    let inside = headers.iter().filter(|header| header.p_type == libc::PT_LOAD).any(|header| {
        let begin = base.wrapping_add(header.p_vaddr as usize);
        (begin..begin.wrapping_add(header.p_memsz as usize)).contains(&search.address)
    });
    if !inside {
        return 0;
    }
    // SAFETY: as above.
    let name = unsafe { CStr::from_ptr(object.dlpi_name) };
    search.found = Some((OsString::from_vec(name.to_bytes().to_vec()), base));
    1
}
