//! Random eviction: pages are drawn from a list of each memory's pages, and a page just drawn is not drawn again at
//! once.

use std::collections::BTreeMap;

use octavo_manager::{ProcessorId, Random};

use super::leaving::Look;

/// The lists, in the order that lots made of them.
pub struct Lots {
    random: Random,
    listed: BTreeMap<ProcessorId, Vec<u32>>,
}

impl Lots {
    pub fn new(seed: u32) -> Self {
        Self { random: Random::new(seed), listed: BTreeMap::new() }
    }

    /// A page was brought, served, accessed, or is back: it is on the list from then on.
    pub fn lists(&mut self, processor: ProcessorId, page: u32) {
        let list = self.listed.entry(processor).or_default();
        if !list.contains(&page) {
            list.push(page);
        }
    }

    /// Draws `wanted` pages, or fewer if there are no more. A page that was drawn changes places with the last one not
    /// yet drawn. A page that is gone is removed, and the last of the list takes its place.
    pub fn victims(&mut self, processor: ProcessorId, wanted: usize, look: &Look<'_>) -> Vec<u32> {
        let list = self.listed.entry(processor).or_default();
        let (mut victims, mut undrawn) = (Vec::new(), list.len());
        while undrawn > 0 && victims.len() < wanted {
            let drawn = self.random.below(undrawn as u32) as usize;
            undrawn -= 1;
            list.swap(drawn, undrawn);
            let page = list[undrawn];
            match ((look.here)(page), (look.busy)(page)) {
                (true, false) => victims.push(page),
                (_, true) => {}
                (false, false) => _ = list.swap_remove(undrawn),
            }
        }
        victims
    }
}
