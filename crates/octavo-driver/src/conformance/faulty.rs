//! An executor that refuses, delays, reorders and wakes late.

use octavo_manager::{Manager, PageRun, Plan, Prefix, Random, Refusal, Step, Why};
use octavo_units::Time;

use super::machine::pages_of;
use crate::driver::Driver;
use crate::executor::{Begun, Executor, Happening, Ticket, Wake};
use crate::faults::{FaultId, Outstanding};

/// How often something goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mood {
    /// One in this many beginnings is refused after a random part; 0: none.
    pub refuses: u32,
    /// One in this many starts later, and ends in any order; 0: none.
    pub delays: u32,
    /// Wakes arrive in any order, and one in this many times none does for a while; 0: each at once.
    pub wakes_late: u32,
    /// Accesses whose wake-up has arrived are retried in any order, one in this many later; 0: each at once.
    pub retries_late: u32,
    /// One in this many of the suite's events is an entry that vanishes; 0: none.
    pub entries_vanish: u32,
    /// The reason that refusals give.
    pub why: Option<Why>,
    /// The number of the call of `begin` that is refused, from 0, and how much is done before.
    pub at: Option<(u64, Prefix)>,
}

/// The failures so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Troubles {
    /// Beginnings and ends that were refused.
    pub refused: u64,
    /// Steps that were put off.
    pub delayed: u64,
    /// Steps among these that ended before older ones.
    pub reordered: u64,
    /// Wakes that arrived before older ones.
    pub wakes_reordered: u64,
    /// Times that accesses were put off after their wake.
    pub retries_put_off: u64,
}

/// Another executor, which completes each step before it answers, in a [`Mood`].
pub struct Faulty<E> {
    /// The other.
    pub inner: E,
    mood: Mood,
    random: Random,
    /// Steps that were put off, oldest first.
    under_way: Vec<(Ticket, Vec<Step>)>,
    /// Wakes under way, oldest first.
    wakes: Vec<FaultId>,
    begun: u64,
    /// What went wrong.
    pub troubles: Troubles,
    /// Beginnings and how far each could be refused.
    pub points: Vec<(u64, Prefix)>,
}

impl<E: Executor> Faulty<E> {
    /// The same seed, the same troubles.
    pub fn new(inner: E, mood: Mood, seed: u32) -> Self {
        let (under_way, wakes, points) = (Vec::new(), Vec::new(), Vec::new());
        let troubles = Troubles::default();
        Self { inner, mood, random: Random::new(seed), under_way, wakes, begun: 0, troubles, points }
    }

    /// Ends steps that were put off, whichever come first; whether there were any.
    pub fn go_on(&mut self, now: Time, driver: &mut Driver) -> bool {
        if self.under_way.is_empty() {
            return false;
        }
        let at = self.random.below(self.under_way.len() as u32) as usize;
        let (ticket, steps) = self.under_way.remove(at);
        self.troubles.reordered += u64::from(at > 0);
        let how = if self.one_in(self.mood.refuses) {
            let refusal = Refusal { done: self.some_of(&steps), why: self.why() };
            self.carry_out(now, ticket, &steps, refusal.done);
            self.troubles.refused += 1;
            Err(refusal)
        } else {
            self.carry_out(now, ticket, &steps, Prefix { steps: steps.len() as u32, pages: 0 });
            Ok(())
        };
        driver.finished(now, ticket, how, self);
        true
    }

    /// A wake that arrives now: the oldest, or any if they are late, and then perhaps none but of the `last`.
    pub fn arriving_wake(&mut self, last: bool) -> Option<FaultId> {
        if self.wakes.is_empty() || !last && self.one_in(self.mood.wakes_late) {
            return None;
        }
        let late = self.mood.wakes_late > 0;
        let at = if late { self.random.below(self.wakes.len() as u32) } else { 0 };
        self.troubles.wakes_reordered += u64::from(at > 0);
        Some(self.wakes.remove(at as usize))
    }

    /// Whether the accesses of a wake that has arrived are put off.
    pub fn puts_retry_off(&mut self) -> bool {
        let off = self.one_in(self.mood.retries_late);
        self.troubles.retries_put_off += u64::from(off);
        off
    }

    fn one_in(&mut self, many: u32) -> bool {
        many > 0 && self.random.below(many) == 0
    }

    fn why(&self) -> Why {
        self.mood.why.unwrap_or(Why::Again)
    }

    /// Some of these steps, less than all, and some pages of the next.
    fn some_of(&mut self, steps: &[Step]) -> Prefix {
        let whole = self.random.below(steps.len() as u32);
        let pages = pages_of(&steps[whole as usize]).map_or(1, |run| run.count);
        Prefix { steps: whole, pages: self.random.below(pages) }
    }

    /// Has the other do so much of these steps.
    fn carry_out(&mut self, now: Time, ticket: Ticket, steps: &[Step], done: Prefix) {
        let (whole, rest) = steps.split_at(done.steps as usize);
        let part = rest.first().and_then(|step| done.part(step));
        let steps: Vec<Step> = whole.iter().copied().chain(part).collect();
        let mut next = 0;
        while next < steps.len() {
            let ticket = Ticket { step: ticket.step + next as u32, ..ticket };
            let begun = self.inner.begin(now, ticket, &steps[next..]);
            let Begun::Done(steps) = begun else { panic!("{begun:?} is not done") };
            next += steps as usize;
        }
    }

    /// The places where this start could be refused.
    fn note_points(&mut self, steps: &[Step]) {
        let begun = self.begun;
        for (index, step) in steps.iter().enumerate() {
            let pages = pages_of(step).map_or(1, |run| run.count);
            let prefix = |pages| Prefix { steps: index as u32, pages };
            self.points.extend((0..pages).map(|pages| (begun, prefix(pages))));
        }
    }
}

impl<E: Executor> Executor for Faulty<E> {
    fn admit(&mut self, now: Time, ticket: Ticket, plan: &Plan) -> Begun {
        self.inner.admit(now, ticket, plan)
    }

    fn begin(&mut self, now: Time, ticket: Ticket, left: &[Step]) -> Begun {
        let steps = left.iter().take_while(|step| !matches!(step, Step::Wake { .. })).count();
        self.note_points(&left[..steps]);
        self.begun += 1;
        let planned = self.mood.at.filter(|(at, _)| *at == self.begun - 1).map(|(_, done)| done);
        if let Some(done) = planned.or_else(|| self.one_in(self.mood.refuses).then(|| self.some_of(&left[..steps]))) {
            self.carry_out(now, ticket, left, done);
            self.troubles.refused += 1;
            return Begun::Refused(Refusal { done, why: self.why() });
        }
        if self.one_in(self.mood.delays) {
            let some = 1 + self.random.below(steps as u32) as usize;
            self.troubles.delayed += 1;
            self.under_way.push((ticket, left[..some].to_vec()));
            return Begun::Later(some as u32);
        }
        self.inner.begin(now, ticket, left)
    }

    /// The other one gets the report when it arrives, and processors that waited continue before the page can be taken
    /// away.
    fn wake(&mut self, _now: Time, id: FaultId, _fault: &Outstanding) -> Wake {
        self.wakes.push(id);
        Wake::UnderWay
    }

    fn kill(&mut self, now: Time, id: FaultId, fault: &Outstanding) {
        self.inner.kill(now, id, fault);
    }

    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager) {
        self.inner.free(now, run, token, manager);
    }

    fn hear(&mut self, now: Time, happening: Happening<'_>) {
        self.inner.hear(now, happening);
    }
}
