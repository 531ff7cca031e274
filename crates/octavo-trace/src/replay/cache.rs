//! Decoded row groups, the least recently used of which give way.

use super::row_group::Decoded;

/// Row groups by number, within a budget of bytes.
pub(super) struct Cache {
    budget: usize,
    bytes: usize,
    slots: Vec<Option<Slot>>,
    /// Numbers of the slots that are filled.
    filled: Vec<u32>,
    /// Counts uses.
    clock: u64,
}

struct Slot {
    decoded: Decoded,
    used: u64,
}

impl Cache {
    pub fn new(groups: usize, budget: usize) -> Self {
        Self { budget, bytes: 0, slots: (0..groups).map(|_| None).collect(), filled: Vec::new(), clock: 0 }
    }

    /// A row group, used now.
    #[inline]
    pub fn get(&mut self, group: usize) -> Option<&Decoded> {
        let slot = self.slots.get_mut(group)?.as_mut()?;
        self.clock += 1;
        slot.used = self.clock;
        Some(&slot.decoded)
    }

    pub fn holds(&self, group: usize) -> bool {
        self.slots[group].is_some()
    }

    /// Keeps a row group that is not there yet; others give way until all fit, though never the new one.
    pub fn insert(&mut self, group: usize, decoded: Decoded) {
        self.clock += 1;
        self.bytes += decoded.bytes();
        while self.bytes > self.budget && self.evict() {}
        self.slots[group] = Some(Slot { decoded, used: self.clock });
        self.filled.push(group as u32);
    }

    /// Drops the least recently used row group; false if there is none.
    fn evict(&mut self) -> bool {
        let age = |group: &u32| self.slots[*group as usize].as_ref().map_or(0, |slot| slot.used);
        let Some((position, _)) = self.filled.iter().enumerate().min_by_key(|(_, group)| age(group)) else {
            return false;
        };
        let group = self.filled.swap_remove(position) as usize;
        if let Some(slot) = self.slots[group].take() {
            self.bytes -= slot.decoded.bytes();
        }
        true
    }

    /// Memory that the row groups take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
