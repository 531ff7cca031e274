//! Blocks of victims that GPUs keep for others, in order of arrival: those that still wait for their copy on the host,
//! those that have it and can be removed, and copies of pages that the host has anyway.

use std::collections::{BTreeMap, BTreeSet};

use crate::contract::by_memory::ByMemory;
use crate::contract::ids::{MemoryId, SpaceId};
use crate::contract::page::Mode;
use crate::pages::state::PageState;

/// A GPU's kept pages of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// The address space of the pages when they came.
    space: SpaceId,
    /// Its place in the list that it is in.
    order: u64,
    /// Whether none of its pages ever waited for a copy on the host: they were staged.
    staged: bool,
    /// Pages without a copy on the host, and pages with one.
    pages: [u32; 2],
}

impl Block {
    fn awaits(&self) -> bool {
        self.pages[0] > 0
    }

    /// Pages with a copy on the host that stay until the others have theirs.
    fn held_back(&self) -> u32 {
        if self.awaits() { self.pages[1] } else { 0 }
    }
}

/// Pages of one memory that lie there for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lent {
    /// Pages without a copy on the host, and pages with one.
    pages: [u32; 2],
    /// Pages with a copy on the host in blocks that have others without.
    held_back: u32,
    /// Blocks with a page that has no copy on the host.
    awaiting: u32,
}

/// A plan that copies a block to the host.
#[derive(Clone, Copy)]
pub(crate) struct WriteBack {
    /// The slot of the plan.
    pub slot: u32,
    pub space: SpaceId,
    pub memory: MemoryId,
    pub pages: u32,
}

/// A plan that stages pages.
#[derive(Clone, Copy)]
pub(crate) struct Staging {
    /// The slot of the plan.
    pub slot: u32,
    pub memory: MemoryId,
    pub pages: u32,
}

/// The pages that all GPUs keep for others. Follows the pages' states.
#[derive(Clone, Default)]
pub(crate) struct Spare {
    blocks: BTreeMap<(MemoryId, u32), Block>,
    /// Blocks with a page that has no copy on the host, by space, first come first.
    awaiting: BTreeSet<(SpaceId, u64, MemoryId, u32)>,
    /// Removable blocks by memory: victims before staged blocks, and the longest backed first.
    removable: BTreeSet<(MemoryId, bool, u64, u32)>,
    lent: ByMemory<Lent>,
    /// Plans that copy blocks to the host; the blocks can be removed when these are done.
    under_way: Vec<WriteBack>,
    /// Plans that stage pages, which can be removed when these are done.
    staging: Vec<Staging>,
    /// The next place in a list.
    next: u64,
}

impl Spare {
    /// A page of `block` was in one state and is in another.
    pub fn changed(&mut self, space: SpaceId, block: u32, before: &PageState, after: &PageState) {
        let (was, is) = (place(before), place(after));
        if was == is {
            return;
        }
        if let Some((memory, backed)) = is {
            self.edit(memory, block, space, |pages| pages[backed] += 1);
        }
        if let Some((memory, backed)) = was {
            self.edit(memory, block, space, |pages| pages[backed] -= 1);
        }
    }

    fn edit(&mut self, memory: MemoryId, block: u32, space: SpaceId, edit: impl Fn(&mut [u32; 2])) {
        let known = self.blocks.remove(&(memory, block));
        let mut now = known.unwrap_or(Block { space, order: 0, staged: true, pages: [0; 2] });
        edit(&mut now.pages);
        now.staged &= !now.awaits();
        let lent = &mut self.lent[memory];
        edit(&mut lent.pages);
        lent.held_back = lent.held_back + now.held_back() - known.as_ref().map_or(0, Block::held_back);
        let list = |block: &Block| (block.pages != [0; 2]).then(|| block.awaits());
        let (was, is) = (known.as_ref().and_then(list), list(&now));
        if was != is {
            lent.awaiting = lent.awaiting + u32::from(is == Some(true)) - u32::from(was == Some(true));
            self.next += 1;
            now.order = self.next;
            if let Some(known) = known {
                self.unlist(memory, block, &known);
            }
            match is {
                Some(true) => _ = self.awaiting.insert((now.space, now.order, memory, block)),
                Some(false) => _ = self.removable.insert((memory, now.staged, now.order, block)),
                None => return,
            }
        }
        if is.is_some() {
            self.blocks.insert((memory, block), now);
        }
    }

    fn unlist(&mut self, memory: MemoryId, block: u32, known: &Block) {
        self.awaiting.remove(&(known.space, known.order, memory, block));
        self.removable.remove(&(memory, known.staged, known.order, block));
    }

    /// Whether any block awaits its copy on the host.
    pub fn any_awaiting(&self) -> bool {
        !self.awaiting.is_empty()
    }

    /// For each space, the memory and the block that has waited longest for its copy on the host.
    pub fn longest_awaiting(&self) -> Vec<(SpaceId, MemoryId, u32)> {
        let mut first = Vec::new();
        let mut next = self.awaiting.first();
        while let Some(&(space, _, memory, block)) = next {
            first.push((space, memory, block));
            next = self.awaiting.range((space, u64::MAX, MemoryId(u8::MAX), u32::MAX)..).next();
        }
        first
    }

