//! Gives allocations another kind of memory, and moves them, as a placement file says. Others pass through.
//!
//! | module | what it does |
//! |---|---|
//! | `placement` | reads the placement file |
//! | `state` | holds the file's plan and what this process did with it |
//! | `turns` | counts the allocations of each call site and size, for `order` |
//! | `moved` | finds, by address, the memory that has another kind now |
//! | `hosted`, `copies` | lets the host itself make copies, where the memory lies on the host |
//! | `movables` | decides which managed memory moves before launches, and before the host waits |
//! | `moves`, `batch` | moves it |
//! | `trial` | measures whether that helps |
//! | `behind` | asks the driver to make and free such memory |
//! | `log` | writes what was done |
//!
//! A thread of the program can be cancelled inside a CUDA call: no frame that calls CUDA holds a lock or anything to
//! drop.

mod batch;
mod behind;
pub mod copies;
mod hosted;
mod log;
mod movables;
pub mod moves;
mod placement;
mod state;
mod substitutes;
mod trial;
mod turns;

use std::ffi::c_void;

pub use self::behind::{Behind, device_of_runtime};
use self::log::Became;
use self::placement::Buffer;
pub use self::state::Applied;
use self::state::Plan;
pub use self::substitutes::Home;
use crate::kind::Kind;

/// An allocation that the program requests.
pub struct Asked {
    /// What it would be.
    pub kind: Kind,
    /// The function that allocates.
    pub call: &'static str,
    /// Bytes of the allocation.
    pub bytes: usize,
    /// Flags of managed memory.
    pub flags: u32,
    /// Makes a context current, unless there is one. Gives the status.
    pub ready: fn() -> i32,
}

/// `CU_MEM_ATTACH_GLOBAL`: managed memory of all streams.
pub const GLOBAL: u32 = 1;
/// `CUDA_ERROR_UNKNOWN`: this library failed.
const UNKNOWN: i32 = 999;

/// Allocates as the file says, or as the program requests.
///
/// # Safety `out` is where the program wants its address; `real` makes the program's own call.
pub unsafe fn allocate(asked: Asked, out: *mut *mut c_void, real: impl FnOnce() -> i32) -> i32 {
    let Some(applied) = Applied::current().filter(|_| !out.is_null()) else { return real() };
    let plan = applied.plan(asked.call, asked.bytes);
    let mut became = Became::AsItIs;
    if let Some(buffer) = applied.otherwise(plan, asked.kind) {
        match redirected(applied, plan, buffer, &asked) {
            Ok(pointer) => {
                // SAFETY: the caller says so.
                unsafe { out.write(pointer) };
                return 0;
            }
            Err(status) => became = Became::Failed(status),
        }
    }
    let status = real();
    if status == 0 {
        // SAFETY: the call that was to write it succeeded.
        let made = unsafe { out.read() };
        applied.told(|known| {
            known.moved.forget(made, asked.bytes);
            known.movables.forget(made, asked.bytes);
            known.log.count(plan.number, asked.bytes, became);
        });
        if became == Became::AsItIs && asked.kind == Kind::Managed {
            note_moves(applied, plan, made, asked.bytes);
        }
    } else {
        applied.told(|known| known.give_back(plan));
    }
    status
}

