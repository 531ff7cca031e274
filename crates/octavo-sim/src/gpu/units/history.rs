//! The ends of each wavefront's latest memory instructions: for waits that leave the youngest outstanding.

use prefetch_index::prefetch_index;

use crate::gpu::units::stalls::Answer;

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
    /// By wavefront slot, what each of those times is the arrival of.
    answers: Vec<[Answer; REMEMBERED]>,
    /// Some waits of the workload leave instructions outstanding.
    is_kept: bool,
}

impl History {
    /// `is_kept`: some waits of the workload leave instructions outstanding; nothing is remembered otherwise.
    pub const fn new(is_kept: bool) -> Self {
        Self { recent: Vec::new(), answers: Vec::new(), is_kept }
    }

    /// A wavefront begins in `slot`, which is new or had others before.
    pub fn begin_wave(&mut self, slot: usize) {
        if !self.is_kept {
            return;
        }
        if slot >= self.recent.len() {
            self.recent.resize(slot + 1, Recent::default());
            self.answers.resize(slot + 1, Default::default());
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

    /// The wavefront has issued an instruction; it and all before it end at `over`, with this answer.
    #[inline]
    pub fn note(&mut self, slot: usize, (over, answer): (u64, Answer)) {
        if let Some(Recent { times, count }) = self.recent.get_mut(slot) {
            let place = *count as usize % REMEMBERED;
            times[place] = over;
            self.answers[slot][place] = answer;
            *count += 1;
        }
    }

    /// The end of all but the `youngest` latest instructions, and the place of its answer, which is needed later.
    pub fn all_but(&self, slot: usize, youngest: u32) -> (u64, usize) {
        let Some(Recent { times, count }) = self.recent.get(slot) else { return (0, 0) };
        let youngest = u64::from(youngest).min(REMEMBERED as u64 - 1);
        match count.checked_sub(youngest + 1) {
            Some(index) => {
                let place = index as usize % REMEMBERED;
                prefetch_index(self.answers[slot].as_slice(), place);
                (times[place], place)
            }
            None => (0, 0),
        }
    }

    /// The answer that is remembered at a place.
    pub fn answer(&self, slot: usize, place: usize) -> Answer {
        self.answers[slot][place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_leaves_one_outstanding_waits_for_the_one_before() {
        let mut history = History::new(true);
        let all_but = |history: &History, left| history.all_but(1, left).0;
        history.begin_wave(1);
        assert_eq!(all_but(&history, 0), 0);
        for over in [10, 20, 30] {
            history.note(1, (over, Answer { page: over as u32, ..Answer::default() }));
        }
        assert_eq!([0, 1, 2, 3].map(|left| all_but(&history, left)), [30, 20, 10, 0]);
        let page = |left| history.answer(1, history.all_but(1, left).1).page;
        assert_eq!([0, 1, 2].map(page), [30, 20, 10]);
        (4..40).for_each(|over| history.note(1, (over * 10, Answer::default())));
        assert_eq!(all_but(&history, 14), 250);
        assert_eq!(all_but(&history, 60), 250, "no more than are remembered");
        history.begin_wave(1);
        assert_eq!(all_but(&history, 0), 0);
    }

    #[test]
    fn nothing_is_kept_that_nobody_asks_for() {
        let mut history = History::new(false);
        history.begin_wave(1);
        history.note(1, (10, Answer::default()));
        assert_eq!((history.is_kept(), history.all_but(1, 0)), (false, (0, 0)));
    }
}
