//! Large translations of one GPU: which blocks of pages are coalesced, and the TLB entries for them.

use std::ops::RangeInclusive;

use octavo_manager::{Kind, LargeEntry, Manager, PageId, PageRun};
use octavo_node::{LargeTlbConfig, NodeConfig};
use octavo_program::{Program, ProgramBuffer};

use crate::gpu::translate::first_level::FirstLevel;
use crate::gpu::translate::tlb::{Tlb, TlbHit};

/// Blocks of pages that can be large ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// log2 of the pages of a block.
    shift: u32,
    /// The page-table entry that leads to a large page.
    entry: LargeEntry,
}

impl Blocks {
    /// The blocks that the manager makes large or, where GPUs share the host's page `table`, the operating system's
    /// huge pages.
    pub fn of(manager: &Manager, table: bool) -> Option<Self> {
        let large = manager.coalescing().map(|coalescing| (coalescing.pages, coalescing.entry));
        let huge = || (manager.geometry().block_pages(), LargeEntry::Above);
        let (pages, entry) = large.or_else(|| (table && manager.has_huge_pages()).then(huge))?;
        Some(Self { shift: pages.ilog2(), entry })
    }

    /// By block of `pages` pages: whether the programs have only device memory there. Drivers take device memory in
    /// pieces of 2 MiB and map each by one entry; a publication's large pages do not.
    pub fn of_device(self, pages: usize, page_bytes: u64, programs: &[Option<Program>]) -> Vec<bool> {
        let (mut device, mut others) = (vec![false; (pages >> self.shift) + 1], vec![]);
        if self.entry != LargeEntry::Above {
            return device;
        }
        for ProgramBuffer { buffer, kind, .. } in programs.iter().flatten().flat_map(Program::buffers) {
            let block = |address: u64| (address / page_bytes) as usize >> self.shift;
            let blocks = block(buffer.base)..=block(buffer.base + buffer.bytes.saturating_sub(1));
            match kind {
                Kind::Device => device[blocks].fill(true),
                _ => others.push(blocks),
            }
        }
        others.into_iter().for_each(|blocks| device[blocks].fill(false));
        device
    }
}

/// TLB entries for large pages of two levels, and the large bits of the page table.
pub(crate) struct LargePages {
    /// By block: the large bit of its entry in the last level but one.
    coalesced: Vec<bool>,
    /// By block: whether it contains only device memory, which one entry reaches however little of it exists.
    device: Vec<bool>,
    /// First-level TLB of the compute units.
    first_level: Tlb,
    /// First-level TLB of the scalar caches, if they have any.
    scalar: Option<Tlb>,
    second_level: Tlb,
    /// log2 of the pages of a block.
    shift: u32,
    entry: LargeEntry,
}

impl LargePages {
    /// For `pages` pages in such blocks; `None` if the node has no entries for large pages.
    pub fn new(node: &NodeConfig, pages: usize, Blocks { shift, entry }: Blocks) -> Option<Self> {
        let units = node.compute.units as usize;
        let scalar_caches = units.div_ceil(node.scalar.units as usize);
        Some(Self {
            coalesced: vec![false; (pages >> shift) + 1],
            device: vec![false; (pages >> shift) + 1],
            first_level: Tlb::new(large_entries(node.l1_tlb.large.as_ref())?, units),
            scalar: large_entries(node.scalar.tlb.large.as_ref()).map(|entries| Tlb::new(entries, scalar_caches)),
            second_level: Tlb::new(large_entries(node.l2_tlb.large.as_ref())?, 1),
            shift,
            entry,
        })
    }

    #[inline]
    pub fn is_coalesced(&self, page: u32) -> bool {
        self.coalesced[(page >> self.shift) as usize]
    }

    /// Whether one entry leads to all of the block that holds `page`.
    pub fn is_large(&self, page: u32) -> bool {
        self.is_coalesced(page) || self.device[(page >> self.shift) as usize]
    }