/// Allocates what a buffer wants, or returns the error.
fn redirected(applied: &'static Applied, plan: Plan, buffer: &Buffer, asked: &Asked) -> Result<*mut c_void, i32> {
    let status = (asked.ready)();
    if status != 0 {
        return Err(status);
    }
    let (status, pointer) = applied.behind.allocate(buffer.placement, asked.bytes, asked.flags);
    if status != 0 {
        return Err(status);
    }
    let (kind, home) = (buffer.placement, behind::home());
    let noted = applied.told(|known| {
        known.moved.add(pointer, asked.bytes, kind, home);
        known.movables.forget(pointer, asked.bytes);
        known.log.count(plan.number, asked.bytes, Became::Other);
    });
    if noted.is_none() {
        applied.behind.free(kind, home, pointer);
        return Err(UNKNOWN);
    }
    let mut taken = true;
    for hint in &buffer.hints {
        if applied.behind.tell(*hint, pointer, asked.bytes) != 0 {
            taken = false;
            applied.told(|known| known.log.refuse_hint(plan.number));
        }
    }
    note_moves(applied, plan, pointer, asked.bytes);
    if let Some(number) = plan.number.filter(|_| buffer.copied_by_host && taken) {
        applied.told(|known| known.movables.hosted.add(pointer, asked.bytes, number, home));
    }
    Ok(pointer)
}

/// Memory of the program that the file wants to move.
fn note_moves(applied: &'static Applied, plan: Plan, pointer: *mut c_void, bytes: usize) {
    if let Some((buffer, moves, stays)) = applied.moves_of(plan) {
        applied.told(|known| known.movables.add(pointer, bytes, buffer, moves, stays));
    }
}

/// Frees the memory that was really allocated. `ready` makes a context current, as the call itself would have done.
pub fn free(pointer: *mut c_void, ready: fn() -> i32, real: impl FnOnce() -> i32) -> i32 {
    let Some(applied) = Applied::current() else { return real() };
    let taken = applied.told(|known| {
        known.movables.forget(pointer, 1);
        known.moved.take(pointer)
    });
    let Some(piece) = taken.flatten() else { return real() };
    // Without one, the memory is freed where it was made.
    ready();
    let status = applied.behind.free(piece.kind, piece.home, pointer);
    if status != 0 {
        applied.told(|known| known.moved.put_back(pointer, piece));
    }
    status
}

/// A call that ends all memory of some contexts or devices.
pub fn end(gone: impl Fn(Home) -> bool + Copy, real: impl FnOnce() -> i32) -> i32 {
    let status = real();
    if let Some(applied) = Applied::current().filter(|_| status == 0) {
        applied.told(|known| {
            known.moved.forget_all(gone);
            known.movables.hosted.forget_all(gone);
        });
    }
    status
}

/// The kind of memory at an address, if it differs from the program's request.
pub fn kind_at(pointer: *const c_void) -> Option<Kind> {
    Applied::current()?.told(|known| known.moved.kind(pointer))?
}

/// Whether either end of a copy has another kind than the program requested: its direction no longer fits.
pub fn is_moved(to: *const c_void, from: *const c_void) -> bool {
    let of = |applied: &Applied| applied.told(|known| known.moved.kind(to).or(known.moved.kind(from)).is_some());
    Applied::current().and_then(of).unwrap_or(false)
}

/// A hint of the program, which is left out if the memory is no longer managed.
pub fn hint(pointer: *const c_void, real: impl FnOnce() -> i32) -> i32 {
    if kind_at(pointer).is_none_or(|kind| kind == Kind::Managed) {
        return real();
    }
    if let Some(applied) = Applied::current() {
        applied.told(|known| known.log.hints_left_out += 1);
    }
    0
}

/// An allocation that is never redirected, of this many `bytes` once it is made.
///
/// # Safety
/// `out` is where the program wants its address, which `real` writes.
pub unsafe fn pass_on(
    call: &'static str,
    out: *mut *mut c_void,
    bytes: impl FnOnce() -> usize,
    real: impl FnOnce() -> i32,
) -> i32 {
    let status = real();
    let Some(applied) = Applied::current().filter(|_| status == 0 && !out.is_null()) else { return status };
    // SAFETY: the call that was to write it succeeded.
    let (made, bytes) = (unsafe { out.read() }, bytes());
    let plan = applied.plan(call, bytes);
    applied.told(|known| {
        known.moved.forget(made, bytes);
        known.movables.forget(made, bytes);
        known.log.pass_on(call, plan.number, bytes);
    });
    status
}
