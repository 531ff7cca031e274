//! Periodic reports of each GPU's accesses to each page, for policies that ask for them.

use octavo_driver::slab::Slab;
use octavo_manager::{AccessCount, PageId, PageRun, ProcessorId, ReportSpec};

pub(crate) struct Reports {
    spec: Option<ReportSpec>,
    /// Lines by GPU, then page, since the last report; empty if reports are off.
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

    /// Bytes of an entry of a report.
    pub fn entry_bytes(&self) -> u64 {
        self.spec.map_or(0, |spec| spec.entry_bytes.into())
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

    /// A report leaves for the driver; its number.
    pub fn sent(&mut self, counts: Vec<AccessCount>) -> u32 {
        self.sent.insert(counts)
    }

    /// A report has reached the driver.
    pub fn arrived(&mut self, number: u32) -> Vec<AccessCount> {
        self.sent.remove(number)
    }

    /// The state of pages ends with their memory, including accesses in progress.
    pub fn clear(&mut self, pages: PageRun) {
        if self.spec.is_none() {
            return;
        }
        for (counts, touched) in self.counts.iter_mut().zip(&mut self.touched) {
            counts[pages.first.index()..][..pages.count as usize].fill(0);
            touched.retain(|&page| !pages.contains(PageId(page)));
        }
        self.sent.iter_mut().for_each(|counts| counts.retain(|count| !pages.contains(count.page)));
    }

    /// Takes the counts of one GPU in ascending order of pages.
    pub fn take(&mut self, gpu: usize, into: &mut Vec<AccessCount>) {
        let touched = &mut self.touched[gpu];
        touched.sort_unstable();
        for page in touched.drain(..) {
            let lines = std::mem::take(&mut self.counts[gpu][page as usize]);
            into.push(AccessCount { processor: ProcessorId::gpu(gpu), page: PageId(page), lines });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_pages_are_in_no_report_be_it_counted_or_under_way() {
        let spec = ReportSpec { period_cycles: 1000, entry_bytes: 8 };
        let mut reports = Reports::new(Some(spec), 1, 8);
        let counted = |reports: &mut Reports| {
            [1, 2, 5].into_iter().for_each(|page| reports.count(0, page, 3));
            let mut counts = Vec::new();
            reports.take(0, &mut counts);
            counts
        };
        let under_way = counted(&mut reports);
        let number = reports.sent(under_way);
        [1, 2, 5].into_iter().for_each(|page| reports.count(0, page, 3));
        reports.clear(PageRun { first: PageId(2), count: 4 });
        let pages = |counts: Vec<AccessCount>| counts.into_iter().map(|count| count.page.0).collect::<Vec<_>>();
        assert_eq!(pages(reports.arrived(number)), [1]);
        let mut left = Vec::new();
        reports.take(0, &mut left);
        assert_eq!(pages(left), [1]);
        assert_eq!(counted(&mut reports).len(), 3, "memory that is used again is counted anew, once a page");
    }
}
