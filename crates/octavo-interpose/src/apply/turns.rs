//! The number of each allocation of its place and size.

use std::collections::BTreeSet;

/// Numbers of the allocations of one place and size. An allocation that fails has no turn, as no recording contains it.
#[derive(Debug, Default)]
pub struct Turns {
    next: u64,
    given_back: BTreeSet<u64>,
}

impl Turns {
    /// The number of an allocation that begins: the lowest free one.
    pub fn take(&mut self) -> u64 {
        self.given_back.pop_first().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// The allocation with this number failed.
    pub fn give_back(&mut self, order: u64) {
        self.given_back.insert(order);
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;

    #[test]
    fn the_next_has_the_lowest_number_that_nobody_has() {
        let mut turns = Turns::default();
        assert_eq!([turns.take(), turns.take(), turns.take()], [0, 1, 2]);
        turns.give_back(2);
        turns.give_back(0);
        assert_eq!([turns.take(), turns.take(), turns.take()], [0, 2, 3]);
    }
}