    /// Blocks in `memory` that can be removed without a copy, unless they are busy: first victims in order of arrival,
    /// then staged blocks (`uvm-driver.md` section 8, pick_root_chunk_to_evict).
    pub fn removable(&self, memory: MemoryId) -> impl Iterator<Item = u32> + '_ {
        let from = (memory, false, 0, 0);
        self.removable.range(from..).take_while(move |listed| listed.0 == memory).map(|&(.., block)| block)
    }

    /// A plan copies a block to the host.
    pub fn begin(&mut self, plan: WriteBack) {
        self.under_way.push(plan);
    }

    /// A plan stages pages.
    pub fn begin_staging(&mut self, plan: Staging) {
        self.staging.push(plan);
    }

    /// The plan in this slot is finished.
    pub fn end(&mut self, slot: u32) {
        self.under_way.retain(|plan| plan.slot != slot);
        self.staging.retain(|plan| plan.slot != slot);
    }

    /// Whether a plan copies a block of this space to the host.
    pub fn copies_of(&self, space: SpaceId) -> bool {
        self.under_way.iter().any(|plan| plan.space == space)
    }

    fn copied_from(&self, memory: MemoryId) -> impl Iterator<Item = &WriteBack> {
        self.under_way.iter().filter(move |plan| plan.memory == memory)
    }

    /// Pages in `memory` that have a copy on the host, and are not on their way.
    pub fn backed(&self, memory: MemoryId) -> u32 {
        let written: u32 = self.copied_from(memory).map(|plan| plan.pages).sum();
        let staged: u32 = self.staging.iter().filter(|plan| plan.memory == memory).map(|plan| plan.pages).sum();
        self.lent[memory].pages[1] - written - staged
    }

    /// Those whose blocks can be removed, because each resident page has a copy. Approximate while plans copy or stage
    /// other pages of these blocks.
    pub fn removable_pages(&self, memory: MemoryId) -> u32 {
        self.backed(memory).saturating_sub(self.lent[memory].held_back)
    }

    /// The same of one block.
    pub fn removable_of(&self, memory: MemoryId, block: u32) -> u32 {
        self.blocks.get(&(memory, block)).map_or(0, |block| block.pages[1] - block.held_back())
    }

    /// Pages in `memory` that lie there for others.
    pub fn pages(&self, memory: MemoryId) -> u32 {
        self.lent[memory].pages.iter().sum()
    }

    /// Blocks in `memory` that have no copy on the host yet.
    pub fn awaiting(&self, memory: MemoryId) -> u32 {
        self.lent[memory].awaiting + self.copied_from(memory).count() as u32
    }

    /// Bytes taken up.
    pub fn bytes(&self) -> usize {
        let lists = size_of::<(SpaceId, u64, MemoryId, u32)>();
        self.blocks.len() * (size_of::<(MemoryId, u32)>() + size_of::<Block>() + lists)
    }

    /// Whether the record of each block matches its pages' states; for tests.
    pub fn agrees(&self, pages: impl Iterator<Item = (u32, PageState)>) -> Result<(), String> {
        let mut found: BTreeMap<(MemoryId, u32), [u32; 2]> = BTreeMap::new();
        for (block, state) in pages {
            if let Some((memory, backed)) = place(&state) {
                found.entry((memory, block)).or_default()[backed] += 1;
            }
        }
        let known: BTreeMap<_, _> = self.blocks.iter().map(|(&key, block)| (key, block.pages)).collect();
        let listed = self.awaiting.len() + self.removable.len();
        let right = |(&(memory, number), block): (&(MemoryId, u32), &Block)| match block.awaits() {
            true => self.awaiting.contains(&(block.space, block.order, memory, number)),
            false => self.removable.contains(&(memory, block.staged, block.order, number)),
        };
        if known != found || listed != known.len() || !self.blocks.iter().all(right) {
            return Err(format!("blocks lent are {known:?} in {listed} places of lists, their pages say {found:?}"));
        }
        Ok(())
    }
}

/// Where a page is kept for others, and whether it has a copy on the host.
fn place(state: &PageState) -> Option<(MemoryId, usize)> {
    let lent = state.mode == Mode::Spare && state.resident.contains(state.owner) && !state.owner.on_host();
    lent.then(|| (state.owner, usize::from(state.backed())))
}

#[cfg(test)]
mod tests {
    use super::{MemoryId, Spare, Staging};

    #[test]
    fn pages_that_are_being_staged_cannot_be_removed_yet() {
        let memory = MemoryId::gpu(0);
        let mut spare = Spare::default();
        spare.lent[memory].pages = [1, 5];
        spare.begin_staging(Staging { slot: 7, memory, pages: 3 });
        assert_eq!((spare.backed(memory), spare.pages(memory)), (2, 6));
        spare.end(7);
        assert_eq!(spare.backed(memory), 5);
    }
}
