//! Cores of the host: which pages they reach, and the time of the lines that they read and write.

use octavo_manager::{HOST_MEMORY, MemoryId, PageRun};
use octavo_node::CpuConfig;
use octavo_program::LINE_BYTES;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cpu::first_memory::{FirstMemory, Passed};
use crate::cpu::thread::Chunk;
use crate::cpu::tlb::CoreTlb;
use crate::engine::slots::{Order, Slots};
use crate::fabric::links::Traffic;
use crate::fabric::memories::FurtherMemories;
use crate::gpu::translate::entry::{Entry, PageTable};

/// The work of the host's cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostAccesses {
    /// Lines of 64 bytes that they read.
    pub load_lines: u64,
    /// Lines that they wrote.
    pub store_lines: u64,
    /// Translations that they had to walk the page table for.
    pub walks: u64,
    /// Accesses that the kernel had to serve: first touches, and pages that were elsewhere.
    pub faults: u64,
    /// Of all lines, those in GPUs' memory, where cores reach it. Not listed if there are none.
    #[serde(skip_serializing_if = "crate::gpu::counts::is_zero")]
    pub gpu_lines: u64,
}

/// The memories other than the host's first, as its cores reach them.
pub(crate) trait Beyond {
    /// A core reads, or reads and writes back, a line of a page in `memory`, from `time` on; returns when it arrives.
    fn line(&mut self, now: u64, time: u64, memory: MemoryId, line: ChunkLine) -> u64;
}

/// One of the lines that a core touches.
#[derive(Clone, Copy)]
pub(crate) struct ChunkLine {
    pub page: u32,
    /// The number of lines before the page.
    pub index: u64,
    pub write: bool,
}

impl ChunkLine {
    /// How often it passes memory: written lines are fetched and written back.
    pub const fn passes(self) -> u64 {
        if self.write { 2 } else { 1 }
    }

    /// The bytes of that.
    const fn passed(self) -> Passed {
        Passed { read: LINE_BYTES, written: (self.passes() - 1) * LINE_BYTES }
    }
}

impl Beyond for FurtherMemories {
    fn line(&mut self, now: u64, time: u64, memory: MemoryId, line: ChunkLine) -> u64 {
        self.access(now, time, memory, line.passes() * LINE_BYTES, Traffic::Lines)
    }
}

/// Base pages of a huge page: 2 MiB of kernels with pages of 4 KiB.
const HUGE: u32 = 512;

/// The key of a huge page's translation, beyond the numbers of all pages.
const fn huge_tag(block: u32) -> u32 {
    1 << 31 | block
}

impl Chunk {
    /// The key of its page's translation.
    const fn tag(&self) -> u32 {
        if self.huge { huge_tag(self.page / HUGE) } else { self.page }
    }
}

/// The host's cores.
pub(crate) struct Cpu {
    cores: Vec<Core>,
    table: PageTable,
    issue: u64,
    walk: u64,
    /// Whether a huge page was ever touched: without one, no core keeps translations of them.
    has_huge: bool,
    accesses: HostAccesses,
}

struct Core {
    in_flight: Slots,
    tlb: CoreTlb,
    /// Threads that run on it.
    threads: u32,
    /// The time when it can issue the next of them.
    free: u64,
}

/// The result of lines that a core should touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    /// When the core can issue the next line.
    pub next: u64,
    /// When the last line has arrived.
    pub done: u64,
}

impl Cpu {
    /// A host whose page table has this many pages, none of them mapped.
    pub fn new(config: &CpuConfig, pages: usize) -> Self {
        let in_flight = || Slots::new(config.lines_in_flight, Order::Requests);
        let core = || Core { in_flight: in_flight(), tlb: CoreTlb::new(&config.tlb), threads: 0, free: 0 };
        Self {
            cores: (0..config.cores).map(|_| core()).collect(),
            table: PageTable::new(pages),
            issue: config.line_issue.0,
            walk: config.tlb.walk.0,
            has_huge: false,
            accesses: HostAccesses::default(),
        }
    }

    pub const fn accesses(&self) -> HostAccesses {
        self.accesses
    }

    /// A thread begins on the core that has fewest, the first of several.
    pub fn take_core(&mut self) -> usize {
        let fewest = self.cores.iter().enumerate().min_by_key(|(_, core)| core.threads);
        let core = fewest.expect("a host has cores").0;
        self.cores[core].threads += 1;
        core
    }