    /// The first base page of the block that holds `page`, if that is large.
    pub fn first_of_large(&self, page: u32) -> Option<u32> {
        self.is_large(page).then_some(page >> self.shift << self.shift)
    }

    /// Whether a walk for `page` ends above the last level, at the entry of a large page.
    pub fn ends_walk(&self, page: u32) -> bool {
        self.entry == LargeEntry::Above && self.is_large(page)
    }

    /// Says of each block whether it has device memory and nothing else.
    pub fn lay_out(&mut self, device: &[bool]) {
        self.device.copy_from_slice(device);
    }

    /// Sets the large bit of the block that begins with `first`.
    pub fn coalesce(&mut self, first: PageId) {
        self.coalesced[first.index() >> self.shift] = true;
    }

    /// Clears the large bit and removes the one large translation from every TLB.
    pub fn splinter(&mut self, first: PageId) {
        let block = first.0 >> self.shift;
        self.coalesced[block as usize] = false;
        self.shoot_down(block);
    }

    /// Whether a unit, or the scalar cache that it uses, holds the translation of a block that any of these pages is
    /// part of.
    pub fn any_held(&self, unit: usize, scalar: usize, pages: PageRun) -> bool {
        let by_scalar = |block| self.scalar.as_ref().is_some_and(|tlb| tlb.holds(scalar, block));
        self.blocks(pages).any(|block| self.first_level.holds(unit, block) || by_scalar(block))
    }

    fn blocks(&self, pages: PageRun) -> RangeInclusive<u32> {
        let last = pages.first.0 + pages.count - 1;
        pages.first.0 >> self.shift..=last >> self.shift
    }

    /// The entries of a unit, or of a scalar cache.
    #[inline]
    fn first_level(&mut self, first: FirstLevel) -> Option<(&mut Tlb, usize)> {
        match first {
            FirstLevel::Vector(unit) => Some((&mut self.first_level, unit)),
            FirstLevel::Scalar(cache) => Some((self.scalar.as_mut()?, cache)),
        }
    }

    /// The state of `page`'s block in a first level.
    #[inline]
    pub fn first_level_hit(&mut self, first: FirstLevel, page: u32) -> Option<TlbHit> {
        let block = page >> self.shift;
        let (tlb, index) = self.first_level(first)?;
        tlb.lookup(index, block)
    }

    #[inline]
    pub fn second_level(&mut self, page: u32) -> Option<TlbHit> {
        self.second_level.lookup(0, page >> self.shift)
    }

    /// Removes the translations of all blocks of a run from every TLB.
    pub fn forget(&mut self, pages: PageRun) {
        self.blocks(pages).for_each(|block| self.shoot_down(block));
    }

    fn shoot_down(&mut self, block: u32) {
        for tlb in [&mut self.second_level, &mut self.first_level].into_iter().chain(&mut self.scalar) {
            tlb.shoot_down(block);
        }
    }

    /// Enters the translation of `page`'s block in a first level; `false` if that has no entries for it.
    pub fn enter_first_level(&mut self, first: FirstLevel, page: u32, hit: TlbHit) -> bool {
        let block = page >> self.shift;
        let Some((tlb, index)) = self.first_level(first) else { return false };
        tlb.insert(index, block, hit.entry, hit.ready);
        true
    }

    /// Enters it in the second level.
    pub fn enter_second_level(&mut self, page: u32, hit: TlbHit) {
        self.second_level.insert(0, page >> self.shift, hit.entry, hit.ready);
    }
}

/// Entries and ways of a TLB for pages of this size: those for large pages, where there are some.
pub(crate) fn entries_for(small: (u32, u32), large: Option<&LargeTlbConfig>, page_bytes: u64) -> (u32, u32) {
    large_entries(large.filter(|_| page_bytes >= LARGE_PAGE)).unwrap_or(small)
}

/// Bytes of a large page.
const LARGE_PAGE: u64 = 2 << 20;

fn large_entries(large: Option<&LargeTlbConfig>) -> Option<(u32, u32)> {
    large.map(|large| (large.entries, large.ways))
}
