//! Call sites: frames of the stack as files and offsets, which are the same in every run.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// Number of frames that are looked at, and of frames that are kept; our choice.
const SEEN: usize = 32;
const KEPT: usize = 12;

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// File of the program or library.
    pub module: String,
    /// The return address in it, in the numbering of its debug information.
    pub offset: u64,
    /// The nearest exported symbol before it.
    #[serde(default)]
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
    // SAFETY: there is room for this many.
    let count = unsafe { libc::backtrace(seen.as_mut_ptr(), SEEN as c_int) }.max(0) as usize;
    let addresses = seen[..count.min(SEEN)].iter().map(|address| *address as usize);
    addresses.skip_while(|address| own().contains(address)).take(KEPT).collect()
}

/// Does early, and once, the work that takes locks. A child of `fork` may find them taken for ever: loads the unwinder,
/// finds this library.
pub fn prepare() {
    callers();
}

impl Sites {
    /// The number of a place, if it has one.
    pub fn number(&self, callers: &[usize]) -> Option<usize> {
        self.numbers.get(callers).copied()
    }

    /// The number of a place, which is given one with its frames if it has none.
    pub fn add(&mut self, callers: Vec<usize>, frames: Vec<Frame>) -> usize {
        *self.numbers.entry(callers).or_insert_with(|| {
            self.frames.push(frames);
            self.frames.len() - 1
        })
    }
}

/// The frames of addresses. Hold no lock here: the loader is called, and a constructor that calls CUDA may hold its
/// lock.
pub fn frames(addresses: &[usize]) -> Vec<Frame> {
    addresses.iter().map(|address| frame(*address)).collect()
}

/// The name of a function that a pointer means, if it is exported. It calls the loader, too.
pub fn name_of(function: usize) -> Option<String> {
    symbol(&about(function)?.0)
}

fn frame(address: usize) -> Frame {
    let Some((about, object)) = about(address) else {
        return Frame { module: String::new(), offset: address as u64, symbol: None };
    };
    Frame { module: module(&object), offset: (address - object.moved) as u64, symbol: symbol(&about) }
}

/// The beginning of `struct link_map`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Object {
    /// By how many bytes it was moved when it was loaded.
    moved: usize,
    name: *const c_char,
}

/// `RTLD_DL_LINKMAP`: `dladdr1` gives the object, too.
const OBJECT: c_int = 2;

/// The loader's facts about an address. Unlike `dl_iterate_phdr`'s, its lock is free again in a child of `fork`.
fn about(address: usize) -> Option<(libc::Dl_info, Object)> {
    // SAFETY: zeros are a structure without anything.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    let mut object = std::ptr::null_mut::<c_void>();
    // SAFETY: the loader looks the address up, and reads nothing there.
    let known = unsafe { libc::dladdr1(address as *const c_void, &raw mut about, &raw mut object, OBJECT) };
    // SAFETY: it is null or an object that is in use, as its function is on the stack or about to run.
    (known != 0).then_some(about).zip(unsafe { object.cast::<Object>().as_ref() }.copied())
}

fn symbol(about: &libc::Dl_info) -> Option<String> {
    // SAFETY: it is a string of the object's.
    (!about.dli_sname.is_null()).then(|| unsafe { CStr::from_ptr(about.dli_sname) }.to_string_lossy().into_owned())
}

/// The file of an object. The program itself has no name.
fn module(object: &Object) -> String {
    // SAFETY: it is a string of the loader's.
    let name = unsafe { CStr::from_ptr(object.name) };
    if name.is_empty() {
        return std::env::current_exe().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    }
    name.to_string_lossy().into_owned()
}

/// The addresses of this library.
fn own() -> &'static Range<usize> {
    static OWN: OnceLock<Range<usize>> = OnceLock::new();
    OWN.get_or_init(|| {
        let mut search = Search { address: callers as *const () as usize, found: 0..0 };
        // SAFETY: `search` outlives the call, which passes it on.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
        search.found
    })
}

struct Search {
    address: usize,
    found: Range<usize>,
}

unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader gives an object with so many headers, and what `own` gave it.
    let (object, search) = unsafe { (&*object, &mut *search.cast::<Search>()) };
    // SAFETY: as above.
    let headers = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let mut parts = headers.iter().filter(|header| header.p_type == libc::PT_LOAD).map(|header| {
        let begin = (object.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
        begin..begin.wrapping_add(header.p_memsz as usize)
    });
    search.found = parts.find(|part| part.contains(&search.address)).unwrap_or(0..0);
    c_int::from(!search.found.is_empty())
}
