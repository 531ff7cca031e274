//! Periodic reports of each GPU's accesses to each page, for policies that ask for them.

use octavo_driver::slab::Slab;
use octavo_manager::{AccessCount, HOST, PageId, ProcessorId, ReportSpec};

use crate::engine::event::Kind;
use crate::fabric::links::Traffic;
use crate::machine::hardware::Hardware;

pub(crate) struct Reports {
    spec: Option<ReportSpec>,
    /// Lines by GPU, then page, since the last report; empty when nobody asks.
    counts: Vec<Vec<u32>>,
    /// Pages with a count, by GPU.
    touched: Vec<Vec<u32>>,
    /// Reports under way to the driver.
    sent: Slab<Vec<AccessCount>>,
}

impl Reports {
    pub fn new(spec: Option<ReportSpec>, gpus: usize, pages: usize) -> Self {
        let pages = if spec.is_some() { pages } else { 0 };
        Self { spec, counts: vec![vec![0; pages]; gpus], touched: vec![Vec::new(); gpus], sent: Slab::default() }
    }

    /// Time between reports, if there are any.
    pub fn period(&self, cycle: u64) -> Option<u64> {
        self.spec.map(|spec| spec.period_cycles * cycle)
    }

    /// Counts lines that left the first-level cache.
    #[inline]
    pub fn count(&mut self, gpu: usize, page: u32, lines: u32) {
        if self.spec.is_none() || lines == 0 {
            return;
        }
        let count = &mut self.counts[gpu][page as usize];
        if *count == 0 {
            self.touched[gpu].push(page);
        }
        *count = count.saturating_add(lines);
    }

    /// A report has reached the driver.
    pub fn arrived(&mut self, number: u32) -> Vec<AccessCount> {
        self.sent.remove(number)
    }

    /// Takes the counts of one GPU in ascending order of pages.
    fn take(&mut self, gpu: usize, into: &mut Vec<AccessCount>) {
        let touched = &mut self.touched[gpu];
        touched.sort_unstable();
        for page in touched.drain(..) {
            let lines = std::mem::take(&mut self.counts[gpu][page as usize]);
            into.push(AccessCount { processor: ProcessorId::gpu(gpu), page: PageId(page), lines });
        }
    }
}

impl Hardware<'_> {
    /// All GPUs send their counts to the host; the driver has them when the last have arrived.
    pub fn report_due(&mut self) {
        let Some(spec) = self.reports.spec else { return };
        let mut counts = Vec::new();
        let mut arrives = self.now;
        for gpu in 0..self.gpus.len() {
            let before = counts.len();
            self.reports.take(gpu, &mut counts);
            let bytes = (counts.len() - before) as u64 * u64::from(spec.entry_bytes);
            if bytes > 0 {
                let path = (ProcessorId::gpu(gpu), HOST);
                arrives = arrives.max(self.links.send(self.now, self.now, path, bytes, Traffic::Control));
            }
        }
        if !counts.is_empty() {
            counts.sort_unstable_by_key(|count| (count.page, count.processor));
            let number = self.reports.sent.insert(counts);
            self.schedule(arrives, Kind::ReportArrives, number);
        }
        self.schedule_periodic(self.now + spec.period_cycles * self.costs.cycle, Kind::ReportDue);
    }
}
