//! Recording with a CUPTI that is not one: calls in order, buffers collected from other threads, refusals in words.

use std::ffi::{c_char, c_void};
use std::sync::Mutex;

use super::library::{Calls, Completed, Counter, Requested};
use super::{Activity, record_with};
use crate::error::GpuError;

/// Tests take turns: callbacks and buffers of CUPTI are the whole program's.
static TURN: Mutex<()> = Mutex::new(());
static CALLED: Mutex<Vec<String>> = Mutex::new(Vec::new());
static CALLBACKS: Mutex<Option<(Requested, Completed)>> = Mutex::new(None);

const RECORD: usize = 104;

fn note(call: impl Into<String>) -> i32 {
    CALLED.lock().unwrap().push(call.into());
    0
}

unsafe extern "C" fn version(version: *mut u32) -> i32 {
    // SAFETY: the caller gives a place to write to.
    unsafe { *version = 130_001 };
    0
}

unsafe extern "C" fn result_string(result: i32, text: *mut *const c_char) -> i32 {
    if result != 35 {
        return 1;
    }
    // SAFETY: the caller gives a place to write to.
    unsafe { *text = c"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES".as_ptr() };
    0
}

unsafe extern "C" fn register(requested: Requested, completed: Completed) -> i32 {
    *CALLBACKS.lock().unwrap() = Some((requested, completed));
    note("register")
}

unsafe extern "C" fn configure(counters: *mut Counter, count: u32) -> i32 {
    // SAFETY: the caller says how many lie there.
    let counters = unsafe { std::slice::from_raw_parts(counters, count as usize) };
    let kinds: Vec<u32> = counters.iter().map(|counter| counter.kind).collect();
    note(format!("configure {kinds:?}"))
}

unsafe extern "C" fn enable(kind: u32) -> i32 {
    note(format!("enable {kind}"))
}

unsafe extern "C" fn refuse(_kind: u32) -> i32 {
    35
}

unsafe extern "C" fn refuse_without_words(_kind: u32) -> i32 {
    77
}

unsafe extern "C" fn disable(kind: u32) -> i32 {
    note(format!("disable {kind}"))
}

unsafe extern "C" fn flush(flags: u32) -> i32 {
    note(format!("flush {flags}"))
}

unsafe extern "C" fn dropped(_context: *mut c_void, _stream: u32, dropped: *mut usize) -> i32 {
    // SAFETY: the caller gives a place to write to.
    unsafe { *dropped = 7 };
    0
}

const CALLS: Calls = Calls { version, result_string, register, configure, enable, disable, flush, dropped };

/// Fills a buffer with this many records, as CUPTI would: from another thread.
fn fill(records: usize) {
    let (requested, completed) = CALLBACKS.lock().unwrap().expect("callbacks were registered");
    std::thread::spawn(move || {
        let (mut buffer, mut size, mut most) = (std::ptr::null_mut(), 0, 9);
        // SAFETY: three places to write to.
        unsafe { requested(&raw mut buffer, &raw mut size, &raw mut most) };
        assert!(!buffer.is_null() && size >= records * RECORD && most == 0);
        assert_eq!(buffer.addr() % 8, 0);
        for index in 0..records {
            // SAFETY: the records fit the buffer.
            unsafe { buffer.add(index * RECORD).cast::<u32>().write(25) };
        }
        // SAFETY: a buffer that was requested, and this many records were written.
        unsafe { completed(std::ptr::null_mut(), 0, buffer, size, records * RECORD) };
    })
    .join()
    .unwrap();
}

fn recorded(calls: &Calls, work: impl FnOnce() -> Result<(), GpuError>) -> Result<Result<Activity, String>, GpuError> {
    CALLED.lock().unwrap().clear();
    record_with(calls, work)
}

#[test]
fn valid_bytes_of_all_buffers_are_kept_and_nothing_else() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let work = || {
        fill(3);
        fill(0);
        fill(2);
        Ok(())
    };
    let activity = recorded(&CALLS, work).unwrap().unwrap();
    assert_eq!((activity.cupti, activity.layout, activity.dropped), (130_001, "v3", 7));
    assert_eq!(activity.records.len(), 5 * RECORD);
    assert!(activity.records.chunks(RECORD).all(|record| record[0] == 25));
    let order = ["register", "configure [1, 2, 3, 4, 5, 6, 7, 8]", "enable 25", "flush 1", "disable 25", "flush 1"];
    assert_eq!(*CALLED.lock().unwrap(), order);
}

#[test]
fn what_was_left_from_before_is_not_recorded() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let one = || {
        fill(1);
        Ok(())
    };
    recorded(&CALLS, one).unwrap().unwrap();
    fill(4);
    assert_eq!(recorded(&CALLS, one).unwrap().unwrap().records.len(), RECORD);
}

#[test]
fn a_recording_of_nothing_is_none() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let nothing = recorded(&CALLS, || Ok(())).unwrap();
    assert_eq!(nothing.unwrap_err(), "CUPTI recorded nothing of what unified memory did");
}

#[test]
fn a_refusal_is_a_reason_and_the_work_is_left_out() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let unprivileged = Calls { enable: refuse, ..CALLS };
    let refused = recorded(&unprivileged, || panic!("not without recording")).unwrap();
    assert_eq!(refused.unwrap_err(), "cuptiActivityEnable failed: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES");
    let unknown = Calls { enable: refuse_without_words, ..CALLS };
    assert_eq!(recorded(&unknown, || Ok(())).unwrap().unwrap_err(), "cuptiActivityEnable failed: error 77");
}

#[test]
fn recording_ends_when_the_work_fails() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    assert!(matches!(recorded(&CALLS, || Err(GpuError::Stopped)), Err(GpuError::Stopped)));
    assert!(CALLED.lock().unwrap().contains(&"disable 25".to_owned()));
}
