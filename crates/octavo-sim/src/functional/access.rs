//! An access: from its page's entry to the memory that serves it, or to the driver and again.

use octavo_driver::Entry;
use octavo_manager::{Access, CounterNotification, Fault, HOST, PageId, ProcessorId};
use octavo_program::Op;

use crate::functional::counts::Kind;
use crate::functional::executor::Free;
use crate::functional::machine::Machine;
use crate::machine::occurrence::{Happening, Listen};

/// How often an access is tried before it counts as stuck. One fault is mostly enough; a store may need a second one
/// after a load's, and a prefetch may take a page away again.
const TRIES: u32 = 64;

impl<L: Listen> Machine<L> {
    /// Accesses the lines of a memory operation of `gpu`, page by page.
    #[inline]
    pub fn access(&mut self, gpu: usize, op: Op, kind: Kind) {
        let (line, count) = (op.line(), u64::from(op.count()));
        let lines_left = (1 << self.page_line_shift) - (line & ((1 << self.page_line_shift) - 1));
        if count <= lines_left {
            self.access_page(gpu, (line >> self.page_line_shift) as u32, count as u32, kind);
        } else {
            self.access_pages(gpu, line, count, kind);
        }
    }

    #[inline(never)]
    fn access_pages(&mut self, gpu: usize, line: u64, count: u64, kind: Kind) {
        let (mut line, end) = (line, line + count);
        while line < end {
            let page = line >> self.page_line_shift;
            let part_end = ((page + 1) << self.page_line_shift).min(end);
            self.access_page(gpu, page as u32, (part_end - line) as u32, kind);
            line = part_end;
        }
    }

    #[inline]
    fn access_page(&mut self, gpu: usize, page: u32, lines: u32, kind: Kind) {
        let processor = ProcessorId::gpu(gpu);
        let access = if kind == Kind::Store { Access::Write } else { Access::Read };
        let mut entry = self.tables.entries.entry(processor, PageId(page));
        if !entry.allows(access) {
            let Some(served) = self.fault(Fault { processor, page: PageId(page), access }) else { return };
            entry = served;
        }
        self.counts.serve(gpu, entry.target(), kind, lines);
        self.tables.say(Happening::Accessed { gpu, page, write: kind == Kind::Store });
        if entry.target() == processor.memory() {
            self.reports.count(gpu, page, lines);
        }
        let is_local = entry.target() == processor.memory();
        if !is_local {
            self.tables.say(Happening::RemoteLines { page, lines });
        }
        if kind == Kind::Store && entry.is_broadcast() {
            self.broadcast(gpu, page, lines);
        } else if !is_local {
            self.remote(gpu, page, lines);
        }
        self.count_lines(lines);
    }

    /// Stores go to every replica.
    fn broadcast(&mut self, gpu: usize, page: u32, lines: u32) {
        let subscribers = self.tables.subscribers(gpu, self.gpus, PageId(page));
        self.counts.broadcast_lines += u64::from(lines * subscribers);
    }

    /// Lines of another processor's memory: the counter of their pages may reach its threshold.
    fn remote(&mut self, gpu: usize, page: u32, lines: u32) {
        self.reports.count(gpu, page, lines);
        if self.tables.counters.add(gpu, page, lines) {
            self.notify(CounterNotification { processor: ProcessorId::gpu(gpu), page: PageId(page) });
        }
    }

    #[cold]
    fn notify(&mut self, notification: CounterNotification) {
        let CounterNotification { processor: gpu, page } = notification;
        self.tables.say(Happening::Notified { gpu, page: page.0 });
        self.drive(|driver, now, tables| driver.counter(now, notification, tables));
    }

    /// An access needs the driver: the entry that finally serves it; `None` if nothing progresses.
    #[inline(never)]
    pub fn fault(&mut self, fault: Fault) -> Option<Entry> {
        let needs = self.driver.manager().needs_of(fault.page);
        let forgiven = needs.free_faults || fault.access == Access::Write && needs.free_store_faults;
        let is_free = fault.processor != HOST && forgiven;
        for attempt in 0..TRIES {
            // Free accesses are requested once: a fault that has to wait then is one as any other.
            if is_free && attempt == 0 {
                self.resolve_for_free(fault)
            } else {
                self.resolve(fault)
            }
            if self.halted() {
                return None;
            }
            let entry = self.tables.entries.entry(fault.processor, fault.page);
            if entry.allows(fault.access) {
                return Some(entry);
            }
        }
        self.stuck = true;
        None
    }

    /// Has the driver serve a fault.
    fn resolve(&mut self, fault: Fault) {
        let Fault { processor, page, access } = fault;
        if let Some(gpu) = processor.gpu_index() {
            self.counts.fault(gpu);
            let write = access == Access::Write;
            self.tables.say(Happening::FaultArrives { fault: None, gpu: processor, page: page.0, write });
        }
        self.drive(|driver, now, tables| driver.faults(now, &[fault], tables));
        self.wait(fault);
    }

    /// Resolves a fault that costs nothing: where pages have a place from their allocation on.
    fn resolve_for_free(&mut self, fault: Fault) {
        let fault = Fault { access: Access::Write, ..fault };
        self.drive(|driver, now, tables| driver.resolve_at_once(now, &fault, &mut Free(tables)));
        self.drive(|driver, now, tables| driver.go_on(now, tables));
    }

    /// Skips ahead to the time that a strategy waits for.
    fn wait(&mut self, fault: Fault) {
        while !self.halted()
            && self.driver.outstanding().outstanding(fault.processor, fault.page).is_some()
            && self.skip_ahead()
        {}
    }
}
