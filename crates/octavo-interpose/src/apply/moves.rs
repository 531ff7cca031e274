//! Moves managed memory before launches that use it, and before the host waits for what it then touches. Decisions are
//! made under the lock, and the driver is asked without it: frames that call CUDA hold nothing to drop.

use std::collections::HashMap;
use std::ffi::c_void;

use crate::apply::behind::{self, MOST, Way};
use crate::apply::placement::{Moves, Placement, Site};
use crate::apply::state::{Applied, Known};
use crate::apply::trial::Trial;
use crate::events::Event;
use crate::guard::guarded;
use crate::launch::{Launch, Shape, kernel, words};
use crate::pages::{SMALLEST, mapped};
use crate::ranges::Ranges;

/// Memory that is moved.
#[derive(Debug)]
struct Movable {
    /// Its buffer's number.
    buffer: usize,
    moves: &'static Moves,
    /// It is mostly read: the host's touches leave it on the device.
    stays: bool,
    on_device: bool,
    /// The host has waited since a launch used it, and may have touched it.
    seen: bool,
    /// The stream of the last launch that used it since a wait.
    used_in: Option<usize>,
}

/// All of it.
#[derive(Debug, Default)]
pub struct Movables {
    all: Ranges<Movable>,
    /// Launches of the process, without those that went into graphs.
    launches: u64,
    /// The recorded kernel of each shape; none that was not recorded.
    sites: HashMap<Shape, Option<usize>>,
    /// What moves took and brought.
    pub trial: Trial,
}

/// Pieces of memory that go the same way in one call.
#[derive(Clone, Copy, Default)]
struct Batch {
    pieces: [(u64, u64); MOST],
    count: usize,
    stream: usize,
}

impl Batch {
    fn add(&mut self, begin: u64, bytes: u64) {
        self.pieces[self.count] = (begin, bytes);
        self.count += 1;
    }

    fn bring(&self, way: Way) -> i32 {
        behind::bring(way, &self.pieces[..self.count], self.stream as *mut c_void)
    }
}

/// What is decided about a launch.
#[derive(Clone, Copy, Default)]
pub struct Moving {
    batch: Batch,
    /// Which launch it is, if it is counted.
    ordinal: Option<u64>,
    begin: Option<Event>,
    timed: bool,
}

impl Movables {
    /// Memory of a buffer's was allocated.
    pub fn add(&mut self, pointer: *const c_void, bytes: usize, buffer: usize, moves: &'static Moves, stays: bool) {
        let movable = Movable { buffer, moves, stays, on_device: false, seen: false, used_in: None };
        self.all.add(pointer as u64, bytes as u64, movable);
    }

    /// Memory was freed, or something else lies there.
    pub fn forget(&mut self, pointer: *const c_void, bytes: usize) {
        self.all.forget(pointer as u64, bytes as u64);
    }

    /// What is to be moved before a launch, which is one more.
    fn before_launch(
        &mut self,
        launch: &Launch,
        name: Option<&str>,
        words: &[u64],
        file: &'static Placement,
    ) -> Moving {
        let ordinal = self.launches;
        self.launches += 1;
        let site = *self.sites.entry(launch.shape).or_insert_with(|| {
            let same = |site: &Site| {
                let Shape { blocks, threads, .. } = launch.shape;
                site.name.as_deref() == name && (site.blocks, site.threads_per_block) == (blocks, threads)
            };
            file.recorded.kernels.iter().position(same)
        });
        let mut batch = Batch { stream: launch.stream as usize, ..Batch::default() };
        for word in words {
            let Some((begin, bytes, movable)) = self.all.at(*word) else { continue };
            movable.used_in = Some(launch.stream as usize);
            let allowed = movable.moves.to_device && site.is_some_and(|site| self.trial.allows(site));
            if allowed && batch.count < MOST && movable.is_elsewhere(begin, bytes) {
                movable.on_device = true;
                self.trial.log.brought(movable.buffer, bytes);
                batch.add(begin, bytes);
            }
            movable.seen = false;
        }
        let timed = self.trial.before_launch(ordinal, site, batch.count > 0, file);
        Moving { batch, ordinal: Some(ordinal), begin: None, timed: timed || self.borders_return(ordinal + 1) }
    }

    /// Whether anything goes to the host before a wait after so many launches.
    fn borders_return(&mut self, launches: u64) -> bool {
        self.all.each().any(|(_, _, movable)| movable.moves.to_host_after.contains(&launches))
    }

