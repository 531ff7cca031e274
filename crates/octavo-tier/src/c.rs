//! The C interface, of `include/octavo_tier.h`: one tier for the process, and an allocator on it with the signatures that
//! PyTorch asks for.
#![expect(unsafe_code, reason = "C calls these functions by name, with pointers")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use octavo_units::Bytes;

use crate::error::TierError;
use crate::settings::Settings;
use crate::tier::Tier;

/// The names by which PyTorch finds the allocator in this library.
pub const ALLOCATOR: [&str; 2] = ["octavo_tier_malloc", "octavo_tier_free"];

/// The variable with the settings of a tier that nobody has opened.
const VARIABLE: &str = "OCTAVO_TIER";

/// The process's tier.
static SERVED: Mutex<Option<Arc<Mutex<Tier>>>> = Mutex::new(None);

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// From now on, C's functions are about this tier; none if it is `None`.
pub fn serve(tier: Option<Arc<Mutex<Tier>>>) {
    *served() = tier;
}

fn served() -> MutexGuard<'static, Option<Arc<Mutex<Tier>>>> {
    SERVED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn locked(tier: &Mutex<Tier>) -> MutexGuard<'_, Tier> {
    tier.lock().unwrap_or_else(PoisonError::into_inner)
}

fn close_served() -> Result<(), TierError> {
    let Some(tier) = served().clone() else { return Ok(()) };
    locked(&tier).close()?;
    serve(None);
    Ok(())
}

/// Does something with the process's tier, which is opened as the environment says if there is none.
fn with_tier<T>(work: impl FnOnce(&mut Tier) -> Result<T, TierError>) -> Option<T> {
    answered(|| {
        let mut served = served();
        let tier = match &*served {
            Some(tier) if !locked(tier).is_closed() => Arc::clone(tier),
            _ => {
                let opened = Tier::open(&Settings::read(&std::env::var(VARIABLE).unwrap_or_default())?)?;
                Arc::clone(served.insert(Arc::new(Mutex::new(opened))))
            }
        };
        drop(served);
        // A tier is whole between calls, whoever panicked.
        let mut tier = locked(&tier);
        work(&mut tier)
    })
}

/// Keeps the error for [`octavo_tier_error`]. A panic is one, too.
fn answered<T>(work: impl FnOnce() -> Result<T, TierError>) -> Option<T> {
    let message = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(answer)) => return Some(answer),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "an error in Octavo".to_owned(),
    };
    ERROR.set(CString::new(message.replace('\0', " ")).unwrap_or_default());
    None
}

fn status(done: Option<()>) -> c_int {
    if done.is_some() { 0 } else { -1 }
}

fn number(device: c_int) -> usize {
    usize::try_from(device).unwrap_or(usize::MAX)
}

/// Opens the process's tier; 0, or -1 with an [error](octavo_tier_error). One that is open goes.
///
/// # Safety
/// `settings` is null, for those of the environment, or ends in a null byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn octavo_tier_open(settings: *const c_char) -> c_int {
    status(answered(|| {
        let text = if settings.is_null() {
            std::env::var(VARIABLE).unwrap_or_default()
        } else {
            // SAFETY: as the caller promises.
            unsafe { CStr::from_ptr(settings) }.to_string_lossy().into_owned()
        };
        let settings = Settings::read(&text)?;
        close_served()?;
        serve(Some(Arc::new(Mutex::new(Tier::open(&settings)?))));
        Ok(())
    }))
}

/// Gives everything back; 0, or -1 with an error.
#[unsafe(no_mangle)]
pub extern "C" fn octavo_tier_close() -> c_int {
    status(answered(close_served))
}

/// What went wrong last on this thread; valid until something else does.
#[unsafe(no_mangle)]
pub extern "C" fn octavo_tier_error() -> *const c_char {
    ERROR.with_borrow(|error| error.as_ptr())
}

/// Memory of a device; null with an error, and for no bytes. The stream is not used.
#[unsafe(no_mangle)]
pub extern "C" fn octavo_tier_malloc(bytes: isize, device: c_int, _stream: *mut c_void) -> *mut c_void {
    let Some(bytes) = u64::try_from(bytes).ok().filter(|&bytes| bytes > 0) else { return std::ptr::null_mut() };
    let allocated = with_tier(|tier| {
        let buffer = tier.allocate(bytes, number(device), "")?;
        tier.address(buffer, number(device))
    });
    // Addresses on a device: nobody reads through them here.
    std::ptr::without_provenance_mut(allocated.unwrap_or(0) as usize)
}

/// Gives memory back that [`octavo_tier_malloc`] gave. Null is ignored; anything else leaves an error.
#[unsafe(no_mangle)]
pub extern "C" fn octavo_tier_free(address: *mut c_void, _bytes: isize, _device: c_int, _stream: *mut c_void) {
    if !address.is_null() {
        with_tier(|tier| tier.free(buffer_at(tier, address)?));
    }
}

/// Brings all of these to a device; 0, or -1 with an error.
///
/// # Safety
/// There are `count` addresses at `addresses`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn octavo_tier_before_launch(
    addresses: *const *mut c_void,
    count: usize,
    device: c_int,
) -> c_int {
    let given = if count == 0 || addresses.is_null() {
        &[]
    } else {
        // SAFETY: as the caller promises.
        unsafe { std::slice::from_raw_parts(addresses, count) }
    };
    status(with_tier(|tier| {
        let buffers = given.iter().map(|&address| buffer_at(tier, address)).collect::<Result<Vec<_>, _>>()?;
        tier.before_launch(number(device), &buffers)
    }))
}

/// A device keeps this many bytes; 0, or -1 with an error.
#[unsafe(no_mangle)]
pub extern "C" fn octavo_tier_yield(device: c_int, keep: u64) -> c_int {
    status(with_tier(|tier| tier.yield_memory(number(device), Bytes(keep)).map(drop)))
}

/// A device may hold this many bytes; 0, or -1 with an error.
#[unsafe(no_mangle)]
pub extern "C" fn octavo_tier_take(device: c_int, bytes: u64) -> c_int {
    status(with_tier(|tier| tier.take_memory(number(device), Bytes(bytes))))
}

/// The state as JSON: the bytes that it takes with the null byte behind it, of which at most `size` are written; 0 with an
/// error.
///
/// # Safety
/// There is room for `size` bytes at `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn octavo_tier_status(text: *mut c_char, size: usize) -> usize {
    let Some(json) = with_tier(|tier| Ok(serde_json::to_string(&tier.status()).unwrap_or_default())) else { return 0 };
    if !text.is_null() && size > 0 {
        let written = json.len().min(size - 1);
        // SAFETY: as the caller promises.
        unsafe {
            std::ptr::copy_nonoverlapping(json.as_ptr(), text.cast::<u8>(), written);
            text.add(written).write(0);
        }
    }
    json.len() + 1
}

fn buffer_at(tier: &Tier, address: *mut c_void) -> Result<u64, TierError> {
    let unknown = || TierError::UnknownBuffer(format!("at {address:p}"));
    tier.at(address.addr() as u64).ok_or_else(unknown)
}
