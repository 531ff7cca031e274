//! CUPTI's library and the calls that recording makes, opened by name; only then is it known whether it exists.

use std::ffi::{CStr, c_char, c_void};
use std::ops::RangeInclusive;

use libloading::Library;

/// CUPTI's success; every other number is an error.
const SUCCESS: i32 = 0;

/// `CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES`.
const ALL_DEVICES: u32 = 2;

/// `CUpti_ActivityUnifiedMemoryCounterConfig`.
#[repr(C)]
pub(super) struct Counter {
    scope: u32,
    pub(super) kind: u32,
    device: u32,
    enable: u32,
}

/// `CUpti_BuffersCallbackRequestFunc`.
pub(super) type Requested = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
/// `CUpti_BuffersCallbackCompleteFunc`.
pub(super) type Completed = unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

/// Functions of CUPTI by what they do. Results are numbers, as newer versions know more of them.
pub(super) struct Calls {
    pub(super) version: unsafe extern "C" fn(*mut u32) -> i32,
    pub(super) result_string: unsafe extern "C" fn(i32, *mut *const c_char) -> i32,
    pub(super) register: unsafe extern "C" fn(Requested, Completed) -> i32,
    pub(super) configure: unsafe extern "C" fn(*mut Counter, u32) -> i32,
    pub(super) enable: unsafe extern "C" fn(u32) -> i32,
    pub(super) disable: unsafe extern "C" fn(u32) -> i32,
    pub(super) flush: unsafe extern "C" fn(u32) -> i32,
    pub(super) dropped: unsafe extern "C" fn(*mut c_void, u32, *mut usize) -> i32,
}

/// The library that fits a driver of CUDA `major`; it stays open.
///
/// # Errors
/// There is none, or it lacks a function: words for users.
pub(super) fn open(major: Option<u32>) -> Result<Calls, String> {
    let names = candidates(major);
    // SAFETY: opens a library whose constructors have no demands.
    let library = names
        .iter()
        .find_map(|name| unsafe { Library::new(name) }.ok())
        .ok_or_else(|| format!("CUPTI was not found ({}); `pip install octavo[gpu]` brings it", names.join(", ")))?;
    let calls = calls(&library);
    std::mem::forget(library);
    calls
}

/// Names by which the loader knows it, the driver's own version first: a newer CUPTI may want a newer driver.
fn candidates(major: Option<u32>) -> Vec<String> {
    let versions: &[u32] = if major.is_some_and(|major| major < 13) { &[12, 13] } else { &[13, 12] };
    let numbered = versions.iter().map(|version| format!("libcupti.so.{version}"));
    numbered.chain(["libcupti.so".to_owned()]).collect()
}

fn calls(library: &Library) -> Result<Calls, String> {
    // SAFETY: types as in the headers cupti_activity.h, cupti_version.h and cupti_result.h, the same from CUDA 12.2 to
    // 13.5.
    unsafe {
        Ok(Calls {
            version: function(library, "cuptiGetVersion")?,
            result_string: function(library, "cuptiGetResultString")?,
            register: function(library, "cuptiActivityRegisterCallbacks")?,
            configure: function(library, "cuptiActivityConfigureUnifiedMemoryCounter")?,
            enable: function(library, "cuptiActivityEnable")?,
            disable: function(library, "cuptiActivityDisable")?,
            flush: function(library, "cuptiActivityFlushAll")?,
            dropped: function(library, "cuptiActivityGetNumDroppedRecords")?,
        })
    }
}

/// # Safety
/// `T` is the type of that function.
unsafe fn function<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: as the caller promises.
    let found = unsafe { library.get::<T>(name) };
    found.map(|symbol| *symbol).map_err(|_| format!("this CUPTI has no function {name}"))
}

impl Calls {
    pub(super) fn version(&self) -> Result<u32, String> {
        let mut version = 0;
        // SAFETY: writes one number.
        let result = unsafe { (self.version)(&raw mut version) };
        self.checked("cuptiGetVersion", result).map(|()| version)
    }

    pub(super) fn register(&self, requested: Requested, completed: Completed) -> Result<(), String> {
        // SAFETY: both functions live as long as the program.
        self.checked("cuptiActivityRegisterCallbacks", unsafe { (self.register)(requested, completed) })
    }

    pub(super) fn configure(&self, kinds: RangeInclusive<u32>) -> Result<(), String> {
        let mut counters: Vec<Counter> =
            kinds.map(|kind| Counter { scope: ALL_DEVICES, kind, device: 0, enable: 1 }).collect();
        let count = u32::try_from(counters.len()).expect("counters are few");
        // SAFETY: this many counters lie there.
        let result = unsafe { (self.configure)(counters.as_mut_ptr(), count) };
        self.checked("cuptiActivityConfigureUnifiedMemoryCounter", result)
    }

    pub(super) fn enable(&self, kind: u32) -> Result<(), String> {
        // SAFETY: callbacks for buffers are registered.
        self.checked("cuptiActivityEnable", unsafe { (self.enable)(kind) })
    }

    pub(super) fn disable(&self, kind: u32) -> Result<(), String> {
        // SAFETY: takes a number.
        self.checked("cuptiActivityDisable", unsafe { (self.disable)(kind) })
    }

    pub(super) fn flush(&self, flags: u32) -> Result<(), String> {
        // SAFETY: callbacks for buffers are registered.
        self.checked("cuptiActivityFlushAll", unsafe { (self.flush)(flags) })
    }

    pub(super) fn dropped(&self) -> Result<u64, String> {
        let mut dropped = 0;
        // SAFETY: writes one number; no context means the global queue.
        let result = unsafe { (self.dropped)(std::ptr::null_mut(), 0, &raw mut dropped) };
        self.checked("cuptiActivityGetNumDroppedRecords", result).map(|()| dropped as u64)
    }

    fn checked(&self, call: &str, result: i32) -> Result<(), String> {
        if result == SUCCESS { Ok(()) } else { Err(format!("{call} failed: {}", self.words(result))) }
    }

    fn words(&self, result: i32) -> String {
        let mut text = std::ptr::null();
        // SAFETY: writes where a text begins that ends in a zero byte and lives as long as the library.
        let found = unsafe { (self.result_string)(result, &raw mut text) };
        if found != SUCCESS || text.is_null() {
            return format!("error {result}");
        }
        // SAFETY: see above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::candidates;

    #[test]
    fn the_library_of_the_drivers_version_is_tried_first() {
        assert_eq!(candidates(Some(12)), ["libcupti.so.12", "libcupti.so.13", "libcupti.so"]);
        assert_eq!(candidates(Some(13)), ["libcupti.so.13", "libcupti.so.12", "libcupti.so"]);
        assert_eq!(candidates(None), candidates(Some(14)));
    }
}
