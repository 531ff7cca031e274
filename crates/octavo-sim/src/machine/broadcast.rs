//! Stores to pages that several GPUs subscribe to (GPS): coalesced in a write queue, then sent to every subscriber.

use octavo_manager::ProcessorId;
use octavo_program::LINE_BYTES;

use crate::fabric::links::Traffic;
use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::run::Run;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{Happening, Listen, Spent};

impl<L: Listen> Hardware<'_, L> {
    /// Queues the lines of a store that was done locally by `done`. A full queue sends its oldest line first, and the
    /// store is not over before that line is on its way: a saturated link slows the stores down.
    pub fn broadcast_stores(&mut self, gpu: usize, run: Run, done: u64) -> u64 {
        let mut over = done;
        for line in run.line()..run.line() + u64::from(run.count()) {
            if let Some(oldest) = self.broadcast.queue(gpu, line) {
                over = over.max(self.send_to_subscribers(gpu, oldest, done));
            }
        }
        self.say(Happening::Spent(Spent::Duplication, (over - done) * u64::from(run.count())));
        over
    }

    /// Empties all queues at the end of a kernel; returns when the last line has arrived.
    pub fn flush_broadcasts(&mut self) -> u64 {
        let mut last = self.clock.now();
        for gpu in 0..self.gpus.len() {
            while let Some(line) = self.broadcast.take_oldest(gpu) {
                last = last.max(self.send_to_subscribers(gpu, line, self.clock.now()));
            }
        }
        last
    }

    /// Sends one line to every other GPU that holds a replica of its page; returns when the last has it.
    fn send_to_subscribers(&mut self, gpu: usize, line: u64, time: u64) -> u64 {
        let page = self.page_of(line);
        let bytes = self.costs.header_bytes + LINE_BYTES;
        let mut last = time;
        for other in 0..self.gpus.len() {
            let entry = self.gpus[other].entry(page);
            let peer = ProcessorId::gpu(other);
            if other == gpu || !entry.is_valid() || !entry.is_broadcast() || entry.target() != peer.memory() {
                continue;
            }
            let path = (ProcessorId::gpu(gpu), peer);
            let arrived = self.links.send(self.clock.now(), time, path, bytes, Traffic::Lines);
            last = last.max(self.l2_line(other, line, LineAccess::Store, arrived));
            self.accesses.broadcast_lines += 1;
        }
        last
    }
}
