//! The filter of Trans-FW: a guess at which GPU has a page.

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

    /// A GPU got a translation of a page to its own memory.
    pub fn note(&mut self, page: u32, gpu: usize) {
        let (slot, fingerprint) = self.place(page);
        self.slots[slot] = Some(Guess { fingerprint, gpu: gpu as u8 });
    }

    /// The GPU that probably has it.
    pub fn guess(&self, page: u32) -> Option<usize> {
        let (slot, fingerprint) = self.place(page);
        self.slots[slot].filter(|guess| guess.fingerprint == fingerprint).map(|guess| guess.gpu as usize)
    }
}
