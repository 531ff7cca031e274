//! Target and query, where they may match, and how well.

use std::ops::Range;

use rand_chacha::rand_core::RngCore;

use crate::random;

/// Letters that must be the same (Hetero-Mark).
pub const RUN: u64 = 11;
/// Letters from one copy of the query in the target to the next, and one of how many of its letters is changed (this
/// project's choice).
const APART: usize = 1 << 15;
const CHANGED: u32 = 20;

/// Two sequences of letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequences {
    /// What is searched.
    pub target: Vec<u8>,
    /// What for.
    pub query: Vec<u8>,
}

impl Sequences {
    /// This many letters of target and query, drawn.
    #[must_use]
    pub fn drawn(target: u64, query: u64, seed: u64) -> Self {
        let mut random = random::generator(seed, 0);
        let mut letters =
            |count: u64| -> Vec<u8> { (0..count).map(|_| b"ACGT"[random.next_u32() as usize & 3]).collect() };
        let (mut target, query) = (letters(target), letters(query));
        let mut random = random::generator(seed, 1);
        for copy in (APART / 2..target.len().saturating_sub(query.len())).step_by(APART) {
            for (letter, own) in target[copy..].iter_mut().zip(&query) {
                let draw = random.next_u32();
                *letter = if draw.is_multiple_of(CHANGED) { b"ACGT"[draw as usize >> 8 & 3] } else { *own };
            }
        }
        Self { target, query }
    }

    /// Places of the target that are compared.
    #[must_use]
    pub fn places(&self) -> u64 {
        self.target.len() as u64 - RUN
    }

    /// Where in the query the letters from a place on are first found.
    #[must_use]
    pub fn first_match(&self, place: u64) -> Option<u64> {
        let letters = &self.target[place as usize..][..RUN as usize];
        self.query.windows(RUN as usize).position(|run| run == letters).map(|run| run as u64)
    }

    /// Places among `places` that match, those next to one another together.
    #[must_use]
    pub fn runs(&self, places: Range<u64>) -> Vec<Range<u64>> {
        let mut known: Vec<&[u8]> = self.query.windows(RUN as usize).collect();
        known.sort_unstable();
        let matches = |&place: &u64| known.binary_search(&&self.target[place as usize..][..RUN as usize]).is_ok();
        let mut runs: Vec<Range<u64>> = Vec::new();
        for place in places.filter(matches) {
            match runs.last_mut() {
                Some(run) if run.end == place => run.end += 1,
                _ => runs.push(place..place + 1),
            }
        }
        runs
    }

    /// The best score of any part of the query aligned with any part of so much of the target.
    #[must_use]
    pub fn score(&self, of: Range<u64>) -> u32 {
        let mut above = vec![0i32; self.query.len() + 1];
        let mut best = 0;
        for letter in &self.target[of.start as usize..of.end as usize] {
            let mut row = vec![0];
            for (at, own) in self.query.iter().enumerate() {
                let along = above[at] + if own == letter { 4 } else { -1 };
                row.push(along.max(above[at + 1] - 2).max(row[at] - 2).max(0));
            }
            best = row.iter().copied().fold(best, i32::max);
            above = row;
        }
        best as u32
    }
}
