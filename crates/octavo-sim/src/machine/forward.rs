//! Trans-FW: a far fault's page-table walk is forwarded to the GPU that probably has the translation.

use octavo_manager::{MemoryId, PageId, ProcessorId};

use crate::fabric::links::Traffic;
use crate::machine::happening::Listen;
use crate::machine::hardware::Hardware;
use octavo_node::TransFwConfig;

/// The filter: which GPU last got a translation of a page to its own memory. Entries are overwritten by pages that
/// share their slot, and confused with pages that also share the fingerprint, so a guess can be wrong.
pub(crate) struct TransFw {
    slots: Vec<Option<Guess>>,
    fingerprint_mask: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Guess {
    fingerprint: u32,
    gpu: u8,
}

impl TransFw {
    pub fn new(config: &TransFwConfig) -> Self {
        Self { slots: vec![None; config.filter_entries as usize], fingerprint_mask: (1 << config.fingerprint_bits) - 1 }
    }

    fn place(&self, page: u32) -> (usize, u32) {
        // Fibonacci hashing spreads neighbouring pages over slots and fingerprints.
        let mixed = u64::from(page).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let slot = (mixed >> 32) as usize & (self.slots.len() - 1);
        (slot, mixed as u32 >> 8 & self.fingerprint_mask)
    }

    fn note(&mut self, page: u32, gpu: usize) {
        let (slot, fingerprint) = self.place(page);
        self.slots[slot] = Some(Guess { fingerprint, gpu: gpu as u8 });
    }

    fn guess(&self, page: u32) -> Option<usize> {
        let (slot, fingerprint) = self.place(page);
        self.slots[slot].filter(|guess| guess.fingerprint == fingerprint).map(|guess| guess.gpu as usize)
    }
}

impl<L: Listen> Hardware<'_, L> {
    /// Remembers that `target` has `page` in its own memory.
    pub fn note_translation(&mut self, page: PageId, target: MemoryId) {
        if let (Some(trans_fw), Some(gpu)) = (&mut self.trans_fw, target.gpu_index()) {
            trans_fw.note(page.0, gpu);
        }
    }

    /// Forwards the walk of a fault if there is a guess. Returns when the fault can leave for the host, and whether
    /// the host still has to walk.
    pub fn forward_walk(&mut self, gpu: usize, page: u32, time: u64) -> (u64, bool) {
        let Some(owner) = self.trans_fw.as_ref().and_then(|filter| filter.guess(page)) else { return (time, true) };
        if owner == gpu {
            return (time, true);
        }
        self.accesses.forwarded_walks += 1;
        let (own, peer) = (ProcessorId::gpu(gpu), ProcessorId::gpu(owner));
        let bytes = self.costs.header_bytes;
        let arrived = self.links.send(self.clock.now(), time, (own, peer), bytes, Traffic::Control);
        let Self { gpus, clock, walks, accesses, .. } = self;
        let walk = gpus[owner].walk_table(page, (clock.now(), arrived), walks, accesses);
        let back = self.links.send(self.clock.now(), walk.done, (peer, own), bytes, Traffic::Control);
        let entry = self.gpus[owner].entry(page);
        let right = entry.is_valid() && entry.target() == peer.memory();
        if right {
            return (back, false);
        }
        self.accesses.forwarded_wrong += 1;
        (back, true)
    }
}
