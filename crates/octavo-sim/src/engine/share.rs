//! A constant share of a stream of items, in whole numbers.

/// A percentage, dealt out as evenly as whole numbers allow: each remainder carries over to the next items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    percent: u32,
    owed: u32,
}

impl Share {
    pub const fn new(percent: u32) -> Self {
        Self { percent, owed: 0 }
    }

    /// How many of `count`, together with those before, belong to the share.
    #[inline]
    pub const fn of(&mut self, count: u32) -> u32 {
        let owed = self.owed + count * self.percent;
        self.owed = owed % 100;
        owed / 100
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_never_more_than_one_behind(percent in 0u32..=100, counts in prop::collection::vec(0u32..200, 0..50)) {
            let mut share = Share::new(percent);
            let (mut all, mut dealt) = (0, 0);
            for count in counts {
                let now = share.of(count);
                all += count;
                dealt += now;
                prop_assert!(now <= count);
                prop_assert_eq!(dealt, all * percent / 100);
            }
        }
    }
}
