//! Large translations of one GPU: which blocks of pages are coalesced, and the TLB entries for them.

use octavo_manager::PageId;

use super::{Tlb, TlbHit};
use crate::config::{LargeTlbConfig, NodeConfig, TlbConfig};

/// TLB entries for large pages of two levels, and the large bits of the page table.
pub(crate) struct LargePages {
    /// By block: the large bit of its entry in the last level but one.
    coalesced: Vec<bool>,
    first_level: Tlb,
    second_level: Tlb,
    /// log2 of the pages of a block.
    shift: u32,
}

impl LargePages {
    /// For `pages` pages in blocks of `1 << shift`; `None` if the node has no entries for large pages.
    pub fn new(node: &NodeConfig, pages: usize, shift: u32) -> Option<Self> {
        let units = node.compute.units as usize;
        Some(Self {
            coalesced: vec![false; (pages >> shift) + 1],
            first_level: Tlb::new(&large_entries(&node.l1_tlb)?, units),
            second_level: Tlb::new(&large_entries(&node.l2_tlb)?, 1),
            shift,
        })
    }

    #[inline]
    pub fn is_coalesced(&self, page: u32) -> bool {
        self.coalesced[(page >> self.shift) as usize]
    }

    /// Sets the large bit of the block that begins with `first`.
    pub fn coalesce(&mut self, first: PageId) {
        self.coalesced[first.index() >> self.shift] = true;
    }

    /// Clears the large bit and removes the one large translation from every TLB.
    pub fn splinter(&mut self, first: PageId) {
        let block = first.0 >> self.shift;
        self.coalesced[block as usize] = false;
        self.second_level.invalidate(0, block);
        for unit in 0..self.first_level.units() {
            self.first_level.invalidate(unit, block);
        }
    }

    #[inline]
    pub fn first_level(&mut self, unit: usize, page: u32) -> Option<TlbHit> {
        self.first_level.lookup(unit, page >> self.shift)
    }

    #[inline]
    pub fn second_level(&mut self, page: u32) -> Option<TlbHit> {
        self.second_level.lookup(0, page >> self.shift)
    }

    /// Enters the translation of `page`'s block in the first level of `unit`.
    pub fn enter_first_level(&mut self, unit: usize, page: u32, hit: TlbHit) {
        self.first_level.insert(unit, page >> self.shift, hit.entry, hit.ready);
    }

    /// Enters it in the second level.
    pub fn enter_second_level(&mut self, page: u32, hit: TlbHit) {
        self.second_level.insert(0, page >> self.shift, hit.entry, hit.ready);
    }
}

/// The TLB's configuration for pages of this size: the entries for large pages, where there are some.
pub(crate) fn entries_for(tlb: &TlbConfig, page_bytes: u64) -> TlbConfig {
    let large = (page_bytes >= LARGE_PAGE).then(|| large_entries(tlb)).flatten();
    large.unwrap_or_else(|| tlb.clone())
}

/// Bytes of a large page.
const LARGE_PAGE: u64 = 2 << 20;

fn large_entries(tlb: &TlbConfig) -> Option<TlbConfig> {
    let LargeTlbConfig { entries, ways } = *tlb.large.as_ref()?;
    Some(TlbConfig { entries, ways, ..tlb.clone() })
}
