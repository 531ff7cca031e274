//! Hardware access counters: remote lines by (GPU, group of pages), notified once at the threshold.

use octavo_driver::slab::Slab;
use octavo_manager::{CounterNotification, CounterSpec, HOST, PageId, PageRun, ProcessorId};

use crate::engine::event::Kind;
use crate::fabric::links::Traffic;
use crate::machine::hardware::Hardware;

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
    fn add(&mut self, gpu: usize, page: u32, lines: u32) -> bool {
        let Some(spec) = self.spec else { return false };
        let count = &mut self.counts[gpu][page as usize >> spec.group_pages.trailing_zeros()];
        if *count >= spec.threshold {
            return false;
        }
        *count += lines;
        *count >= spec.threshold
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

impl Hardware<'_> {
    /// Counts remote lines of `gpu`; a notification leaves for the host when the threshold is reached.
    #[inline]
    pub fn count_remote(&mut self, gpu: usize, page: u32, owner: ProcessorId, lines: u32, time: u64) {
        match owner.gpu_index() {
            Some(_) => self.accesses.remote_gpu_lines += u64::from(lines),
            None => self.accesses.remote_host_lines += u64::from(lines),
        }
        self.reports.count(gpu, page, lines);
        self.recorder.remote_lines(page, lines);
        if self.counters.add(gpu, page, lines) {
            self.notify(gpu, page, time);
        }
    }

    fn notify(&mut self, gpu: usize, page: u32, time: u64) {
        let processor = ProcessorId::gpu(gpu);
        let notification = CounterNotification { processor, page: PageId(page) };
        let number = self.counters.notifications.insert(notification);
        let arrives = self.links.send(self.now, time, (processor, HOST), self.costs.fault_bytes, Traffic::Control);
        self.schedule(arrives, Kind::CounterArrives, number);
    }

    /// A notification reaches the driver.
    pub fn counter_arrives(&mut self, number: u32) -> CounterNotification {
        let notification = self.counters.notifications.remove(number);
        self.recorder.notification(self.now, notification.processor, notification.page.0);
        notification
    }
}
