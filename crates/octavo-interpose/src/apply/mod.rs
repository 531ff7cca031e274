//! Allocations that become memory of another kind, as a placement file says. What it does not mean is passed on.
//!
//! | module | what it does |
//! |---|---|
//! | `placement` | the file |
//! | `moved` | what is of another kind now, by address |
//! | `behind` | the driver that makes and frees it |
//! | `log` | what was done |
//!
//! A program's thread can be cancelled within a call: no frame that calls CUDA holds a lock or anything else to drop.

mod behind;
mod log;
mod moved;
mod placement;

use std::collections::HashMap;
use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

pub use self::behind::{hooked, runtime_is_ready};
use self::log::{Log, Of};
use self::moved::Moved;
use self::placement::{Hint, Placement};
use crate::guard::guarded;
use crate::kind::Kind;
use crate::patience::patiently;
use crate::site::{Sites, callers, frames};

/// What is known of a process.
#[derive(Default)]
struct Known {
    moved: Moved,
    sites: Sites,
    /// Allocations so far of each buffer's place and size, by the numbers of the buffers that share them.
    made: HashMap<Vec<usize>, u64>,
    log: Log,
}

/// Applies a placement file to a process.
pub struct Applied {
    of: Of,
    read: Result<Placement, String>,
    known: Mutex<Known>,
}

static CURRENT: AtomicPtr<Applied> = AtomicPtr::new(std::ptr::null_mut());

/// What to do with one allocation.
#[derive(Clone, Copy)]
struct Plan {
    number: usize,
    kind: Kind,
    /// Hints live as long as the file, which is never freed.
    hints: &'static [Hint],
}

impl Applied {
    /// Applies a file from now on.
    pub fn begin(placement: PathBuf, log: PathBuf, parent: Option<u32>) {
        let read = Placement::read(&placement);
        let buffers = read.as_ref().map_or(0, |placement| placement.buffers.len());
        let known =
            Known { log: Log { buffers: vec![Default::default(); buffers], ..Log::default() }, ..Known::default() };
        let of = Of { path: log, placement, process: std::process::id(), parent };
        // Whoever it replaces may still be locked by a thread that a fork left behind: it is never freed.
        CURRENT.store(Box::into_raw(Box::new(Self { of, read, known: Mutex::new(known) })), Ordering::Release);
    }

    /// What is applied to this process, if anything.
    pub fn current() -> Option<&'static Self> {
        // SAFETY: what was stored there is never freed.
        unsafe { CURRENT.load(Ordering::Acquire).as_ref() }
    }

    /// The process that it was begun in.
    pub fn process(&self) -> u32 {
        self.of.process
    }

    /// Whether the file was refused.
    pub fn is_refused(&self) -> bool {
        self.read.is_err()
    }

    /// Writes the log, if there is anything to say.
    pub fn write(&self) {
        if let Some(known) = patiently(&self.known).filter(|known| known.log.used || self.is_refused()) {
            self.of.write(&known.log, &self.read);
        }
    }

    fn told<T>(&self, what: impl FnOnce(&mut Known) -> T) -> Option<T> {
        guarded(|| {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.log.used = true;
            what(&mut known)
        })
    }

    /// What the file says of an allocation; the call is counted.
    fn plan(&'static self, call: &'static str, made: Kind, bytes: usize) -> Option<Plan> {
        let placement = self.read.as_ref().ok()?;
        let means =
            if placement.may_mean(call, bytes as u64) { self.meant(placement, call, bytes)? } else { Vec::new() };
        let number = self.told(|known| {
            let number = known.next(&means, placement);
            match number {
                Some(number) => known.log.buffers[number].matched += 1,
                None => known.log.unnamed.add(bytes),
            }
            number
        })??;
        let buffer = &placement.buffers[number];
        let wanted = buffer.placement != made || !buffer.hints.is_empty();
        wanted.then_some(Plan { number, kind: buffer.placement, hints: &buffer.hints })
    }

    /// Buffers whose callers call now.
    fn meant(&self, placement: &Placement, call: &'static str, bytes: usize) -> Option<Vec<usize>> {
        let addresses = guarded(callers)?;
        let at = |known: &Known, site: usize| placement.at(call, bytes as u64, &known.sites.frames[site]);
        if let Some(found) = self.told(|known| known.sites.number(&addresses).map(|site| at(known, site)))? {
            return Some(found);
        }
        // The loader is asked without a lock.
        let frames = guarded(|| frames(&addresses))?;
        self.told(|known| {
            let site = known.sites.add(addresses, frames);
            at(known, site)
        })
    }
}