    /// What goes to the host before it waits for a stream, or for all: what was used in one of them.
    fn before_wait(&mut self, stream: Option<usize>) -> Batch {
        let launches = self.launches;
        let mut batch = Batch::default();
        for (begin, bytes, movable) in self.all.each() {
            let Some(used_in) = movable.used_in else { continue };
            let waited = stream.is_none_or(|stream| stream == used_in) && (batch.count == 0 || batch.stream == used_in);
            let asked = movable.moves.to_host_after.contains(&launches) && self.trial.returns(movable.buffer);
            if asked && waited && batch.count < MOST {
                (movable.on_device, movable.used_in, movable.seen) = (false, None, true);
                self.trial.log.returned(movable.buffer, bytes);
                self.trial.returning(movable.buffer);
                batch.stream = used_in;
                batch.add(begin, bytes);
            }
        }
        batch
    }

    /// The host has waited.
    fn after_wait(&mut self) {
        for (_, _, movable) in self.all.each() {
            movable.seen |= movable.used_in.take().is_some();
        }
    }

    /// Memory that is about to be filled as a whole, and has something in it that is not needed any more.
    fn before_fill(&mut self, pointer: u64, size: usize) -> Option<(u64, u64)> {
        let (begin, bytes, movable) = self.all.at(pointer)?;
        let whole = begin == pointer && size as u64 >= bytes;
        if !whole || !movable.moves.discard_before_fill || !movable.is_elsewhere(begin, bytes) {
            return None;
        }
        (movable.on_device, movable.seen) = (true, false);
        self.trial.log.discarded(movable.buffer);
        Some((begin, bytes))
    }
}

impl Movable {
    /// Whether any of it may be on the host. What was brought there is not, unless the host was seen to touch it.
    fn is_elsewhere(&self, begin: u64, bytes: u64) -> bool {
        if !self.on_device {
            return true;
        }
        self.seen && !self.stays && bytes >= SMALLEST && mapped(begin, bytes).is_none_or(|mapped| mapped.share() > 0.0)
    }
}

/// A file that moves anything, and what is known of the process.
fn moving() -> Option<(&'static Applied, &'static Placement)> {
    let applied = Applied::current()?;
    applied.moves().map(|file| (applied, file))
}

/// A kernel is about to be launched: moves what it uses. What goes into graphs moves nothing.
///
/// # Safety
/// The launch has the parameters that its kernel has.
pub unsafe fn launching(launch: &Launch, captured: bool) -> Moving {
    let Some((applied, file)) = moving().filter(|_| !captured) else { return Moving::default() };
    // SAFETY: the caller says so.
    let Some(moving) = (unsafe { decided(launch, applied, file) }) else { return Moving::default() };
    let begin = moving.timed.then(|| Event::of(launch.stream)).flatten();
    if moving.batch.count > 0 && moving.batch.bring(Way::Device) != 0 {
        applied.told(|known| known.movables.trial.log.refused());
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

/// The host is about to wait: what it touches then goes there.
pub fn waiting(stream: Option<*mut c_void>) {
    let Some((applied, _)) = moving() else { return };
    let batch = applied.told(|known| known.movables.before_wait(stream.map(|stream| stream as usize)));
    let Some(batch) = batch.filter(|batch| batch.count > 0) else { return };
    if batch.bring(Way::Host) != 0 {
        applied.told(|known| known.movables.trial.log.refused());
    }
}

/// It has waited: what was measured can be read.
pub fn waited() {
    let Some((applied, file)) = moving() else { return };
    let Some(mut rounds) = applied.told(|known| {
        known.movables.after_wait();
        known.movables.trial.after_wait()
    }) else {
        return;
    };
    guarded(|| rounds.iter_mut().for_each(|round| round.read()));
    applied.told(|known| known.movables.trial.judge(rounds, file));
}

/// Memory is about to be filled: what is in it need not move.
pub fn filling(pointer: *const c_void, size: usize, stream: *mut c_void) {
    let Some((applied, _)) = moving().filter(|_| !stream.is_null()) else { return };
    let asked = applied.told(|known| known.movables.before_fill(pointer as u64, size)).flatten();
    let Some(piece) = asked else { return };
    let status = behind::discard(piece.0, piece.1, stream);
    if status != 0 || behind::bring(Way::Device, &[piece], stream) != 0 {
        applied.told(|known| known.movables.trial.log.refused());
    }
}
