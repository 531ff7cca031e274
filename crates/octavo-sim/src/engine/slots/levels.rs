//! How many places are held at each time from the clock on.

use std::collections::VecDeque;

/// Levels that are over are dropped when there are so many.
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

    /// Nothing is asked for before `now` again.
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
        let most = self.places - count;
        let at = self.at(time);
        if self.held[at] <= most {
            return time;
        }
        let after = self.held[at..].iter().position(|&held| held <= most).unwrap_or(0);
        self.times[at + after]
    }

    /// Holds a place for so long in all, at the first times from `from` on that have one.
    pub fn hold(&mut self, from: u64, until: u64) {
        let (mut from, mut left) = (from, until - from);
        while left > 0 {
            from = self.first_with_room(1, from);
            let at = self.at(from);
            let until = self.first_full(at, from + left);
            self.add(at, from, until);
            left -= until - from;
            from = until;
        }
    }

    /// The first time before `to`, of those of levels from `at` on, at which all places are held; otherwise `to`.
    fn first_full(&self, at: usize, to: u64) -> u64 {
        let held = self.held[at..].iter().zip(&self.times[at..]);
        let full = held.take_while(|(_, time)| **time < to).find(|(held, _)| **held == self.places);
        full.map_or(to, |(_, time)| *time)
    }

    /// One place more is held from `from`, at level `at`, until `until`.
    fn add(&mut self, at: usize, from: u64, until: u64) {
        let mut begin = at;
        if self.times[at] < from {
            begin += 1;
            self.insert(begin, from, self.held[at]);
        }
        let mut end = begin;
        let before = loop {
            let held = self.held[end];
            self.held[end] += 1;
            end += 1;
            if self.times.get(end).is_none_or(|&time| time >= until) {
                break held;
            }
        };
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
