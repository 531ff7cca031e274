//! Managed memory that moves: where it is, and what should move when.

use std::collections::HashMap;
use std::ffi::c_void;

use crate::apply::batch::Batch;
use crate::apply::hosted::HostedMemory;
use crate::apply::placement::{Moves, Placement, Site};
use crate::apply::trial::Trial;
use crate::events::Event;
use crate::launch::{Launch, Shape, Wait};
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
    /// What lies on the host for its copies.
    pub hosted: HostedMemory,
    /// The cost and the gain of moves.
    pub trial: Trial,
}

/// The decision about a launch.
#[derive(Clone, Copy, Default)]
pub struct Moving {
    /// What leaves before it, and what comes then.
    pub leaving: Batch,
    pub batch: Batch,
    /// The number of the launch, if it is counted.
    pub ordinal: Option<u64>,
    /// Whether it is timed, and where it began.
    pub timed: bool,
    pub begin: Option<Event>,
}

impl Movables {
    /// Memory of a buffer was allocated.
    pub fn add(&mut self, pointer: *const c_void, bytes: usize, buffer: usize, moves: &'static Moves, stays: bool) {
        let movable = Movable { buffer, moves, stays, on_device: false, seen: false, used_in: None };
        self.all.add(pointer as u64, bytes as u64, movable);
    }

    /// Memory was freed, or something else lies there.
    pub fn forget(&mut self, pointer: *const c_void, bytes: usize) {
        self.all.forget(pointer as u64, bytes as u64);
        self.hosted.forget(pointer, bytes);
    }

    /// The moves before a launch; counts the launch.
    pub fn before_launch(
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
        let allowed = site.is_some_and(|site| self.trial.allows(site));
        let leaving = if allowed { self.leaving(ordinal, launch, words) } else { Batch::default() };
        let mut batch = Batch::default();
        batch.stream = launch.stream as usize;
        for word in words {
            let Some((begin, bytes, movable)) = self.all.at(*word) else { continue };
            movable.used_in = Some(launch.stream as usize);
            if allowed && movable.moves.to_device && !batch.is_full() && movable.is_elsewhere(begin, bytes) {
                movable.on_device = true;
                self.trial.log.brought(movable.buffer, bytes);
                batch.add(begin, bytes);
            }
            movable.seen = false;
        }
        let moves = !(batch.is_empty() && leaving.is_empty());
        let timed = self.trial.before_launch(ordinal, site, moves, self.hosted.is_there(), file);
        Moving { leaving, batch, ordinal: Some(ordinal), begin: None, timed: timed || self.borders_return(ordinal + 1) }
    }

    /// What goes to the host before a launch that does not use it: it is needed later than what comes, and no other
    /// stream may be at work on it.
    fn leaving(&mut self, ordinal: u64, launch: &Launch, words: &[u64]) -> Batch {
        let mut leaving = Batch::default();
        leaving.stream = launch.stream as usize;
        for (begin, bytes, movable) in self.all.each() {
            let asked = movable.on_device && movable.moves.to_host_before.contains(&ordinal);
            let used = words.iter().any(|word| (begin..begin + bytes).contains(word));
            let busy = movable.used_in.is_some_and(|stream| stream != leaving.stream);
            if asked && !used && !busy && !leaving.is_full() {
                (movable.on_device, movable.used_in, movable.seen) = (false, None, false);
                self.trial.log.returned(movable.buffer, bytes);
                leaving.add(begin, bytes);
            }
        }
        leaving
    }

    /// Whether anything goes to the host before a wait after this many launches.
    fn borders_return(&mut self, launches: u64) -> bool {
        self.all.each().any(|(_, _, movable)| movable.moves.to_host_after.contains(&launches))
    }

    /// The memory that goes to the host before it waits: memory used in one of the streams that it waits for.
    pub fn before_wait(&mut self, wait: Wait) -> Batch {
        let launches = self.launches;
        let mut batch = Batch::default();
        for (begin, bytes, movable) in self.all.each() {
            let Some(used_in) = movable.used_in else { continue };
            let waited = wait.covers(used_in) && (batch.is_empty() || batch.stream == used_in);
            let asked = movable.moves.to_host_after.contains(&launches) && self.trial.returns(movable.buffer);
            if asked && waited && !batch.is_full() {
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
    pub fn after_wait(&mut self, wait: Wait) {
        for (_, _, movable) in self.all.each() {
            movable.seen |= movable.used_in.take_if(|stream| wait.may_cover(*stream)).is_some();
        }
    }

    /// Memory that is about to be filled as a whole, and has something in it that is not needed any more.
    pub fn before_fill(&mut self, pointer: u64, size: usize) -> Option<(u64, u64)> {
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
    /// Whether any of it may be on the host. Memory that was moved there no longer counts, unless the host was seen to
    /// touch it.
    fn is_elsewhere(&self, begin: u64, bytes: u64) -> bool {
        if !self.on_device {
            return true;
        }
        self.seen && !self.stays && bytes >= SMALLEST && mapped(begin, bytes).is_none_or(|mapped| mapped.share() > 0.0)
    }
}
