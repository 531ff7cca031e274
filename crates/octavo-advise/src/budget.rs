//! Chooses the structures that get a limited device memory: the set with the largest total gain.

use octavo_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::Seconds;

/// Candidates that are looked at, each time, before the best choice so far has to do; our choice, about a second's work.
const MOST_LOOKS: u64 = 200_000_000;

/// A structure that may lie in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// What it takes there.
    pub bytes: Bytes,
    /// Seconds that it gains there over the host.
    pub gain: Seconds,
}

/// The chosen structures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// By candidate.
    pub chosen: Vec<bool>,
    /// Total gain of all chosen structures.
    pub gain: Seconds,
    /// Whether nothing gains more; otherwise time was up.
    pub exact: bool,
}

/// The candidates of the largest gain that fit `budget` together: branch and bound in the order of gain a byte, with
/// the bound of a last one that is cut. Candidates that gain nothing are never chosen; of equal choices, the first that
/// is found.
#[must_use]
pub fn choose(candidates: &[Candidate], budget: Bytes) -> Choice {
    let mut order: Vec<usize> = (0..candidates.len())
        .filter(|&index| candidates[index].gain.0 > 0.0 && candidates[index].bytes <= budget)
        .collect();
    let density = |index: &usize| candidates[*index].gain.0 / (candidates[*index].bytes.0 as f64);
    order.sort_by(|one, other| density(other).total_cmp(&density(one)));
    let sorted: Vec<_> = order.iter().map(|&index| candidates[index]).collect();
    let mut search = Search { candidates: &sorted, best: vec![false; sorted.len()], gain: 0.0, looks: 0 };
    search.from(0, budget.0, 0.0, &mut vec![false; sorted.len()]);
    let mut chosen = vec![false; candidates.len()];
    order.iter().zip(&search.best).for_each(|(&index, &taken)| chosen[index] = taken);
    Choice { chosen, gain: Seconds(search.gain), exact: search.looks <= MOST_LOOKS }
}

struct Search<'a> {
    /// In falling order of gain a byte.
    candidates: &'a [Candidate],
    best: Vec<bool>,
    gain: f64,
    looks: u64,
}

impl Search<'_> {
    /// Tries every choice of the candidates from `index` on together with those `taken`, which leave `room` and gain
    /// `gain`.
    fn from(&mut self, index: usize, room: u64, gain: f64, taken: &mut Vec<bool>) {
        self.looks += 1 + (self.candidates.len() - index) as u64;
        if gain > self.gain {
            self.gain = gain;
            self.best.clone_from(taken);
        }
        if self.looks > MOST_LOOKS || index == self.candidates.len() || gain + self.bound(index, room) <= self.gain {
            return;
        }
        let Candidate { bytes, gain: more } = self.candidates[index];
        if bytes.0 <= room {
            taken[index] = true;
            self.from(index + 1, room - bytes.0, gain + more.0, taken);
            taken[index] = false;
        }
        self.from(index + 1, room, gain, taken);
    }

    /// The most that the candidates from `index` on gain in `room`: as if one of them could be divided.
    fn bound(&self, index: usize, mut room: u64) -> f64 {
        let mut bound = 0.0;
        for candidate in &self.candidates[index..] {
            if candidate.bytes.0 > room {
                return bound + candidate.gain.0 * room as f64 / candidate.bytes.0 as f64;
            }
            room -= candidate.bytes.0;
            bound += candidate.gain.0;
        }
        bound
    }
}
