//! Launches of kernels: which function, where, and with which addresses among its parameters.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use crate::calls::call;
use crate::guard::guarded;
use crate::real::{Library, Slot};
use crate::site::name_of;
use crate::symbols::pointers;

/// Bytes of parameters that are looked at: more than a launch may have.
const MOST: usize = 32 << 10;
/// Addresses below are none; our choice: Linux maps nothing there.
const LOWEST: u64 = 64 << 10;
/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `_SIZE`, as keys of `extra`.
const BUFFER_POINTER: usize = 1;
const BUFFER_SIZE: usize = 2;

static PARAMETER_OF_FUNCTION: Slot = Slot::new(c"cuFuncGetParamInfo", Library::Driver);
static PARAMETER_OF_KERNEL: Slot = Slot::new(c"cuKernelGetParamInfo", Library::Driver);
static NAME: Slot = Slot::new(c"cuFuncGetName", Library::Driver);
static NAME_OF_KERNEL: Slot = Slot::new(c"cuKernelGetName", Library::Driver);
static FUNCTION: Slot = Slot::new(c"cudaGetFuncBySymbol", Library::Runtime);

/// The function and the size of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    /// The pointer that the program names the kernel by.
    pub kernel: usize,
    /// Thread blocks.
    pub blocks: u64,
    /// Threads of each.
    pub threads: u64,
}

/// What the host waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// All that the device has to do.
    All,
    /// The work of a stream, by its address.
    Stream(usize),
    /// An event, or a separate copy: its stream is unknown, so nothing moves before it.
    Other,
}

impl Wait {
    /// Whether it is certain beforehand that all work of a stream will be done.
    pub fn covers(self, stream: usize) -> bool {
        matches!(self, Self::All) || self == Self::Stream(stream)
    }

    /// Whether the work of a stream may be done afterwards.
    pub fn may_cover(self, stream: usize) -> bool {
        self.covers(stream) || self == Self::Other
    }
}

/// A launch by the program.
#[derive(Clone, Copy)]
pub struct Launch {
    /// Of what.
    pub shape: Shape,
    /// Whether the kernel is the runtime's name of it, and not the driver's function.
    pub of_runtime: bool,
    /// Where it runs.
    pub stream: *mut c_void,
    /// Addresses of its parameters, or null.
    pub values: *mut *mut c_void,
    /// Parameters in one piece, or null.
    pub extra: *mut *mut c_void,
}

/// The known facts about a kernel.
#[derive(Debug)]
pub struct Kernel {
    /// As it was compiled, or as its symbol is exported.
    pub name: Option<String>,
    /// Offset and bytes of each parameter; none before CUDA 12.4.
    pub parameters: Option<Vec<(usize, usize)>>,
    /// Which parameters are addresses, according to its name.
    pub pointers: Option<Vec<bool>>,
}

/// Names of functions that the program looked up: before CUDA 12.3, the driver does not return them.
static NAMES: Mutex<Option<HashMap<usize, String>>> = Mutex::new(None);

/// The driver gave a function for a name.
///
/// # Safety
/// The call succeeded with these arguments.
pub unsafe fn found(out: *mut *mut c_void, name: *const c_char) {
    if out.is_null() || name.is_null() {
        return;
    }
    // SAFETY: the caller says so.
    let (function, name) = unsafe { (out.read() as usize, CStr::from_ptr(name)) };
    let name = name.to_string_lossy().into_owned();
    guarded(|| NAMES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(function, name));
}

fn asked_for(function: *mut c_void) -> Option<String> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(&(function as usize)).cloned()
}

/// The known facts about a launch's kernel. It lives for ever.
pub fn kernel(launch: &Launch) -> Option<&'static Kernel> {
    static KNOWN: Mutex<Option<HashMap<usize, &'static Kernel>>> = Mutex::new(None);
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().as_ref().and_then(|known| known.get(&launch.shape.kernel).copied()) {
        return Some(known);
    }
    // The driver and the loader are asked without a lock.
    let found: &'static Kernel = Box::leak(Box::new(guarded(|| asked(launch))?));
    Some(lock().get_or_insert_default().entry(launch.shape.kernel).or_insert(found))
}

fn asked(launch: &Launch) -> Kernel {
    let symbol = launch.shape.kernel as *const c_void;
    let mut function = symbol.cast_mut();
    if launch.of_runtime {
        function = null_mut();
        call!(FUNCTION.real(std::ptr::null()), (*mut *mut c_void, *const c_void), &raw mut function, symbol);
    }
    let known = !function.is_null();
    let compiled = || compiled_name(&NAME, function).or_else(|| compiled_name(&NAME_OF_KERNEL, function));
    let compiled = known.then(|| compiled().or_else(|| asked_for(function))).flatten();
    let name = compiled.or_else(|| name_of(symbol as usize));
    let pointers = name.as_deref().and_then(pointers);
    Kernel { name, parameters: known.then(|| parameters(function)).flatten(), pointers }
}