impl Known {
    /// The buffer that means the next allocation of a place and size.
    fn next(&mut self, means: &[usize], placement: &Placement) -> Option<usize> {
        if means.is_empty() {
            return None;
        }
        let made = self.made.entry(means.to_vec()).or_insert(0);
        let order = *made;
        *made += 1;
        means
            .iter()
            .copied()
            .find(|number| placement.buffers[*number].order.as_ref().is_none_or(|orders| orders.contains(&order)))
    }
}

/// An allocation that the program asks for.
pub struct Asked {
    /// What it would be.
    pub kind: Kind,
    /// By which function.
    pub call: &'static str,
    /// Of how many bytes.
    pub bytes: usize,
    /// Flags of managed memory.
    pub flags: u32,
    /// Whether there is a context, or could be made.
    pub ready: fn() -> bool,
}

/// `CU_MEM_ATTACH_GLOBAL`: managed memory of all streams.
pub const GLOBAL: u32 = 1;

/// Allocates as the file says, or as the program asks.
///
/// # Safety
/// `out` is where the program wants its address; `real` does what it asked for.
pub unsafe fn allocate(asked: Asked, out: *mut *mut c_void, real: impl FnOnce() -> i32) -> i32 {
    let Some(applied) = Applied::current().filter(|_| !out.is_null()) else { return real() };
    let planned = applied.plan(asked.call, asked.kind, asked.bytes).filter(|_| (asked.ready)());
    if let Some(pointer) = planned.and_then(|plan| redirected(applied, plan, &asked)) {
        // SAFETY: the caller says so.
        unsafe { out.write(pointer) };
        return 0;
    }
    let status = real();
    if status == 0 {
        // SAFETY: the call that was to write it succeeded.
        let made = unsafe { out.read() };
        applied.told(|known| known.moved.forget(made, asked.bytes));
    }
    status
}

fn redirected(applied: &'static Applied, plan: Plan, asked: &Asked) -> Option<*mut c_void> {
    let (status, pointer) = behind::allocate(plan.kind, asked.bytes, asked.flags);
    if status != 0 {
        applied.told(|known| {
            known.log.buffers[plan.number].failed += 1;
            known.log.buffers[plan.number].status = Some(status);
        });
        return None;
    }
    let noted = applied.told(|known| {
        known.moved.add(pointer, asked.bytes, plan.kind);
        known.log.buffers[plan.number].redirected += 1;
    });
    if noted.is_none() {
        behind::free(plan.kind, pointer);
        return None;
    }
    for hint in plan.hints {
        if behind::tell(*hint, pointer, asked.bytes) != 0 {
            applied.told(|known| known.log.buffers[plan.number].hints_refused += 1);
        }
    }
    Some(pointer)
}

/// Frees what was really allocated.
pub fn free(pointer: *mut c_void, real: impl FnOnce() -> i32) -> i32 {
    let taken = Applied::current().and_then(|applied| applied.told(|known| known.moved.take(pointer))?);
    match taken {
        Some(kind) => behind::free(kind, pointer),
        None => real(),
    }
}

/// What kind of memory an address is of, if it is another than the program asked for.
pub fn kind_at(pointer: *const c_void) -> Option<Kind> {
    Applied::current()?.told(|known| known.moved.kind(pointer))?
}

/// Whether either end of a copy is of another kind than the program asked for: its direction no longer fits.
pub fn is_moved(to: *const c_void, from: *const c_void) -> bool {
    let of = |applied: &Applied| applied.told(|known| known.moved.kind(to).or(known.moved.kind(from)).is_some());
    Applied::current().and_then(of).unwrap_or(false)
}

/// A hint of the program's, which is left out where memory is not managed any more.
pub fn hint(pointer: *const c_void, real: impl FnOnce() -> i32) -> i32 {
    if kind_at(pointer).is_none_or(|kind| kind == Kind::Managed) {
        return real();
    }
    if let Some(applied) = Applied::current() {
        applied.told(|known| known.log.hints_left_out += 1);
    }
    0
}

/// An allocation that is never redirected.
pub fn pass_on(call: &'static str, bytes: usize, real: impl FnOnce() -> i32) -> i32 {
    if let Some(applied) = Applied::current() {
        applied.told(|known| known.log.passed_on.entry(call).or_default().add(bytes));
    }
    real()
}