    /// A thread on that core has ended.
    pub fn leave_core(&mut self, core: usize) {
        self.cores[core].threads -= 1;
    }

    /// Whether cores can touch `page` without the kernel.
    pub fn allows(&self, page: u32, write: bool) -> bool {
        self.table.get(page).allows(write)
    }

    /// A core needs the kernel.
    pub fn count_fault(&mut self) {
        self.accesses.faults += 1;
    }

    /// Cores can touch these pages, which lie in `memory`, from now on.
    pub fn map(&mut self, pages: PageRun, memory: MemoryId, writable: bool) {
        let entry = Entry::new(memory, writable, false);
        pages.iter().for_each(|page| _ = self.table.set(page, entry));
    }

    /// Cores can no longer touch (or write) these pages.
    pub fn withdraw(&mut self, pages: PageRun, protect: bool) {
        if protect {
            self.table.protect(pages);
        } else {
            self.table.invalidate(pages);
        }
        let last = pages.first.0 + pages.count - 1;
        for core in &mut self.cores {
            pages.iter().for_each(|page| core.tlb.forget(page.0));
            if self.has_huge {
                (pages.first.0 / HUGE..=last / HUGE).for_each(|block| core.tlb.forget(huge_tag(block)));
            }
        }
    }

    /// A core touches lines of one page from `time` on. A line that is written is fetched first and written back later:
    /// it passes the memory's bandwidth twice. `first` is the host's first memory, `beyond` all others.
    pub fn touch(
        &mut self,
        now: u64,
        core: usize,
        time: u64,
        chunk: &Chunk,
        (first, beyond): (&mut FirstMemory, &mut impl Beyond),
    ) -> Touched {
        let memory = self.table.get(chunk.page).target();
        self.has_huge |= chunk.huge;
        let state = &mut self.cores[core];
        // Threads of one core take turns, page by page.
        let mut next = time.max(state.free);
        if !state.tlb.look_up(chunk.tag()) {
            self.accesses.walks += 1;
            next += self.walk;
        }
        let line = |index| ChunkLine { page: chunk.page, index: chunk.first + index, write: chunk.write };
        let mut done = next;
        for index in 0..chunk.lines {
            let start = state.in_flight.available(now, next);
            let there = if memory == HOST_MEMORY {
                first.access(now, start, line(index).passed())
            } else {
                beyond.line(now, start, memory, line(index))
            };
            state.in_flight.take(now, start, there);
            (next, done) = (start + self.issue, done.max(there));
        }
        state.free = next;
        let counter = if chunk.write { &mut self.accesses.store_lines } else { &mut self.accesses.load_lines };
        *counter += chunk.lines;
        self.accesses.gpu_lines += if memory.on_host() { 0 } else { chunk.lines };
        Touched { next, done }
    }
}

#[cfg(test)]
mod tests {
    use octavo_manager::PageId;
    use octavo_node::CpuTlbConfig;
    use octavo_units::{Bandwidth, Time};

    use super::*;

    /// 8 lines in flight, 100 ns to memory, 64 GB/s (1 ns a line), walks of 50 ns.
    fn cpu(cores: u32) -> (Cpu, FirstMemory) {
        let config = CpuConfig {
            cores,
            lines_in_flight: 8,
            line_issue: Time(1_000),
            memory_latency: Time(100_000),
            memory_bandwidth: Bandwidth(64_000_000_000),
            tlb: CpuTlbConfig { entries: 16, ways: 4, walk: Time(50_000) },
        };
        (Cpu::new(&config, 64), FirstMemory::new(&config))
    }

    fn one_memory() -> FurtherMemories {
        FurtherMemories::of(std::iter::empty())
    }

    fn page(number: u32, write: bool) -> Chunk {
        Chunk { page: number, huge: false, first: 0, lines: 64, write }
    }

    #[test]
    fn a_core_alone_waits_for_its_lines_in_flight() {
        let (mut cpu, mut first) = cpu(1);
        let done = cpu.touch(0, 0, 0, &page(0, false), (&mut first, &mut one_memory())).done;
        // A walk, then eight rounds of eight lines: 100 ns and what their issue takes.
        let (low, high) = (50_000 + 8 * 100_000, 50_000 + 8 * 110_000);
        assert!((low..=high).contains(&done), "{done}");
        assert_eq!((cpu.accesses().load_lines, cpu.accesses().walks), (64, 1));
    }

