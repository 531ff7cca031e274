//! Copies between host memory and GPU memory (`cudaMemcpy`): one stream for each GPU that has some of the bytes. It
//! goes piece by piece, so that host memory, link and GPU memory work at the same time. Ordinary memory passes through
//! pinned memory of the driver (`host.costs.staging`): a piece begins when the one before it has been staged.

use octavo_manager::{HOST, Kind, MemoryId, PageId, PageRun, ProcessorId};
use octavo_program::Span;
use octavo_units::Bandwidth;

use crate::cpu::first_memory::Passed;
use crate::engine::event::Kind as EventKind;
use crate::fabric::links::Traffic;
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;
use crate::machine::phase::Doing;
use crate::machine::program::stream::{Direction, PIECE_BYTES, Stream};

/// The arrival of a piece, and the time when the next can begin so that the link never waits.
struct Piece {
    arrives: u64,
    next: u64,
}

impl<L: Listen> Node<'_, L> {
    /// The call, then a stream for each GPU that has some of the bytes.
    pub(super) fn begin_copies(&mut self, (job, id): Doing, from: &Span, to: &Span) {
        let whole = self.programs.of(job);
        let buffers = whole.program.buffers();
        let inward = buffers[to.buffer.index()].kind == Kind::Device;
        let (span, beside, direction) = if inward { (to, from, Direction::In) } else { (from, to, Direction::Out) };
        let address = |span: &Span| buffers[span.buffer.index()].buffer.base + span.bytes.start;
        let (device, host) = (address(span), address(beside));
        let shares = self.shares(device, device + span.bytes.end - span.bytes.start);
        let costs = &self.hardware.config.host.costs;
        let staging = direction.staging(buffers[beside.buffer.index()].kind, costs);
        let begins = self.hardware.clock.now() + costs.copy_call.0;
        self.programs.of(job).progress[id.index()].parts = shares.len() as u32;
        // One thread stages for all streams.
        let staging = staging.map(|rate| Bandwidth((rate.0 / shares.len().max(1) as u64).max(1)));
        for (gpu, mut left) in shares {
            left.reverse();
            let stream = Stream { action: (job, id), gpu, direction, device, host, left, last: 0, staging };
            let number = self.programs.copies.insert(stream);
            self.hardware.clock.schedule(begins, EventKind::CopyPiece, number);
        }
    }

    /// By GPU: the runs of pages between two addresses that it holds, none longer than a piece, and the bytes of each.
    fn shares(&self, start: u64, end: u64) -> Vec<(usize, Vec<(PageRun, u64)>)> {
        let page_bytes = self.hardware.page_bytes();
        let most = (PIECE_BYTES / page_bytes).max(1);
        let mut shares: Vec<Vec<(PageRun, u64)>> = vec![Vec::new(); self.hardware.gpus.len()];
        for page in start / page_bytes..end.div_ceil(page_bytes) {
            let view = self.driver.manager().page(PageId(page as u32));
            let bytes = ((page + 1) * page_bytes).min(end) - (page * page_bytes).max(start);
            let share = &mut shares[view.owner.gpu_index().expect("device memory lies on a GPU")];
            append(share, PageId(page as u32), bytes, most);
        }
        shares.into_iter().enumerate().filter(|(_, runs)| !runs.is_empty()).collect()
    }

    /// A stream continues with its next piece.
    pub(in crate::machine) fn copy_piece(&mut self, number: u32) {
        let stream = &mut self.programs.copies[number];
        let runs = stream.take_piece();
        let page_bytes = self.hardware.page_bytes();
        let further = match self.hardware.links.memories.is_empty() {
            true => Vec::new(),
            false => stream.further(&runs, page_bytes, self.driver.manager()),
        };
        let Piece { arrives, next } = match stream.direction {
            Direction::In => self.hardware.copy_in(stream.gpu, &runs, &further, stream.staged(total(&runs))),
            Direction::Out => self.hardware.copy_out(stream.gpu, &runs, &further, stream.staged(total(&runs))),
        };
        stream.last = stream.last.max(arrives);
        self.programs.done += 1;
        if !stream.left.is_empty() {
            return self.hardware.clock.schedule(next, EventKind::CopyPiece, number);
        }
        let Stream { action: (job, id), last, .. } = self.programs.copies.remove(number);
        if let Some(over) = self.programs.of(job).part_over(id, last) {
            self.schedule_end((job, id), over);
        }
    }
}

