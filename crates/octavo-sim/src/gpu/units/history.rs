//! The ends of each wavefront's latest memory instructions: for waits that leave the youngest outstanding.

use prefetch_index::prefetch_index;

/// Instructions remembered of each wavefront. GCN3 counts at most 15 outstanding; a wait that would leave more waits
/// until this many are left.
const REMEMBERED: usize = 15;

/// The history of one wavefront, in two cache lines of the simulating machine.
#[derive(Clone, Copy, Default)]
#[repr(align(128))]
struct Recent {
    /// The end of an instruction and of all before it.
    times: [u64; REMEMBERED],
    /// Instructions so far.
    count: u64,
}

/// By wavefront slot, as far as there were any.
pub(crate) struct History {
    recent: Vec<Recent>,
    /// Some waits of the workload leave instructions outstanding.
    is_kept: bool,
}

impl History {
    /// `is_kept`: some waits of the workload leave instructions outstanding; nothing is remembered otherwise.
    pub const fn new(is_kept: bool) -> Self {
        Self { recent: Vec::new(), is_kept }
    }

    /// A wavefront begins in `slot`, which is new or had others before.
    pub fn begin_wave(&mut self, slot: usize) {
        if !self.is_kept {
            return;
        }
        if slot >= self.recent.len() {
            self.recent.resize(slot + 1, Recent::default());
        }
        self.recent[slot].count = 0;
    }

    /// Whether anything is remembered.
    #[inline]
    pub const fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// A hint that the history of a wavefront is needed soon.
    #[inline(always)]
    pub fn hint(&self, slot: usize) {
        if let Some(Recent { times, .. }) = self.recent.get(slot) {
            prefetch_index(times, 0);
            prefetch_index(times, REMEMBERED - 1);
        }
    }

    /// The wavefront has issued an instruction; it and all before it end at `over`.
    #[inline]
    pub fn note(&mut self, slot: usize, over: u64) {
        if let Some(Recent { times, count }) = self.recent.get_mut(slot) {
            times[*count as usize % REMEMBERED] = over;
            *count += 1;
        }
    }

    /// The end of all but the `youngest` latest instructions.
    pub fn all_but(&self, slot: usize, youngest: u32) -> u64 {
        let Some(Recent { times, count }) = self.recent.get(slot) else { return 0 };
        let youngest = u64::from(youngest).min(REMEMBERED as u64 - 1);
        match count.checked_sub(youngest + 1) {
            Some(index) => times[index as usize % REMEMBERED],
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_leaves_one_outstanding_waits_for_the_one_before() {
        let mut history = History::new(true);
        history.begin_wave(1);
        assert_eq!(history.all_but(1, 0), 0);
        for over in [10, 20, 30] {
            history.note(1, over);
        }
        assert_eq!([0, 1, 2, 3].map(|left| history.all_but(1, left)), [30, 20, 10, 0]);
        (4..40).for_each(|over| history.note(1, over * 10));
        assert_eq!(history.all_but(1, 14), 250);
        assert_eq!(history.all_but(1, 60), 250, "no more than are remembered");
        history.begin_wave(1);
        assert_eq!(history.all_but(1, 0), 0);
    }

    #[test]
    fn nothing_is_kept_that_nobody_asks_for() {
        let mut history = History::new(false);
        history.begin_wave(1);
        history.note(1, 10);
        assert_eq!((history.is_kept(), history.all_but(1, 0)), (false, 0));
    }
}