fn compiled_name(slot: &Slot, function: *mut c_void) -> Option<String> {
    let mut name: *const c_char = std::ptr::null();
    let status = call!(slot.real(std::ptr::null()), (*mut *const c_char, *mut c_void), &raw mut name, function);
    // SAFETY: it is a string of the driver's, which succeeded.
    (status == 0 && !name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

/// Each parameter. A function of the driver's may be given by its kernel.
fn parameters(function: *mut c_void) -> Option<Vec<(usize, usize)>> {
    parameters_by(&PARAMETER_OF_FUNCTION, function).or_else(|| parameters_by(&PARAMETER_OF_KERNEL, function))
}

fn parameters_by(slot: &Slot, function: *mut c_void) -> Option<Vec<(usize, usize)>> {
    /// `CUDA_ERROR_INVALID_VALUE`: there is no parameter of this number.
    const NO_MORE: i32 = 1;
    let mut found = Vec::new();
    let mut end = 0;
    while end < MOST {
        let (mut offset, mut size) = (0, 0);
        let status = call!(
            slot.real(std::ptr::null()),
            (*mut c_void, usize, *mut usize, *mut usize),
            function,
            found.len(),
            &raw mut offset,
            &raw mut size
        );
        if status != 0 {
            return (status == NO_MORE).then_some(found);
        }
        end = offset + size;
        found.push((offset, size));
    }
    None
}

/// Words among a launch's parameters that may be addresses, also inside structures; none if its parameters are unknown.
///
/// # Safety
/// The launch has the parameters that its kernel has.
pub unsafe fn words(launch: &Launch, kernel: &Kernel) -> Option<Vec<u64>> {
    let mut found = Vec::new();
    if launch.values.is_null() {
        // SAFETY: as the caller says.
        let piece = unsafe { piece(launch.extra) };
        let Some((begin, bytes)) = piece else { return kernel.parameters.as_ref()?.is_empty().then_some(found) };
        // SAFETY: the program says that so much lies there.
        unsafe { collect(begin, 0, bytes, &mut found) };
        return Some(found);
    }
    let Some(parameters) = &kernel.parameters else {
        let each = kernel.pointers.as_ref()?.iter().enumerate().filter(|(_, is_pointer)| **is_pointer);
        // SAFETY: there is an address for each parameter, and an address behind those of pointers.
        each.for_each(|(number, _)| unsafe { collect((*launch.values.add(number)).cast(), 0, 8, &mut found) });
        return Some(found);
    };
    for (number, (offset, bytes)) in parameters.iter().enumerate() {
        // SAFETY: there is an address for each parameter, with so many bytes behind it.
        unsafe { collect((*launch.values.add(number)).cast(), *offset, *bytes, &mut found) };
    }
    Some(found)
}

/// Aligned words of the parameters at an offset.
unsafe fn collect(begin: *const u8, offset: usize, bytes: usize, found: &mut Vec<u64>) {
    if begin.is_null() {
        return;
    }
    let first = offset.next_multiple_of(8) - offset;
    for at in (first..bytes.min(MOST)).step_by(8).take_while(|at| at + 8 <= bytes) {
        // SAFETY: the caller says that so many bytes lie there.
        let word = unsafe { begin.add(at).cast::<u64>().read_unaligned() };
        if word >= LOWEST {
            found.push(word);
        }
    }
}

/// Parameters that are given in one piece.
unsafe fn piece(extra: *mut *mut c_void) -> Option<(*const u8, usize)> {
    let (mut begin, mut bytes) = (std::ptr::null::<u8>(), None);
    let mut at = extra;
    // SAFETY: keys and values in turns, and a zero at the end.
    unsafe {
        while !at.is_null() && !(*at).is_null() {
            match *at as usize {
                BUFFER_POINTER => begin = (*at.add(1)).cast_const().cast(),
                BUFFER_SIZE => bytes = Some((*at.add(1)).cast::<usize>().read()),
                _ => return None,
            }
            at = at.add(2);
        }
    }
    bytes.filter(|_| !begin.is_null()).map(|bytes| (begin, bytes))
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::ptr::null_mut;

    use super::{BUFFER_POINTER, BUFFER_SIZE, Kernel, Launch, Shape, words};

    fn launch(values: *mut *mut c_void, extra: *mut *mut c_void) -> Launch {
        let shape = Shape { kernel: 1, blocks: 1, threads: 1 };
        Launch { shape, of_runtime: false, stream: null_mut(), values, extra }
    }

    #[test]
    fn addresses_are_found_inside_structures_and_where_they_are_aligned() {
        let mut count = 7_u32;
        let mut held = [5_u64, 1 << 20, 1 << 21];
        let mut values = [(&raw mut count).cast::<c_void>(), held.as_mut_ptr().cast()];
        let kernel = Kernel { name: None, parameters: Some(vec![(0, 4), (8, 24)]), pointers: None };
        let launch = launch(values.as_mut_ptr(), null_mut());
        // SAFETY: as many parameters as the kernel has.
        assert_eq!(unsafe { words(&launch, &kernel) }, Some(vec![1 << 20, 1 << 21]));
        let named = Kernel { name: None, parameters: None, pointers: Some(vec![false, true]) };
        // SAFETY: as many parameters as the name says; the second begins with 5, which is no address.
        assert_eq!(unsafe { words(&launch, &named) }, Some(Vec::new()));
        let unknown = Kernel { name: None, parameters: None, pointers: None };
        // SAFETY: none of them is read.
        assert_eq!(unsafe { words(&launch, &unknown) }, None);
    }

    #[test]
    fn parameters_in_one_piece_need_no_description() {
        let mut held = [3_u64, 1 << 30];
        let mut bytes = size_of_val(&held);
        let key = |key: usize| std::ptr::without_provenance_mut::<c_void>(key);
        let (begin, bytes) = (held.as_mut_ptr().cast(), (&raw mut bytes).cast());
        let mut extra = [key(BUFFER_POINTER), begin, key(BUFFER_SIZE), bytes, null_mut()];
        let unknown = Kernel { name: None, parameters: None, pointers: None };
        // SAFETY: so many bytes lie there.
        assert_eq!(unsafe { words(&launch(null_mut(), extra.as_mut_ptr()), &unknown) }, Some(vec![1 << 30]));
    }
}
