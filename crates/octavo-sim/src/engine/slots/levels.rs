//! The number of places held at each time from the clock on.

use std::collections::VecDeque;
use std::ops::Range;

/// Past levels are dropped when there are this many.
const DROPPED: usize = 64;

/// A step function: no two levels that follow one another are the same, and the last is 0.
pub(super) struct Levels {
    places: u32,
    /// When each level begins.
    times: Vec<u64>,
    held: Vec<u32>,
    /// The level of the clock, as of the last look.
    first: usize,
}

impl Levels {
    pub fn new(places: u32) -> Self {
        Self { places, times: vec![0], held: vec![0], first: 0 }
    }

    /// Changes of level that lie ahead.
    pub fn len(&self) -> usize {
        self.times.len() - 1 - self.first
    }

    /// No request is earlier than `now` again.
    #[inline]
    pub fn forget_before(&mut self, now: u64) {
        while self.times.get(self.first + 1).is_some_and(|&time| time <= now) {
            self.first += 1;
        }
        if self.first >= DROPPED {
            self.times.drain(..self.first);
            self.held.drain(..self.first);
            self.first = 0;
        }
    }

    /// The first time from `time` on at which `count` places are free, `count` being no more than there are.
    pub fn first_with_room(&self, count: u32, time: u64) -> u64 {
        self.with_room(count, time).1
    }

    /// The same, with the level of that time before it.
    fn with_room(&self, count: u32, time: u64) -> (usize, u64) {
        let most = self.places - count;
        let at = self.at(time);
        if self.held[at] <= most {
            return (at, time);
        }
        let room = at + position(&self.held[at..], |held| held <= most).unwrap_or(0);
        (room, self.times[room])
    }

    /// Holds a place for so long in all, at the first times from `from` on that have one.
    pub fn hold(&mut self, from: u64, until: u64) {
        let (mut from, mut left) = (from, until - from);
        while left > 0 {
            let (at, begin) = self.with_room(1, from);
            let end = self.not_before(at, begin + left);
            let full = position(&self.held[at..end], |held| held == self.places).map(|full| at + full);
            let until = full.map_or(begin + left, |full| self.times[full]);
            self.add(at..full.unwrap_or(end), begin, until);
            left -= until - begin;
            from = until;
        }
    }

    /// The first of the levels after `at` that does not begin before `time`, or how many there are.
    fn not_before(&self, at: usize, time: u64) -> usize {
        at + 1 + self.times[at + 1..].partition_point(|&begins| begins < time)
    }

    /// One more place is held from `from`, in the first of `levels`, to `until`, in the last.
    fn add(&mut self, levels: Range<usize>, from: u64, until: u64) {
        let Range { start, mut end } = levels;
        let (mut begin, before) = (start, self.held[end - 1]);
        for held in &mut self.held[start..end] {
            *held += 1;
        }
        if self.times[start] < from {
            begin += 1;
            end += 1;
            self.insert(begin, from, self.held[start]);
            self.held[start] -= 1;
        }
        match self.times.get(end) {
            Some(&time) if time == until => {
                if self.held[end] == before + 1 {
                    self.remove(end);
                }
            }
            _ => self.insert(end, until, before),
        }
        if begin > self.first && self.held[begin - 1] == self.held[begin] {
            self.remove(begin);
        }
    }

    /// When requests begin and end, from `now` on, that together hold as much.
    pub fn requests(&self, now: u64) -> Vec<(u64, u64)> {
        let (mut begun, mut requests) = (VecDeque::new(), Vec::new());
        let mut before = 0;
        for (&time, &held) in self.times[self.first..].iter().zip(&self.held[self.first..]) {
            begun.extend((before..held).map(|_| time.max(now)));
            requests.extend(begun.drain(..(before.saturating_sub(held)) as usize).map(|from| (from, time)));
            before = held;
        }
        requests
    }

    fn insert(&mut self, at: usize, time: u64, held: u32) {
        self.times.insert(at, time);
        self.held.insert(at, held);
    }

    fn remove(&mut self, at: usize) {
        self.times.remove(at);
        self.held.remove(at);
    }

    /// The level at `time`, which is not before the clock.
    #[inline]
    fn at(&self, time: u64) -> usize {
        self.first + self.times[self.first + 1..].partition_point(|&begins| begins <= time)
    }
}

/// Where the first of `held` is that `matches`. Sixteen are looked at together: the compiler makes vector instructions of
/// that.
#[inline]
fn position(held: &[u32], matches: impl Fn(u32) -> bool) -> Option<usize> {
    let chunks = held.chunks_exact(16);
    let beyond = held.len() - chunks.remainder().len();
    let mut found = chunks.map(|chunk| chunk.iter().fold(false, |any, &held| any | matches(held)));
    let from = found.position(|any| any).map_or(beyond, |chunk| chunk * 16);
    held[from..].iter().position(|&held| matches(held)).map(|at| from + at)
}
