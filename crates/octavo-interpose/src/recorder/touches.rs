//! Which processors touched managed memory, as far as the host's mapped pages show.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::pages::{Content, Mapped, content, mapped, same};
use crate::recorder::steps::{Step, Steps};

/// Rounds of an allocation that are always looked at; our choice.
const SURE: u32 = 256;
/// Later ones are checked while that takes less than this part of the time; our choice.
const PART: u32 = 50;

/// An allocation: its number, begin and bytes.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub number: usize,
    pub begin: u64,
    pub bytes: u64,
}

/// Observations of an allocation.
#[derive(Clone, Copy, Debug)]
struct Look {
    place: Place,
    /// The pages that the host had mapped before the launches since the last wait.
    before: Mapped,
    /// The pages that it had mapped after that wait; none while launches use it.
    after: Option<Mapped>,
    content: Content,
    /// Waits after which it was looked at.
    rounds: u32,
}

/// By allocation.
#[derive(Debug, Default)]
pub struct Touches {
    looks: HashMap<usize, Look>,
    /// Allocations that launches have used since a wait for them, and in which stream last.
    used: Vec<(usize, usize)>,
    begun: Option<Instant>,
    spent: Duration,
}

impl Touches {
    /// An allocation ends: the host's last touches of it.
    pub fn end(&mut self, number: usize, steps: &mut Steps) {
        if let Some(place) = self.looks.get(&number).map(|look| look.place) {
            self.touched(place, steps);
        }
        self.looks.remove(&number);
        self.used.retain(|(used, _)| *used != number);
    }

    /// The process ends.
    pub fn end_all(&mut self, steps: &mut Steps) {
        let mut left: Vec<usize> = self.looks.keys().copied().collect();
        left.sort_unstable();
        left.into_iter().for_each(|number| self.end(number, steps));
    }

    /// A launch is about to use an allocation: what the host has done with it until now.
    pub fn before_launch(&mut self, place: Place, stream: usize, steps: &mut Steps) {
        if let Some((_, last)) = self.used.iter_mut().find(|(number, _)| *number == place.number) {
            *last = stream;
        } else if self.touched(place, steps) {
            self.used.push((place.number, stream));
        }
    }

    /// Records the host's touches of an allocation since the host got access; false where touches cannot be seen.
    fn touched(&mut self, place: Place, steps: &mut Steps) -> bool {
        let old = self.looks.get(&place.number).copied();
        if old.is_some_and(|old| old.after.is_none()) {
            return true;
        }
        let Some(now) = self.timed(|| mapped(place.begin, place.bytes)) else { return false };
        let new = now.without(old.and_then(|old| old.after).unwrap_or_default());
        let mut known = old.map_or([0; _], |old| old.content);
        if new.share() > 0.0 {
            let content = self.timed(|| content(place.begin, place.bytes, now));
            let written = !old.is_some_and(|old| same(&old.content, &content));
            steps.add(Step::Touched { allocation: place.number, share: new.share(), written });
            known.iter_mut().zip(content).filter(|(_, now)| *now != 0).for_each(|(known, now)| *known = now);
        }
        let rounds = old.map_or(0, |old| old.rounds);
        self.looks.insert(place.number, Look { place, before: now, after: None, content: known, rounds });
        true
    }

    /// The host has waited for a stream, or for all: pages that have left it for launches there.
    pub fn after_wait(&mut self, stream: Option<usize>, steps: &mut Steps) {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let waited = |(_, used_in): &mut (usize, usize)| stream.is_none_or(|stream| stream == *used_in);
        for (number, _) in self.used.extract_if(.., waited).collect::<Vec<_>>() {
            let Some(look) = self.looks.get(&number).copied() else { continue };
            let rare = look.rounds >= SURE && self.spent > begun.elapsed() / PART;
            let now = if rare { None } else { self.timed(|| mapped(look.place.begin, look.place.bytes)) };
            let Some(look) = self.looks.get_mut(&number) else { continue };
            let Some(now) = now else {
                // Nothing is known of this round, and the next one begins with nothing.
                look.before = Mapped::default();
                continue;
            };
            (look.after, look.rounds) = (Some(now), look.rounds + 1);
            steps.add(Step::Left { allocation: number, share: look.before.without(now).share() });
        }
    }

    fn timed<T>(&mut self, look: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let found = look();
        self.spent += begun.elapsed();
        found
    }
}
