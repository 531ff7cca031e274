//! Counters for each page, and their sums.

use std::ops::Range;

use serde::Serialize;

use crate::op::LINE_BYTES;

/// Accesses, in line transactions, and the pages they go to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// Bytes of all lines accessed at least once.
    pub touched_bytes: u64,
    /// Line transactions.
    pub accesses: u64,
    /// Line transactions of loads.
    pub loads: u64,
    /// Line transactions of stores.
    pub stores: u64,
    /// Share of stores in all line transactions; 0 without any.
    pub store_share: f64,
    /// Pages accessed by one GPU only.
    pub private: PageClass,
    /// Pages accessed by several GPUs.
    pub shared: PageClass,
    /// Shared pages that are only read.
    pub shared_read_only: PageClass,
    /// Shared pages that some GPU writes.
    pub shared_read_write: PageClass,
    /// Accessed pages by how many GPUs access them, from one to all.
    pub by_gpus: Vec<PageClass>,
    /// Pages among them that several GPUs access one after another, never two GPUs in one launch. By the number of
    /// GPUs.
    pub in_turn: Vec<PageClass>,
    /// Shared pages that some launches write and others only read.
    pub phased: PageClass,
}

/// Some of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PageClass {
    /// How many.
    pub pages: u64,
    /// Line transactions to them.
    pub accesses: u64,
    /// Line transactions of stores among these.
    pub stores: u64,
}

/// Counters of every page of the address space, flat.
pub(super) struct Pages {
    /// Binary logarithm of the lines of a page.
    line_shift: u32,
    counts: Vec<PageCounts>,
    /// One bit for each line ever accessed.
    lines: Vec<u64>,
    /// Launches that have begun.
    launch: u32,
}

#[derive(Clone, Copy, Default)]
struct PageCounts {
    /// One bit for each GPU that accesses the page.
    gpus: u128,
    loads: u64,
    stores: u64,
    /// The last launch that accesses it, and its kind of access.
    launch: u32,
    now: InLaunch,
    /// What launches before did.
    past: Past,
}

/// The kind of a launch's accesses to a page.
#[derive(Clone, Copy, Default)]
struct InLaunch {
    /// One bit for each GPU that accesses it.
    gpus: u128,
    writes: bool,
}

/// The kind of any launch's accesses to a page.
#[derive(Clone, Copy, Default)]
struct Past {
    /// Several GPUs accessed it in the same launch.
    together: bool,
    written: bool,
    /// A launch only read it.
    only_read: bool,
}

impl Past {
    fn add(&mut self, launch: InLaunch) {
        self.together |= launch.gpus.count_ones() > 1;
        self.written |= launch.writes;
        self.only_read |= launch.gpus != 0 && !launch.writes;
    }
}

impl Pages {
    /// Pages of `page_bytes` up to address `end`, none accessed.
    pub fn new(end: u64, page_bytes: u64) -> Self {
        Self {
            line_shift: (page_bytes / LINE_BYTES).ilog2(),
            counts: vec![PageCounts::default(); end.div_ceil(page_bytes) as usize],
            lines: vec![0; end.div_ceil(LINE_BYTES * 64) as usize],
            launch: 0,
        }
    }

    /// All further accesses belong to the next launch.
    pub fn begin_launch(&mut self) {
        self.launch += 1;
    }

    /// `gpu` loads `count` lines from `line` on.
    #[inline]
    pub fn load(&mut self, gpu: u32, line: u64, count: u32) {
        self.access(gpu, line, count, |page, lines| page.loads += lines);
    }

    /// `gpu` stores `count` lines from `line` on.
    #[inline]
    pub fn store(&mut self, gpu: u32, line: u64, count: u32) {
        self.access(gpu, line, count, |page, lines| {
            page.stores += lines;
            page.now.writes = true;
        });
    }

    #[inline]
    fn access(&mut self, gpu: u32, mut line: u64, count: u32, add: impl Fn(&mut PageCounts, u64)) {
        let end = line + u64::from(count);
        while line < end {
            let page = line >> self.line_shift;
            let stop = end.min((page + 1) << self.line_shift);
            let counts = &mut self.counts[page as usize];
            if counts.launch != self.launch {
                counts.past.add(counts.now);
                (counts.launch, counts.now) = (self.launch, InLaunch::default());
            }
            counts.gpus |= 1 << gpu;
            counts.now.gpus |= 1 << gpu;
            add(counts, stop - line);
            for line in line..stop {
                self.lines[(line / 64) as usize] |= 1 << (line % 64);
            }
            line = stop;
        }
    }

    /// The accesses to a buffer, which its lines and pages are counted for.
    pub fn traffic(&self, lines: Range<u64>, pages: Range<u64>, gpus: u32) -> Traffic {
        let touched = lines.filter(|line| self.lines[(line / 64) as usize] >> (line % 64) & 1 != 0).count();
        let mut traffic = Traffic::none(gpus);
        traffic.touched_bytes = touched as u64 * LINE_BYTES;
        for page in &self.counts[pages.start as usize..pages.end as usize] {
            traffic.add_page(page);
        }
        traffic.set_share();
        traffic
    }
}

impl PageClass {
    fn add(&mut self, other: Self) {
        self.pages += other.pages;
        self.accesses += other.accesses;
        self.stores += other.stores;
    }
}

impl Traffic {
    fn none(gpus: u32) -> Self {
        let none = vec![PageClass::default(); gpus as usize];
        Self { by_gpus: none.clone(), in_turn: none, ..Self::default() }
    }

    fn add_page(&mut self, page: &PageCounts) {
        if page.gpus == 0 {
            return;
        }
        let sharers = page.gpus.count_ones() as usize;
        let this = PageClass { pages: 1, accesses: page.loads + page.stores, stores: page.stores };
        self.loads += page.loads;
        self.stores += page.stores;
        self.accesses += this.accesses;
        self.by_gpus[sharers - 1].add(this);
        if sharers == 1 {
            return self.private.add(this);
        }
        self.shared.add(this);
        let mut past = page.past;
        past.add(page.now);
        if !past.together {
            self.in_turn[sharers - 1].add(this);
        }
        if past.written && past.only_read {
            self.phased.add(this);
        }
        if page.stores == 0 { self.shared_read_only.add(this) } else { self.shared_read_write.add(this) }
    }

    fn set_share(&mut self) {
        self.store_share = if self.accesses == 0 { 0.0 } else { self.stores as f64 / self.accesses as f64 };
    }

    /// All of `parts` together; each page belongs to one of them.
    pub(super) fn sum<'a>(parts: impl Iterator<Item = &'a Self>, gpus: u32) -> Self {
        let mut sum = Self::none(gpus);
        for part in parts {
            sum.touched_bytes += part.touched_bytes;
            sum.accesses += part.accesses;
            sum.loads += part.loads;
            sum.stores += part.stores;
            sum.private.add(part.private);
            sum.shared.add(part.shared);
            sum.shared_read_only.add(part.shared_read_only);
            sum.shared_read_write.add(part.shared_read_write);
            sum.phased.add(part.phased);
            sum.in_turn.iter_mut().zip(&part.in_turn).for_each(|(all, some)| all.add(*some));
            sum.by_gpus.iter_mut().zip(&part.by_gpus).for_each(|(all, some)| all.add(*some));
        }
        sum.set_share();
        sum
    }
}
