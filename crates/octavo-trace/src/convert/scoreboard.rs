//! Which registers outstanding memory instructions still write.

/// `R255` reads as zero and keeps nothing.
const ZERO: usize = 255;

/// Memory instructions of one kind in a warp, numbered from 1 as they are issued.
pub(super) struct Scoreboard {
    /// The instruction that last wrote each register; 0 for none.
    writer: [u64; 256],
    issued: u64,
    /// All up to this number have been waited for.
    done: u64,
}

impl Scoreboard {
    pub const fn new() -> Self {
        Self { writer: [0; 256], issued: 0, done: 0 }
    }

    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// An instruction is issued that will write `count` registers from `first` on; its number.
    pub fn issue(&mut self, first: Option<u8>, count: u8) -> u64 {
        self.issued += 1;
        if let Some(first) = first {
            self.writer[span(first, count)].fill(self.issued);
        }
        self.issued
    }

    /// How many were issued.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// The last outstanding instruction that writes one of `count` registers from `first` on; 0 for none.
    pub fn needed(&self, first: u8, count: u8) -> u64 {
        let last = self.writer[span(first, count)].iter().copied().max().unwrap_or(0);
        if last > self.done { last } else { 0 }
    }

    /// Waits for instruction `number` and all before it: how many may stay outstanding, unless they are all done.
    pub fn wait_for(&mut self, number: u64) -> Option<u8> {
        if number <= self.done {
            return None;
        }
        let outstanding = (self.issued - number).min(u64::from(u8::MAX));
        self.done = self.issued - outstanding;
        Some(outstanding as u8)
    }

    /// Waits for all.
    pub fn wait_for_all(&mut self) -> Option<u8> {
        self.wait_for(self.issued)
    }
}

fn span(first: u8, count: u8) -> std::ops::Range<usize> {
    let first = usize::from(first);
    first..(first + usize::from(count)).min(ZERO).max(first)
}

#[cfg(test)]
mod tests {
    use super::Scoreboard;

    #[test]
    fn the_last_writer_is_waited_for_once() {
        let mut board = Scoreboard::new();
        board.issue(Some(4), 2);
        board.issue(None, 0);
        board.issue(Some(8), 1);
        assert_eq!((board.needed(4, 1), board.needed(5, 1), board.needed(6, 2), board.needed(6, 3)), (1, 1, 0, 3));
        assert_eq!(board.wait_for(1), Some(2));
        assert_eq!((board.needed(4, 2), board.wait_for(1)), (0, None));
        assert_eq!((board.wait_for_all(), board.wait_for_all()), (Some(0), None));
    }

    #[test]
    fn many_outstanding_and_the_zero_register() {
        let mut board = Scoreboard::new();
        board.issue(Some(1), 1);
        (0..300).for_each(|_| {
            board.issue(Some(255), 4);
        });
        assert_eq!((board.needed(255, 4), board.needed(254, 4)), (0, 0));
        assert_eq!((board.wait_for(1), board.wait_for(46), board.wait_for(47)), (Some(255), None, Some(254)));
    }
}
