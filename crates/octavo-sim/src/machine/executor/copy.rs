//! How long copies of pages take.

use octavo_manager::{Cause, HOST_MEMORY, MemoryId, PageRun};
use octavo_program::LINE_BYTES;

use crate::cpu::first_memory::Passed;
use crate::fabric::links::Traffic;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{Happening, Listen};

impl<L: Listen> Hardware<'_, L> {
    /// Copies pages: the command, the source's memory, the link and the destination's memory. Copy engines stream: each
    /// of the three is booked from when the first byte moves. Otherwise they come in a row.
    pub(super) fn copy(&mut self, slot: u32, pages: PageRun, (from, to): (MemoryId, MemoryId), cause: Cause) -> u64 {
        self.say(Happening::Copied { pages, from, to, cause });
        let (_, lines) = self.lines(pages);
        let path = (from.processor(), to.processor());
        let (made, pieces) = self.host_frames_of(pages, from, to, cause);
        let follows = self.follows(slot, (from, to));
        let told = if follows { self.clock.now() } else { self.message() };
        let command = told + u64::from(made) * self.config.host.costs.frame.0;
        let Some(engines) = &self.config.copy_engines else {
            let read = self.read(command, pages, from, cause);
            let arrived = self.links.send(self.clock.now(), read, path, lines * LINE_BYTES, Traffic::of(cause));
            return self.write(arrived, pages, to, cause);
        };
        let ready = command + if follows { 0 } else { engines.setup.0 };
        let gaps = u64::from(pieces - 1) * engines.piece.0;
        let gpus = (from.gpu_index(), to.gpu_index());
        let begins = self.copy_engines.as_mut().map_or(ready, |busy| busy.begins(gpus, ready));
        let read = self.read(begins, pages, from, cause);
        let sent = self.links.send(self.clock.now(), begins, path, lines * LINE_BYTES, Traffic::of(cause));
        let sent = if follows { sent.saturating_sub(self.costs.host_link).max(begins) } else { sent };
        let arrived = read.max(sent).max(self.write(begins, pages, to, cause)) + gaps;
        match &mut self.copy_engines {
            Some(busy) => busy.ends(gpus, lines * LINE_BYTES, (begins, arrived)),
            None => arrived,
        }
    }

    /// Whether an engine got the copy with one before it, as batched copies of a plan.
    fn follows(&mut self, slot: u32, ends: (MemoryId, MemoryId)) -> bool {
        self.batches() && ends.0.on_host() != ends.1.on_host() && self.told.copy(slot, ends)
    }

    /// Whether the copies of a plan are one command, and its entries another.
    pub(super) fn batches(&self) -> bool {
        self.config.copy_engines.as_ref().is_some_and(|engines| engines.batched)
    }

    /// How many frames the host makes for a copy, and of how many pieces it is. The operating system's pages are its
    /// own business.
    fn host_frames_of(&mut self, pages: PageRun, from: MemoryId, to: MemoryId, cause: Cause) -> (u32, u32) {
        let system = self.is_system(pages);
        let Some(frames) = self.host_frames.as_mut().filter(|_| !system) else { return (0, 1) };
        let made = if to.on_host() { frames.receive(pages) } else { 0 };
        let pieces = if from.on_host() || to.on_host() { frames.pieces(pages) } else { 1 };
        if from.on_host() && !to.on_host() && !cause.keeps_source() {
            frames.give_up(pages);
        }
        (made, pieces)
    }

    /// Pages are read from `time` on, after dirty lines of caches have been written to memory; returns the arrival of
    /// the last line.
    fn read(&mut self, time: u64, pages: PageRun, from: MemoryId, cause: Cause) -> u64 {
        let (first, lines) = self.lines(pages);
        match from.gpu_index() {
            Some(gpu) => {
                let clean = self.write_back(gpu, pages, time, Some(cause));
                self.gpus[gpu].stream(self.clock.now(), clean, first, lines)
            }
            None if from == HOST_MEMORY => {
                self.begin_on_host(time, Passed::read(lines * LINE_BYTES)) + self.costs.host_memory
            }
            None => self.access_further(time, from, lines, Traffic::of(cause)),
        }
    }

    /// Pages are written from `time` on; returns the arrival of the last line.
    fn write(&mut self, time: u64, pages: PageRun, to: MemoryId, cause: Cause) -> u64 {
        let (first, lines) = self.lines(pages);
        match to.gpu_index() {
            Some(gpu) => {
                let state = &mut self.gpus[gpu];
                debug_assert!(!state.holds_any(first, lines), "lines of a page leave the cache with the page");
                state.stream(self.clock.now(), time, first, lines)
            }
            None if to == HOST_MEMORY => self.begin_on_host(time, Passed::written(lines * LINE_BYTES)),
            None => self.access_further(time, to, lines, Traffic::of(cause)),
        }
    }

    /// The time when copies of pages can begin to read or write the host's first memory: at once, but after others'
    /// bookings if coherent GPUs share it with cores.
    pub(super) fn begin_on_host(&mut self, time: u64, bytes: Passed) -> u64 {
        if self.system.is_none() {
            return time;
        }
        self.first_memory.begin(self.clock.now(), time, bytes)
    }
}