impl<L: Listen> Hardware<'_, L> {
    /// Memory of the host, link, memory of the GPU. Lines of these pages in the GPU's caches are stale.
    fn copy_in(&mut self, gpu: usize, runs: &[(PageRun, u64)], further: &[(MemoryId, u64)], staged: u64) -> Piece {
        let (now, bytes) = (self.clock.now(), total(runs));
        let read = self.stream_host(now, bytes, further, Passed::read).max(now + staged);
        let path = (HOST, ProcessorId::gpu(gpu));
        let arrived = self.links.send(now, read, path, bytes, Traffic::Copies);
        let mut arrives = arrived;
        for (pages, _) in runs {
            let (first, count) = self.lines(*pages);
            self.gpus[gpu].drop_lines(first, count);
            arrives = arrives.max(self.gpus[gpu].stream(now, arrived, first, count));
        }
        Piece { arrives, next: self.next_piece(read, arrived).max(now + staged) }
    }

    /// GPU memory, once dirty lines of its caches have reached it; link; host memory.
    fn copy_out(&mut self, gpu: usize, runs: &[(PageRun, u64)], further: &[(MemoryId, u64)], staged: u64) -> Piece {
        let (now, bytes) = (self.clock.now(), total(runs));
        let mut read = now;
        for (pages, _) in runs {
            let (first, count) = self.lines(*pages);
            let dirty = self.gpus[gpu].clean_lines(now, first, count);
            self.accesses.dram_writes += dirty;
            let clean = if dirty == 0 { now } else { self.gpus[gpu].stream(now, now, first, dirty) };
            read = read.max(self.gpus[gpu].stream(now, clean, first, count));
        }
        let path = (ProcessorId::gpu(gpu), HOST);
        let arrived = self.links.send(now, read, path, bytes, Traffic::Copies);
        Piece {
            arrives: self.stream_host(arrived, bytes, further, Passed::written).max(arrived + staged),
            next: self.next_piece(read, arrived).max(now + staged),
        }
    }

    /// Bytes of the host's memories, of which `further` are not in its first, are read or written, as `passed` says.
    fn stream_host(
        &mut self,
        time: u64,
        bytes: u64,
        further: &[(MemoryId, u64)],
        passed: impl Fn(u64) -> Passed,
    ) -> u64 {
        let now = self.clock.now();
        let first = bytes - further.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let mut over = time;
        if first > 0 {
            over = self.first_memory.access(now, time, passed(first));
        }
        for &(memory, bytes) in further {
            over = over.max(self.links.memories.access(now, time, memory, bytes, Traffic::Copies));
        }
        over
    }

    /// The time when the next piece must be read so that it arrives when the link has passed the previous one.
    fn next_piece(&self, read: u64, arrived: u64) -> u64 {
        let now = self.clock.now();
        let left = arrived.saturating_sub(self.costs.host_link);
        left.saturating_sub(read - now).max(now + 1)
    }
}

/// A page with this many of the bytes joins the last run that it follows, unless that has `most` pages.
fn append(runs: &mut Vec<(PageRun, u64)>, page: PageId, bytes: u64, most: u64) {
    match runs.last_mut() {
        Some((run, sum)) if run.first.0 + run.count == page.0 && u64::from(run.count) < most => {
            run.count += 1;
            *sum += bytes;
        }
        _ => runs.push((PageRun::one(page), bytes)),
    }
}

fn total(runs: &[(PageRun, u64)]) -> u64 {
    runs.iter().map(|(_, bytes)| bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_follow_one_another_are_one_run_up_to_a_piece() {
        let mut runs = Vec::new();
        for (page, bytes) in [(7, 96), (8, 4096), (9, 4096), (10, 4096), (12, 4096), (13, 5)] {
            append(&mut runs, PageId(page), bytes, 3);
        }
        let run = |first, count| PageRun { first: PageId(first), count };
        assert_eq!(runs, [(run(7, 3), 96 + 2 * 4096), (run(10, 1), 4096), (run(12, 2), 4096 + 5)]);
    }
}
