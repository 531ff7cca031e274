//! When launches began and ended, from events recorded around them.

use std::ffi::c_void;

use crate::events::Event;

/// Launches that are timed, the first ones; our choice: two events each, of about 2 µs.
const MOST: usize = 4096;

/// Events before and after a launch.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    begin: Event,
    end: Event,
}

/// A launch that begins: its step, and the event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Began(Option<(usize, Event)>);

/// Launches whose times are still unknown.
#[derive(Debug, Default)]
pub struct Times {
    pending: Vec<(usize, Pair)>,
    /// The end of the last launch with a known time.
    last: Option<Event>,
    timed: usize,
    /// A thread reads them, which alone may end events.
    reading: bool,
}

/// A step, how long it took, and how long after the last one it began.
pub type Timed = (usize, Option<i64>, Option<i64>);

impl Times {
    /// Whether one more is timed.
    pub fn has_room(&self) -> bool {
        self.timed < MOST
    }

    /// One more.
    pub fn add(&mut self, step: usize, pair: Pair) {
        self.timed += 1;
        self.pending.push((step, pair));
    }

    /// Launches that can be read, which happens without a lock; none while another thread reads.
    pub fn take(&mut self) -> Self {
        if self.reading {
            return Self::default();
        }
        self.reading = true;
        Self { pending: std::mem::take(&mut self.pending), last: self.last, timed: self.timed, reading: true }
    }

    /// Launches that could not be read, which come before those added meanwhile.
    pub fn put_back(&mut self, mut left: Self) {
        if !left.reading {
            return;
        }
        self.reading = false;
        left.pending.append(&mut self.pending);
        (self.pending, self.last) = (left.pending, left.last);
    }

    /// Reads finished launches, up to the first unfinished one.
    pub fn read(&mut self) -> Vec<Timed> {
        let over = self.pending.iter().take_while(|(_, pair)| pair.end.is_over()).count();
        let mut found = Vec::new();
        for (step, pair) in self.pending.drain(..over) {
            found.push((step, pair.begin.until(pair.end), self.last.and_then(|last| last.until(pair.begin))));
            pair.begin.end();
            if let Some(last) = self.last.replace(pair.end) {
                last.end();
            }
        }
        found
    }
}

/// A launch begins that is timed, if it has a step.
pub fn begin(step: Option<usize>, stream: *mut c_void) -> Began {
    Began(step.zip(step.and_then(|_| Event::of(stream))))
}

/// It was launched.
pub fn end(began: Began, stream: *mut c_void) -> Option<(usize, Pair)> {
    let (step, begin) = began.0?;
    let end = Event::of(stream)?;
    Some((step, Pair { begin, end }))
}
