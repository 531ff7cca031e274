//! Where to allocate a data structure, for programs in C and C++ at run time: `include/octavo.h` is the interface.
//!
//! | module | what it holds |
//! |---|---|
//! | [`abi`] | what crosses the interface |
//! | [`machine`] | the constants of a machine, from a file or built in |
//! | `question` | what the model is asked for what a program says |
//! | `guard` | panics that become a status |
//!
//! A call of [`octavo_get_placement`] allocates little, locks nothing and takes about 0.1 ms. The model is
//! [`octavo_advise::decide`].
#![expect(unsafe_code, reason = "the interface is C's")]

pub mod abi;
mod guard;
pub mod machine;
mod question;

/// The functions of `include/octavo_tier.h` are in this library, too.
pub use octavo_tier as tier;

use std::ffi::{CStr, OsStr, c_char};
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use octavo_advise::{Decision, Placement, Question, Readings, Undecided, decide};
use octavo_units::Bytes;

use abi::{
    ABI, ASSUMED_MACHINE, Answer, BAD_ARGUMENT, DOES_NOT_FIT, Data, INTERNAL, OK, PLACEMENTS, STATUSES, Status, TERMS,
};
use guard::guarded;
use machine::{BadMachine, Machine};

/// The file of the constants if a program names none.
const VARIABLE: &str = "OCTAVO_CONSTANTS";

/// The version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn octavo_abi() -> u32 {
    ABI
}

/// Opens a machine.
///
/// # Safety
/// `path` is null or a string that ends in 0, `machine` is null or can be written, `message` is null or has
/// `message_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn octavo_open(
    path: *const c_char,
    machine: *mut *mut Machine,
    message: *mut c_char,
    message_size: usize,
) -> Status {
    if machine.is_null() {
        return BAD_ARGUMENT;
    }
    // SAFETY: the caller says that it can be written.
    unsafe { machine.write(std::ptr::null_mut()) };
    // SAFETY: the caller says that it is a string.
    let path = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) });
    guarded(INTERNAL, || match opened(path) {
        Ok(found) => {
            let status = if found.assumed { ASSUMED_MACHINE } else { OK };
            // SAFETY: as above.
            unsafe { machine.write(Box::into_raw(Box::new(found))) };
            status
        }
        Err(error) => {
            // SAFETY: the caller says how many bytes there are.
            unsafe { tell(&error.to_string(), message, message_size) };
            error.status()
        }
    })
}

fn opened(path: Option<&CStr>) -> Result<Machine, BadMachine> {
    let named = path.map(|path| PathBuf::from(OsStr::from_bytes(path.to_bytes())));
    let from = named.or_else(|| std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from));
    from.as_deref().map_or_else(Machine::built_in, |path: &Path| Machine::open(path))
}

/// Writes as much of `text` as fits, and a 0.
///
/// # Safety
/// `message` is null or has `size` bytes.
unsafe fn tell(text: &str, message: *mut c_char, size: usize) {
    if message.is_null() || size == 0 {
        return;
    }
    let mut length = text.len().min(size - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    // SAFETY: `length + 1` is at most `size`.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), message, length);
        message.add(length).write(0);
    }
}

/// Frees a machine.
///
/// # Safety
/// It is null or was opened, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn octavo_close(machine: *mut Machine) {
    if !machine.is_null() {
        // SAFETY: it was made by `Box::into_raw`.
        guarded((), || drop(unsafe { Box::from_raw(machine) }));
    }
}

/// The name of a machine.
///
/// # Safety
/// It is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn octavo_machine_name(machine: *const Machine) -> *const c_char {
    // SAFETY: the caller says so.
    guarded(c"".as_ptr(), || known(unsafe { machine.as_ref() }).map_or(c"".as_ptr(), |one| one.name.as_ptr()))
}

/// The machine that is given, or the built-in one.
fn known(given: Option<&Machine>) -> Option<&Machine> {
    match given {
        Some(machine) => Some(machine),
        None => built_in(),
    }
}

/// The built-in machine, read once.
fn built_in() -> Option<&'static Machine> {
    static BUILT_IN: OnceLock<Option<Machine>> = OnceLock::new();
    BUILT_IN.get_or_init(|| Machine::built_in().ok()).as_ref()
}