    #[test]
    fn many_cores_share_the_bandwidth_and_stores_take_it_twice() {
        let time = |write: bool| {
            let (mut cpu, mut first) = cpu(32);
            let mut touch =
                |core: usize| cpu.touch(0, core, 0, &page(core as u32, write), (&mut first, &mut one_memory())).done;
            let ends = (0..32).map(&mut touch).max().unwrap();
            let written = if write { 32 * 64 * 64 } else { 0 };
            assert_eq!(first.passed(), Passed { read: 32 * 64 * 64, written });
            ends
        };
        // 2,048 lines of 1 ns each, or 2 ns; at most what the last core alone takes comes on top.
        let alone = 850_000;
        assert!((2_048_000..2_048_000 + alone).contains(&time(false)), "{}", time(false));
        assert!((4_096_000..4_096_000 + alone).contains(&time(true)), "{}", time(true));
    }

    /// Notes which lines of pages are touched.
    struct Noted(Vec<(u32, u64)>);

    impl Beyond for Noted {
        fn line(&mut self, _now: u64, time: u64, _memory: MemoryId, line: ChunkLine) -> u64 {
            self.0.push((line.page, line.index));
            time
        }
    }

    #[test]
    fn lines_in_the_memory_of_a_gpu_are_those_that_are_touched() {
        let ((mut cpu, mut first), mut noted) = (cpu(1), Noted(Vec::new()));
        cpu.map(PageRun::one(PageId(5)), MemoryId::gpu(0), true);
        cpu.touch(
            0,
            0,
            0,
            &Chunk { page: 5, huge: false, first: 61, lines: 3, write: false },
            (&mut first, &mut noted),
        );
        assert_eq!(noted.0, [(5, 61), (5, 62), (5, 63)]);
    }

    #[test]
    fn another_memory_has_its_own_latency_and_bandwidth() {
        let time = |write: bool| {
            // 32 GB/s: 2 ns a line that is read, 4 ns one that is written.
            let mut further = FurtherMemories::of([(Bandwidth(32_000_000_000), Time(400_000))].into_iter());
            let (mut cpu, mut first) = cpu(1);
            cpu.map(PageRun::one(PageId(0)), MemoryId::host(1), true);
            let done = cpu.touch(0, 0, 0, &page(0, write), (&mut first, &mut further)).done;
            assert_eq!(
                further.usage().map(|used| used.busy).collect::<Vec<_>>(),
                [if write { 256_000 } else { 128_000 }]
            );
            done
        };
        // A walk, then eight rounds of eight lines; a line of the next round begins when one of this one is there.
        for (write, line) in [(false, 2_000), (true, 4_000)] {
            let (low, high) = (50_000 + 8 * (400_000 + line), 50_000 + 8 * (400_000 + 8 * line));
            assert!((low..=high).contains(&time(write)), "{} of {low} to {high}", time(write));
        }
    }

    #[test]
    fn one_walk_is_enough_for_a_huge_page() {
        let (mut cpu, mut first) = cpu(1);
        let huge = |number| Chunk { huge: true, ..page(number, false) };
        cpu.map(PageRun { first: PageId(0), count: 64 }, HOST_MEMORY, true);
        for number in 0..64 {
            cpu.touch(0, 0, 0, &huge(number), (&mut first, &mut one_memory()));
        }
        assert_eq!(cpu.accesses().walks, 1);
        // One of its pages goes, and with it the one translation.
        cpu.withdraw(PageRun::one(PageId(9)), false);
        cpu.touch(0, 0, 0, &huge(8), (&mut first, &mut one_memory()));
        assert_eq!(cpu.accesses().walks, 2);
    }

    #[test]
    fn what_is_withdrawn_is_walked_for_again() {
        let (mut cpu, mut first) = cpu(2);
        let run = PageRun::one(PageId(3));
        assert!(!cpu.allows(3, false));
        cpu.map(run, HOST_MEMORY, true);
        cpu.touch(0, 1, 0, &page(3, true), (&mut first, &mut one_memory()));
        cpu.withdraw(run, true);
        assert_eq!([false, true].map(|write| cpu.allows(3, write)), [true, false]);
        cpu.touch(0, 1, 0, &page(3, false), (&mut first, &mut one_memory()));
        cpu.withdraw(run, false);
        assert!(!cpu.allows(3, false));
        assert_eq!(cpu.accesses().walks, 2);
    }
}
