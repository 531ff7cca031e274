//! The lines of vector memory that a compute unit has in flight, where that number is limited.

use std::collections::VecDeque;

/// Lines between the instruction that asked for them and their answers, first come, first served.
pub(crate) struct LineQueue {
    /// 0: there is no queue.
    places: u32,
    taken: u32,
    /// When the last lines were taken up: those that come later are not taken up before.
    since: u64,
    /// When lines are answered, and how many, in the order in which they were taken up.
    answers: VecDeque<(u64, u32)>,
}

impl LineQueue {
    /// So many places.
    pub const fn new(places: u32) -> Self {
        Self { places, taken: 0, since: 0, answers: VecDeque::new() }
    }

    /// When lines that come at `time` are all taken up; more than there are places share them.
    pub fn take_up(&mut self, time: u64, lines: u32) -> u64 {
        self.since = self.since.max(time);
        while let Some(&(answered, left)) = self.answers.front() {
            let full = self.taken + lines > self.places;
            if answered > self.since && !full {
                break;
            }
            self.since = self.since.max(answered);
            self.taken -= left;
            self.answers.pop_front();
        }
        self.taken += lines;
        self.since
    }

    /// The lines taken up last are answered at `time`.
    pub fn note_answer(&mut self, time: u64, lines: u32) {
        self.answers.push_back((time, lines));
    }
}

#[cfg(test)]
mod tests {
    use super::LineQueue;

    fn ask(queue: &mut LineQueue, time: u64, lines: u32, answered: u64) -> u64 {
        let from = queue.take_up(time, lines);
        queue.note_answer(answered, lines);
        from
    }

    #[test]
    fn lines_wait_until_those_before_them_are_answered() {
        let mut queue = LineQueue::new(10);
        assert_eq!([ask(&mut queue, 0, 6, 50), ask(&mut queue, 1, 4, 70)], [0, 1]);
        assert_eq!(ask(&mut queue, 2, 1, 90), 50, "the first six are answered together");
        assert_eq!(ask(&mut queue, 3, 1, 90), 50, "what comes later is taken up later");
        assert_eq!(ask(&mut queue, 80, 8, 100), 80);
    }

    #[test]
    fn more_lines_than_there_are_places_wait_for_all_others() {
        let mut queue = LineQueue::new(4);
        assert_eq!(ask(&mut queue, 0, 3, 50), 0);
        assert_eq!(ask(&mut queue, 0, 9, 60), 50);
        assert_eq!(ask(&mut queue, 0, 1, 70), 60);
    }
}