/// Where to allocate one data structure.
///
/// # Safety
/// `machine` is null or open, `data` and `answer` are null or begin with their sizes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn octavo_get_placement(
    machine: *const Machine,
    data: *const Data,
    answer: *mut Answer,
) -> Status {
    // SAFETY: one of each.
    unsafe { octavo_get_placements(machine, data, 1, 0, answer) }
}

/// Where to allocate several.
///
/// # Safety
/// As above, with `count` of data and of answers, each of the first one's size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn octavo_get_placements(
    machine: *const Machine,
    data: *const Data,
    count: usize,
    budget: u64,
    answers: *mut Answer,
) -> Status {
    if count == 0 {
        return OK;
    }
    // SAFETY: the caller says that they are null or can be read.
    let (data, shown) = unsafe { (data.as_ref(), answers.as_ref()) };
    let (Some(data), Some(shown)) = (data, shown) else { return BAD_ARGUMENT };
    if data.struct_size as usize != size_of::<Data>() || shown.struct_size as usize != size_of::<Answer>() {
        return BAD_ARGUMENT;
    }
    // SAFETY: the caller says how many there are; answers and data do not overlap.
    let (data, answers) =
        unsafe { (std::slice::from_raw_parts(data, count), std::slice::from_raw_parts_mut(answers, count)) };
    // SAFETY: the caller says that it is null or open.
    let given = unsafe { machine.as_ref() };
    guarded(INTERNAL, || answered(given, data, budget, answers).unwrap_or_else(|status| status))
}

fn answered(given: Option<&Machine>, data: &[Data], budget: u64, answers: &mut [Answer]) -> Result<Status, Status> {
    let machine = known(given).ok_or(INTERNAL)?;
    let questions: Option<Vec<Question>> = data.iter().map(|one| question::question(&machine.system, one)).collect();
    let budget = (budget > 0).then_some(Bytes(budget));
    let found = decide(&machine.system, &questions.ok_or(BAD_ARGUMENT)?, budget, &Readings::SOUND);
    let found = found.map_err(|error| match error {
        Undecided::Quantity(_) => BAD_ARGUMENT,
        Undecided::TooLarge { .. } => DOES_NOT_FIT,
    })?;
    for (answer, decision) in answers.iter_mut().zip(&found.each) {
        *answer = of(decision, found.exact);
    }
    Ok(if machine.assumed { ASSUMED_MACHINE } else { OK })
}

fn of(decision: &Decision, exact: bool) -> Answer {
    let number = |place: Option<usize>| place.map_or(-1, |place| place as i32);
    let managed = if decision.managed.thrashes { f64::INFINITY } else { decision.managed.phi().0 };
    Answer {
        struct_size: size_of::<Answer>() as u32,
        placement: number(PLACEMENTS.iter().position(|(one, _): &(Placement, _)| *one == decision.placement)),
        dominant: number(TERMS.iter().position(|(one, _)| *one == decision.dominant)),
        exact: u32::from(exact),
        managed_seconds: managed,
        pinned_seconds: decision.pinned.map_or(f64::NAN, |penalty| penalty.phi().0),
    }
}

/// A status in words.
#[unsafe(no_mangle)]
pub extern "C" fn octavo_status_text(status: Status) -> *const c_char {
    STATUSES.iter().find(|(one, _)| *one == status).map_or(c"no status of Octavo's", |(_, text)| text).as_ptr()
}

/// A placement by name.
#[unsafe(no_mangle)]
pub extern "C" fn octavo_placement_name(placement: i32) -> *const c_char {
    let found = usize::try_from(placement).ok().and_then(|place| PLACEMENTS.get(place));
    found.map_or(c"no placement", |(_, name)| name).as_ptr()
}

/// A term by name.
#[unsafe(no_mangle)]
pub extern "C" fn octavo_term_name(term: i32) -> *const c_char {
    let found = usize::try_from(term).ok().and_then(|place| TERMS.get(place));
    found.map_or(c"no term", |(_, name)| name).as_ptr()
}
