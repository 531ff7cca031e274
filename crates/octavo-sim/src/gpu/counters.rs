//! Hardware access counters: remote lines by (GPU, group of pages), notified once at the threshold.

use octavo_driver::slab::Slab;
use octavo_manager::{CounterNotification, CounterSpec, PageRun};

pub(crate) struct Counters {
    spec: Option<CounterSpec>,
    /// By GPU, then group. A counter stops at the threshold until it is cleared.
    counts: Vec<Vec<u32>>,
    notifications: Slab<CounterNotification>,
}

impl Counters {
    pub fn new(spec: Option<CounterSpec>, gpus: usize, pages: usize) -> Self {
        let groups = spec.map_or(0, |spec| pages.div_ceil(spec.group_pages as usize));
        Self { spec, counts: vec![vec![0; groups]; gpus], notifications: Slab::default() }
    }

    /// Adds remote lines; `true` when that reached the threshold.
    #[inline]
    pub fn add(&mut self, gpu: usize, page: u32, lines: u32) -> bool {
        let Some(spec) = self.spec else { return false };
        let count = &mut self.counts[gpu][page as usize >> spec.group_pages.trailing_zeros()];
        if *count >= spec.threshold {
            return false;
        }
        *count += lines;
        *count >= spec.threshold
    }

    /// A notification leaves for the host; its number.
    pub fn sent(&mut self, notification: CounterNotification) -> u32 {
        self.notifications.insert(notification)
    }

    /// A notification reaches the driver.
    pub fn arrived(&mut self, number: u32) -> CounterNotification {
        self.notifications.remove(number)
    }

    /// Clears the counters of every group that contains one of `pages`, for every GPU.
    pub fn clear(&mut self, pages: PageRun) {
        let Some(spec) = self.spec else { return };
        let first = pages.first.0 / spec.group_pages;
        let last = (pages.first.0 + pages.count - 1) / spec.group_pages;
        for counts in &mut self.counts {
            counts[first as usize..=last as usize].fill(0);
        }
    }
}
