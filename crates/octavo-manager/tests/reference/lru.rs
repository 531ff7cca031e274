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

    /// The pages that leave next: those of the oldest span that is there and of which nothing is busy.
    pub fn victims(
        &self,
        processor: ProcessorId,
        here: impl Fn(u32) -> bool,
        busy: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let Some(order) = self.order.get(&processor) else { return Vec::new() };
        let pages = |span: u32| (span * self.span..(span + 1) * self.span).filter(|page| here(*page));
        let leaves = |span: u32| pages(span).next().is_some() && !pages(span).any(&busy);
        let oldest = order.iter().copied().find(|span| leaves(*span));
        oldest.map_or_else(Vec::new, |span| pages(span).collect())
    }

    /// A page is back in a memory that it was leaving: it is the next to leave, unless its span never left.
    pub fn restored(&mut self, processor: ProcessorId, page: u32) {
        let order = self.order.entry(processor).or_default();
        order.retain(|span| *span != page / self.span);
        order.insert(0, page / self.span);
    }
}
