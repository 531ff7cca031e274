//! Translations that a core keeps.

use octavo_node::CpuTlbConfig;

const NOTHING: u32 = u32::MAX;

/// Sets of pages, the latest used first in each.
pub(super) struct CoreTlb {
    pages: Vec<u32>,
    ways: usize,
    sets: u32,
}

impl CoreTlb {
    pub fn new(config: &CpuTlbConfig) -> Self {
        let (entries, ways) = (config.entries as usize, config.ways as usize);
        Self { pages: vec![NOTHING; entries], ways, sets: config.entries / config.ways }
    }

    /// Whether the TLB holds the translation of `page`; afterwards it does.
    pub fn look_up(&mut self, page: u32) -> bool {
        let set = self.set(page);
        let found = set.iter().position(|known| *known == page);
        let last = found.unwrap_or(set.len() - 1);
        set[..=last].rotate_right(1);
        set[0] = page;
        found.is_some()
    }

    /// The translation of `page` goes.
    pub fn forget(&mut self, page: u32) {
        if let Some(known) = self.set(page).iter_mut().find(|known| **known == page) {
            *known = NOTHING;
        }
    }

    fn set(&mut self, page: u32) -> &mut [u32] {
        let first = (page % self.sets) as usize * self.ways;
        &mut self.pages[first..first + self.ways]
    }
}

#[cfg(test)]
mod tests {
    use octavo_units::Time;

    use super::*;

    #[test]
    fn the_page_that_was_not_used_longest_leaves_its_set() {
        let mut tlb = CoreTlb::new(&CpuTlbConfig { entries: 4, ways: 2, walk: Time(0) });
        let hits = [0, 2, 0, 4, 0, 2].map(|page| tlb.look_up(page));
        assert_eq!(hits, [false, false, true, false, true, false], "4 takes the place of 2");
        tlb.forget(0);
        assert!(!tlb.look_up(0));
    }
}
