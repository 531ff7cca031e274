//! The bank of a line.

/// Consecutive stretches of lines dealt out over banks in turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interleave {
    /// log2 of the lines that stay on one bank.
    pub shift: u32,
    banks: u32,
    /// The mask for the rest of the division by a power of two; `None` if the number of banks is no power of two.
    mask: Option<u32>,
}

impl Interleave {
    /// `bytes` that stay on one bank are a power of two, at least a line.
    pub fn new(bytes: u64, banks: u32) -> Self {
        Self { shift: (bytes / 64).trailing_zeros(), banks, mask: banks.is_power_of_two().then(|| banks - 1) }
    }

    /// The bank of a line; lines are numbered with 32 bits.
    #[inline]
    pub fn bank(self, line: u64) -> usize {
        let stretch = line as u32 >> self.shift;
        match self.mask {
            Some(mask) => (stretch & mask) as usize,
            None => (stretch % self.banks) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_go_to_banks_in_turn() {
        for banks in [1, 6, 8, 12] {
            let interleave = Interleave::new(256, banks);
            for line in 0..1000 {
                assert_eq!(interleave.bank(line), line as usize / 4 % banks as usize);
            }
        }
    }
}
