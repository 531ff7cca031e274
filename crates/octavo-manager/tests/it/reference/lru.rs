//! Least recently used pages, or 2 MiB blocks, of each memory: a list from the oldest to the newest.

use std::collections::BTreeMap;

use octavo_manager::ProcessorId;

/// The order in which pages of each memory were last brought or served.
#[derive(Debug)]
pub struct Lru {
    /// Pages that leave together: 1, or those of a block.
    span: u32,
    order: BTreeMap<ProcessorId, Vec<u32>>,
}

impl Lru {
    pub fn new(span: u32) -> Self {
        Self { span, order: BTreeMap::new() }
    }

    /// A page was brought into `processor`'s memory or served from there.
    pub fn used(&mut self, processor: ProcessorId, page: u32) {
        let order = self.order.entry(processor).or_default();
        order.retain(|span| *span != page / self.span);
        order.push(page / self.span);
    }

    /// At least `wanted` pages to evict, span by span, the oldest first, of those that are resident and not busy; fewer
    /// if there are no more.
    pub fn victims(
        &self,
        processor: ProcessorId,
        wanted: usize,
        here: impl Fn(u32) -> bool,
        busy: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let mut victims = Vec::new();
        for &span in self.order.get(&processor).into_iter().flatten() {
            let pages: Vec<u32> = (span * self.span..(span + 1) * self.span).filter(|page| here(*page)).collect();
            if victims.len() < wanted && !pages.iter().any(|page| busy(*page)) {
                victims.extend(pages);
            }
        }
        victims
    }

    /// The span of a page that leaves is forgotten.
    pub fn left(&mut self, processor: ProcessorId, page: u32) {
        self.order.entry(processor).or_default().retain(|span| *span != page / self.span);
    }

    /// A page is back in a memory that it was leaving. If its span was forgotten and not used since, it is the next to
    /// leave.
    pub fn restored(&mut self, processor: ProcessorId, page: u32) {
        let order = self.order.entry(processor).or_default();
        if !order.contains(&(page / self.span)) {
            order.insert(0, page / self.span);
        }
    }
}
