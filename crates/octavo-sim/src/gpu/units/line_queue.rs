//! The lines of vector memory that a compute unit has in flight, where that number is limited.

use std::collections::VecDeque;

/// Lines between the instruction that requested them and their answers, instruction by instruction.
pub(crate) struct LineQueue {
    /// 0: there is no queue.
    places: u32,
    taken: u32,
    /// The times when instructions are answered, and their numbers of lines, in the order in which they were accepted.
    answers: VecDeque<(u64, u32)>,
}

impl LineQueue {
    /// So many places.
    pub const fn new(places: u32) -> Self {
        Self { places, taken: 0, answers: VecDeque::new() }
    }

    /// The time when there is room for an instruction with this many lines that arrives at `time`. A request with more
    /// lines than there are places waits for all others.
    pub fn room(&mut self, time: u64, lines: u32) -> u64 {
        while self.answers.front().is_some_and(|(answered, _)| *answered <= time) {
            self.taken -= self.answers.pop_front().map_or(0, |(_, lines)| lines);
        }
        let mut left = self.taken;
        for (answered, answers) in &self.answers {
            if left + lines <= self.places {
                break;
            }
            left -= answers;
            if left == 0 || left + lines <= self.places {
                return *answered;
            }
        }
        time
    }

    /// An instruction for which there was room is answered at `time`.
    pub fn take_up(&mut self, lines: u32, answered: u64) {
        self.taken += lines;
        self.answers.push_back((answered, lines));
    }
}

#[cfg(test)]
mod tests {
    use super::LineQueue;

    fn full() -> LineQueue {
        let mut queue = LineQueue::new(10);
        queue.take_up(6, 50);
        queue.take_up(4, 70);
        queue
    }

    #[test]
    fn an_instruction_waits_until_enough_lines_are_answered() {
        assert_eq!([1, 6, 7, 10].map(|lines| full().room(2, lines)), [50, 50, 70, 70]);
        assert_eq!([50, 60, 70].map(|time| full().room(time, 6)), [50, 60, 70]);
        assert_eq!(full().room(60, 7), 70);
    }

    #[test]
    fn one_with_more_lines_than_there_are_places_waits_for_all_others() {
        assert_eq!((full().room(0, 11), full().room(70, 11)), (70, 70));
        let mut queue = LineQueue::new(4);
        assert_eq!(queue.room(3, 9), 3);
        queue.take_up(9, 60);
        assert_eq!(queue.room(4, 1), 60);
    }
}
