//! Exponentially smoothed access counts of every page and GPU.

use crate::contract::event::AccessCount;
use crate::contract::ids::PageId;

/// Counts decay lazily: those of a page are updated when it is accessed again, so that the cost of a report follows its
/// number of entries.
pub(super) struct History {
    gpus: usize,
    smoothing: f32,
    period: u32,
    /// By page, then GPU: smoothed lines per period, at the page's last update.
    counts: Vec<f32>,
    updated: Vec<u32>,
}

impl History {
    pub fn new(gpus: usize, smoothing: f32) -> Self {
        Self { gpus, smoothing, period: 0, counts: Vec::new(), updated: Vec::new() }
    }

    pub fn grow(&mut self, pages: usize) {
        if pages > self.updated.len() {
            self.updated.resize(pages, 0);
            self.counts.resize(pages * self.gpus, 0.0);
        }
    }

    pub fn forget(&mut self, page: PageId) {
        self.counts_mut(page).fill(0.0);
    }

    pub fn next_period(&mut self) {
        self.period += 1;
    }

    /// Adds the accesses of this period.
    pub fn add(&mut self, page: PageId, of_page: &[AccessCount]) {
        let smoothing = self.smoothing;
        let periods = self.period - self.updated[page.index()];
        let kept = power(1.0 - smoothing, periods);
        self.updated[page.index()] = self.period;
        let counts = self.counts_mut(page);
        counts.iter_mut().for_each(|count| *count *= kept);
        for entry in of_page {
            if let Some(gpu) = entry.processor.gpu_index() {
                counts[gpu] += smoothing * entry.lines as f32;
            }
        }
    }

    /// Smoothed lines a period of each GPU, as of the page's last update.
    pub fn counts(&self, page: PageId) -> &[f32] {
        &self.counts[page.index() * self.gpus..][..self.gpus]
    }

    pub fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<f32>() + self.updated.capacity() * size_of::<u32>()
    }

    fn counts_mut(&mut self, page: PageId) -> &mut [f32] {
        &mut self.counts[page.index() * self.gpus..][..self.gpus]
    }
}

/// `base` to the power of `exponent` by squaring: only multiplications, so that every machine computes the same.
fn power(mut base: f32, mut exponent: u32) -> f32 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::ProcessorId;

    #[test]
    fn counts_decay_over_periods_without_accesses() {
        let mut history = History::new(2, 0.5);
        history.grow(1);
        let access = |lines| [AccessCount { processor: ProcessorId::gpu(1), page: PageId(0), lines }];
        history.next_period();
        history.add(PageId(0), &access(16));
        assert_eq!(history.counts(PageId(0)), [0.0, 8.0]);
        (0..3).for_each(|_| history.next_period());
        history.add(PageId(0), &access(2));
        assert_eq!(history.counts(PageId(0)), [0.0, 2.0]);
    }
}
