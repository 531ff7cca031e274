//! How pages are dealt out to the GPUs, one in turn.

use crate::contract::ids::ProcessorId;

/// Deals pages out to the GPUs in turn: an allocation goes on where the one before it ended.
pub(crate) struct Dealer {
    gpus: u32,
    /// The GPU that gets the first page of all.
    first: u32,
    /// Pages dealt out so far; only the remainder matters.
    dealt: u32,
}

impl Dealer {
    pub fn new(gpus: u32, first: u32) -> Self {
        Self { gpus, first, dealt: 0 }
    }

    /// Deals so many pages out; how many were before them.
    pub fn deal(&mut self, pages: u32) -> u32 {
        let before = self.dealt;
        self.dealt = (self.dealt + pages % self.gpus) % self.gpus;
        before
    }

    /// Who gets the page that lies `offset` behind the first of those `before` which so many were dealt.
    pub fn home(&self, before: u32, offset: u32) -> ProcessorId {
        let turn = u64::from(self.first) + u64::from(before) + u64::from(offset);
        ProcessorId::gpu((turn % u64::from(self.gpus)) as usize)
    }

    /// So many before the page that lies `offset` behind one that had `before`.
    pub fn later(&self, before: u32, offset: u32) -> u32 {
        (before + offset % self.gpus) % self.gpus
    }
}
