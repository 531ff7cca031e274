//! A number for each key, in two bytes, or in three or four if there are so many keys that shorter numbers would often
//! run out.

/// Keys up to which two bytes suffice: stamps then run out only after nearly as many uses as there are keys.
const FEW_KEYS: usize = 1 << 15;
/// Keys up to which three bytes suffice, for the same reason: 32 GiB of 4 KiB pages.
const MANY_KEYS: usize = 1 << 23;

#[derive(Default)]
pub(super) struct Stamps {
    low: Vec<u16>,
    /// Bits 16 to 23; empty while there are few keys.
    high: Vec<u8>,
    /// Bits 24 and up; empty unless there are very many keys.
    top: Vec<u8>,
}

impl Stamps {
    /// Makes room for `keys` keys; returns whether [`Stamps::last`] became higher.
    pub fn grow(&mut self, keys: usize) -> bool {
        if keys <= self.low.len() {
            return false;
        }
        let before = self.last();
        self.low.reserve_exact(keys - self.low.len());
        self.low.resize(keys, 0);
        if keys > FEW_KEYS {
            self.high.reserve_exact(keys - self.high.len());
            self.high.resize(keys, 0);
        }
        if keys > MANY_KEYS {
            self.top.reserve_exact(keys - self.top.len());
            self.top.resize(keys, 0);
        }
        self.last() > before
    }

    /// The highest stamp there can be.
    #[inline]
    pub fn last(&self) -> u32 {
        match (self.high.is_empty(), self.top.is_empty()) {
            (true, _) => u32::from(u16::MAX),
            (_, true) => (1 << 24) - 1,
            // Not all of 32 bits, so that the stamp after the last is a number, too.
            _ => (1 << 31) - 1,
        }
    }

    #[inline]
    pub fn get(&self, key: u32) -> u32 {
        let high = self.high.get(key as usize).map_or(0, |&high| u32::from(high));
        let top = self.top.get(key as usize).map_or(0, |&top| u32::from(top));
        top << 24 | high << 16 | u32::from(self.low[key as usize])
    }

    #[inline]
    pub fn set(&mut self, key: u32, stamp: u32) {
        self.low[key as usize] = stamp as u16;
        if let Some(high) = self.high.get_mut(key as usize) {
            *high = (stamp >> 16) as u8;
            if let Some(top) = self.top.get_mut(key as usize) {
                *top = (stamp >> 24) as u8;
            }
        }
    }

    /// Keys with a stamp, and the stamp.
    pub fn used(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.low.len() as u32).map(|key| (key, self.get(key))).filter(|&(_, stamp)| stamp > 0)
    }

    pub fn bytes(&self) -> usize {
        self.low.capacity() * size_of::<u16>() + self.high.capacity() + self.top.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the queue would renumber its keys at every use, or could not do so.
    #[test]
    fn there_are_about_twice_as_many_stamps_as_keys() {
        for keys in [1, FEW_KEYS, FEW_KEYS + 1, MANY_KEYS, MANY_KEYS + 1, 1 << 24] {
            let mut stamps = Stamps::default();
            stamps.grow(keys);
            assert!(stamps.last() as usize >= 2 * keys - 1, "{keys} keys");
            let last = keys as u32 - 1;
            for stamp in [stamps.last(), 0x5A_5A5A & stamps.last(), 1] {
                stamps.set(last, stamp);
                assert_eq!(stamps.get(last), stamp);
            }
        }
    }
}
