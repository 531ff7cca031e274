//! When launches began and ended, by events beside them.

use std::ffi::c_void;

use crate::events::Event;
use crate::guard::guarded;
use crate::recorder::steps::Step;
use crate::recorder::{Recorder, told};

/// Launches that are timed, the first ones; chosen: two events each, of about 2 µs.
const MOST: usize = 4096;

/// Events before and after a launch.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    begin: Event,
    end: Event,
}

/// What is known of a launch that begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Began(Option<(usize, Event)>);

/// Launches whose times are not known yet.
#[derive(Debug, Default)]
pub struct Times {
    pending: Vec<(usize, Pair)>,
    /// The end of the last one whose time is known.
    last: Option<Event>,
    timed: usize,
}

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

/// The host has waited: times can be read, and it may touch what was used.
pub fn waited() {
    if Recorder::current().is_none() {
        return;
    }
    read();
    told(|_, known| {
        known.steps.add(Step::Wait);
        known.left();
    });
}

/// Reads the times of launches that are over, without a lock.
fn read() {
    let taken = told(|_, known| (std::mem::take(&mut known.times.pending), known.times.last));
    let Some((pending, mut last)) = taken.filter(|(pending, _)| !pending.is_empty()) else { return };
    let mut later = Vec::new();
    let mut found = Vec::new();
    guarded(|| {
        for (step, pair) in pending {
            if !later.is_empty() || !pair.end.is_over() {
                later.push((step, pair));
                continue;
            }
            found.push((step, pair.begin.until(pair.end), last.and_then(|last| last.until(pair.begin))));
            pair.begin.end();
            if let Some(last) = last.replace(pair.end) {
                last.end();
            }
        }
    });
    told(|_, known| {
        found.into_iter().for_each(|(step, took, since)| known.steps.time(step, took, since));
        later.append(&mut known.times.pending);
        known.times.pending = later;
        known.times.last = last;
    });
}
