//! The operating system's page table where GPUs share it: which pages it leads to, walks that GPUs ask for, and the
//! kernel's time for pages that GPUs touch first and that move.

use octavo_manager::PageRun;
use octavo_node::CoherenceConfig;

use crate::engine::pool::Pool;

/// Pages of one word of the map.
const WORD: u32 = u64::BITS;

/// The host's page table, as coherent GPUs use it.
pub(crate) struct SystemTable {
    /// A bit for each page: whether it is the operating system's.
    pages: Vec<u64>,
    walkers: Pool,
    walk: u64,
    kernel: Pool,
    first_touch: u64,
}

impl SystemTable {
    /// For a node with this many pages, none of which exists yet.
    pub fn new(config: &CoherenceConfig, pages: usize) -> Self {
        Self {
            pages: vec![0; pages.div_ceil(WORD as usize)],
            walkers: Pool::new(config.walkers),
            walk: config.walk.0,
            kernel: Pool::new(config.first_touch_cores),
            first_touch: config.first_touch.0,
        }
    }

    /// These pages are the operating system's from now on.
    pub fn allocate(&mut self, run: PageRun) {
        run.iter().for_each(|page| self.pages[page.index() / WORD as usize] |= 1 << (page.0 % WORD));
    }

    /// They are no more.
    pub fn free(&mut self, run: PageRun) {
        run.iter().for_each(|page| self.pages[page.index() / WORD as usize] &= !(1 << (page.0 % WORD)));
    }

    /// Whether the page is the operating system's.
    pub fn contains(&self, page: u32) -> bool {
        self.pages[(page / WORD) as usize] >> (page % WORD) & 1 != 0
    }

    /// The end of a walk for a GPU's request, which arrives at `time`.
    pub fn walk(&mut self, time: u64) -> u64 {
        self.walkers.reserve(time, self.walk)
    }

    /// The time when the kernel has made entries for this many pages that GPUs touch first, one after another.
    pub fn first_touch(&mut self, time: u64, pages: u32) -> u64 {
        self.kernel.reserve(time, u64::from(pages) * self.first_touch)
    }

    /// The time when the kernel, which also serves first touches, has done work of that duration.
    pub fn work(&mut self, time: u64, duration: u64) -> u64 {
        self.kernel.reserve(time, duration)
    }
}

#[cfg(test)]
mod tests {
    use octavo_manager::PageId;
    use octavo_node::GpuMemory;
    use octavo_units::Time;

    use super::*;

    fn table() -> SystemTable {
        let config = CoherenceConfig {
            gpu_memory: GpuMemory::Numa,
            walk: Time(200),
            walkers: 2,
            first_touch: Time(1_000),
            first_touch_cores: 1,
            cpu_latency: Time(800),
        };
        SystemTable::new(&config, 200)
    }

    #[test]
    fn pages_come_and_go() {
        let mut table = table();
        let run = PageRun { first: PageId(60), count: 70 };
        table.allocate(run);
        assert_eq!([59, 60, 129, 130].map(|page| table.contains(page)), [false, true, true, false]);
        table.free(PageRun { count: 10, ..run });
        assert_eq!([60, 69, 70].map(|page| table.contains(page)), [false, false, true]);
    }

    #[test]
    fn first_touches_wait_for_one_another_and_walks_for_a_walker() {
        let mut table = table();
        assert_eq!([0, 0, 0].map(|time| table.walk(time)), [200, 200, 400]);
        assert_eq!([table.first_touch(0, 2), table.first_touch(0, 1), table.work(100, 50)], [2_000, 3_000, 3_050]);
    }
}
