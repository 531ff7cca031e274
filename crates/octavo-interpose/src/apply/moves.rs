//! Moves managed memory before launches that use it, and before the host waits for memory that it then touches.
//! Decisions are made under the lock, and the driver is called without it: frames that call CUDA have nothing to drop.

use std::ffi::c_void;

use crate::apply::batch::{Batch, Way};
use crate::apply::copies;
use crate::apply::movables::Moving;
use crate::apply::placement::Placement;
use crate::apply::state::{Applied, Known};
use crate::events::Event;
use crate::guard::guarded;
use crate::launch::{Launch, Wait, kernel, words};

/// A file that moves anything, and the state of the process.
fn moving() -> Option<(&'static Applied, &'static Placement)> {
    let applied = Applied::current()?;
    applied.moves().map(|file| (applied, file))
}

/// A kernel is about to be launched: moves the memory that it uses. Launches inside graphs move nothing.
///
/// # Safety
/// The launch has the parameters that its kernel has.
pub unsafe fn launching(launch: &Launch, captured: bool) -> Moving {
    let Some((applied, file)) = moving().filter(|_| !captured) else { return Moving::default() };
    copies::launching(applied, launch.stream);
    // SAFETY: the caller says so.
    let Some(moving) = (unsafe { decided(launch, applied, file) }) else { return Moving::default() };
    let begin = moving.timed.then(|| Event::of(launch.stream)).flatten();
    for (batch, way) in [(moving.leaving, Way::Host), (moving.batch, Way::Device)] {
        if !batch.is_empty() && batch.bring(way) != 0 {
            applied.told(|known| known.movables.trial.log.refused());
        }
    }
    Moving { begin, ..moving }
}

unsafe fn decided(launch: &Launch, applied: &'static Applied, file: &'static Placement) -> Option<Moving> {
    let kernel = kernel(launch)?;
    // SAFETY: the caller says so.
    let words = guarded(|| unsafe { words(launch, kernel) })?.unwrap_or_default();
    applied.told(|known: &mut Known| known.movables.before_launch(launch, kernel.name.as_deref(), &words, file))
}

/// It was launched, or not.
pub fn launched(launch: &Launch, moving: Moving) {
    let (Some(ordinal), Some(applied)) = (moving.ordinal, Applied::current()) else { return };
    let end = moving.timed.then(|| Event::of(launch.stream)).flatten();
    if let Some(pair) = moving.begin.zip(end) {
        applied.told(|known| known.movables.trial.after_launch(ordinal, pair));
    }
}

/// The host is about to wait: memory that it touches then goes there.
pub fn waiting(wait: Wait) {
    let Some((applied, _)) = moving() else { return };
    let batch = applied.told(|known| known.movables.before_wait(wait));
    let Some(batch) = batch.filter(|batch| !batch.is_empty()) else { return };
    if batch.bring(Way::Host) != 0 {
        applied.told(|known| known.movables.trial.log.refused());
    }
}

/// It has waited: measurements can be read.
pub fn waited(wait: Wait) {
    let Some((applied, file)) = moving() else { return };
    let Some(mut rounds) = applied.told(|known| {
        known.movables.after_wait(wait);
        known.movables.trial.after_wait()
    }) else {
        return;
    };
    guarded(|| rounds.iter_mut().for_each(|round| round.read()));
    applied.told(|known| known.movables.trial.judge(rounds, file));
}

/// Memory is about to be filled: its content need not move.
pub fn filling(pointer: *const c_void, size: usize, stream: *mut c_void) {
    let Some((applied, _)) = moving().filter(|_| !stream.is_null()) else { return };
    let asked = applied.told(|known| known.movables.before_fill(pointer as u64, size)).flatten();
    let Some((begin, bytes)) = asked else { return };
    let batch = Batch::of(begin, bytes, stream);
    if batch.discard() != 0 || batch.bring(Way::Device) != 0 {
        applied.told(|known| known.movables.trial.log.refused());
    }
}
