//! When the latest memory instructions of each wavefront will be over: for waits that leave the youngest outstanding.

use crate::aligned::Aligned;

/// Instructions remembered of each wavefront. GCN3 counts at most 15 outstanding; a wait that would leave more waits
/// until this many are left.
const REMEMBERED: usize = 15;

/// Words of a slot: when each instruction and all before it are over, and how many there were. Two cache lines.
const WORDS: usize = REMEMBERED + 1;

/// By wavefront slot; empty when no wait of the workload leaves anything outstanding.
pub(crate) struct History(Aligned<u64>);

impl History {
    pub fn new(slots: usize, needed: bool) -> Self {
        Self(Aligned::new(0, if needed { slots * WORDS } else { 0 }))
    }

    /// Another wavefront begins in `slot`.
    pub fn clear(&mut self, slot: usize) {
        if let Some((count, _)) = self.recent(slot) {
            *count = 0;
        }
    }

    /// Whether anything is remembered.
    #[inline]
    pub fn is_kept(&self) -> bool {
        !self.0.is_empty()
    }

    /// The wavefront has issued an instruction; it and all before it are over at `over`.
    #[inline]
    pub fn note(&mut self, slot: usize, over: u64) {
        if let Some((count, times)) = self.recent(slot) {
            times[*count as usize % REMEMBERED] = over;
            *count += 1;
        }
    }

    /// When all but the `youngest` latest instructions are over.
    pub fn all_but(&mut self, slot: usize, youngest: u32) -> u64 {
        let Some((count, times)) = self.recent(slot) else { return 0 };
        let youngest = u64::from(youngest).min(REMEMBERED as u64 - 1);
        match count.checked_sub(youngest + 1) {
            Some(index) => times[index as usize % REMEMBERED],
            None => 0,
        }
    }

    /// Instructions so far, and the latest of them.
    #[inline]
    fn recent(&mut self, slot: usize) -> Option<(&mut u64, &mut [u64])> {
        self.0.get_mut(slot * WORDS..(slot + 1) * WORDS)?.split_last_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_leaves_one_outstanding_waits_for_the_one_before() {
        let mut history = History::new(2, true);
        assert_eq!(history.all_but(1, 0), 0);
        for over in [10, 20, 30] {
            history.note(1, over);
        }
        assert_eq!([0, 1, 2, 3].map(|left| history.all_but(1, left)), [30, 20, 10, 0]);
        (4..40).for_each(|over| history.note(1, over * 10));
        assert_eq!(history.all_but(1, 14), 250);
        assert_eq!(history.all_but(1, 60), 250, "no more than are remembered");
        history.clear(1);
        assert_eq!(history.all_but(1, 0), 0);
        assert_eq!(History::new(2, false).all_but(1, 0), 0);
    }
}
