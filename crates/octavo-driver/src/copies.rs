//! Which memories hold each page, in as few bits as a node's memories need.

use octavo_manager::{MAX_MEMORIES, MAX_PROCESSORS, MemoryId, MemoryMask, PageId};

/// A bit for each page and memory that the node may have.
pub(crate) struct Copies {
    gpus: usize,
    /// The words of a page.
    each: usize,
    words: Vec<u32>,
    /// Pages that each memory holds.
    held: Vec<u64>,
}

impl Copies {
    /// For a node with this many GPUs and any further memories of the host.
    pub fn new(gpus: usize) -> Self {
        let memories = gpus + 1 + MAX_MEMORIES - MAX_PROCESSORS;
        Self { gpus, each: memories.div_ceil(u32::BITS as usize), words: Vec::new(), held: vec![0; MAX_MEMORIES] }
    }

    /// The number of pages that fit.
    pub fn pages(&self) -> usize {
        self.words.len() / self.each
    }

    /// Makes room.
    pub fn grow(&mut self, pages: usize) {
        self.words.resize(pages * self.each, 0);
    }

    /// Pages that `memory` holds.
    pub fn held(&self, memory: MemoryId) -> u64 {
        self.held[memory.index()]
    }

    /// Which memories hold `page`.
    pub fn of(&self, page: PageId) -> MemoryMask {
        let words = self.words.get(page.index() * self.each..).unwrap_or_default();
        let bits = words.iter().take(self.each).rev().fold(0, |bits, word| bits << u32::BITS | u128::from(*word));
        MemoryMask::at_places(bits, self.gpus)
    }

    /// From now on `memory` holds `page`, or no longer does.
    pub fn set(&mut self, page: PageId, memory: MemoryId, holds: bool) {
        let place = memory.place(self.gpus);
        let word = &mut self.words[page.index() * self.each + place / 32];
        if (*word >> (place % 32) & 1 != 0) != holds {
            *word ^= 1 << (place % 32);
            let held = &mut self.held[memory.index()];
            *held = if holds { *held + 1 } else { *held - 1 };
        }
    }
}
