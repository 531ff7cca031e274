//! A number for each key, in two bytes, or in three where there are so many keys that two would run out often.

/// Keys up to which two bytes do: nearly as many uses as there are keys then pass before stamps run out.
const FEW_KEYS: usize = 1 << 15;

#[derive(Default)]
pub(super) struct Stamps {
    low: Vec<u16>,
    /// Bits 16 and up; empty while there are few keys.
    high: Vec<u8>,
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
        self.last() > before
    }

    /// The highest stamp there can be.
    #[inline]
    pub fn last(&self) -> u32 {
        if self.high.is_empty() { u32::from(u16::MAX) } else { (1 << 24) - 1 }
    }

    #[inline]
    pub fn get(&self, key: u32) -> u32 {
        let high = self.high.get(key as usize).map_or(0, |&high| u32::from(high));
        high << 16 | u32::from(self.low[key as usize])
    }

    #[inline]
    pub fn set(&mut self, key: u32, stamp: u32) {
        self.low[key as usize] = stamp as u16;
        if let Some(high) = self.high.get_mut(key as usize) {
            *high = (stamp >> 16) as u8;
        }
    }

    /// Keys with a stamp, and the stamp.
    pub fn used(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.low.len() as u32).map(|key| (key, self.get(key))).filter(|&(_, stamp)| stamp > 0)
    }

    pub fn bytes(&self) -> usize {
        self.low.capacity() * size_of::<u16>() + self.high.capacity()
    }
}
