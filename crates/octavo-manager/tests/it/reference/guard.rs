//! The model's guard against thrashing: what it is told, and what it says about faults.

use octavo_manager::{HOST, ProcessorId, ProcessorMask};

use super::fights::{Hint, Seen};
use super::flight::Pending;
use super::model::Model;

/// What a plan tells the guard about neighbouring pages.
#[derive(Debug)]
pub enum Told {
    Moved(Vec<u32>, ProcessorId),
    Overruled(Vec<u32>),
}

impl Model {
    /// Whether a page shall not be moved except for faults.
    pub(super) fn keeps(&self, page: u32) -> bool {
        self.fights.as_ref().is_some_and(|fights| fights.keeps(page))
    }

    /// What the guard says about a fault; it is asked only about managed pages that have one copy and are not
    /// read-mostly.
    pub(super) fn hint(&mut self, pending: &Pending) -> Hint {
        let (page, toucher) = (pending.page(), pending.fault.processor);
        let (state, said) = (&self.pages[&page], self.said(page));
        let sole = state.populated && !state.replicated() && !state.everywhere && !state.broadcast;
        if !sole || !self.is_managed(page) || said.read_mostly {
            return Hint::Pass;
        }
        let (owner, preferred) = (state.memory(state.owner), said.preferred);
        let (now, space, gpus) = (self.now, self.spaces[&page], self.rules.gpus());
        let seen = Seen { now, page, space, toucher, owner, preferred, gpus };
        self.fights.as_mut().map_or(Hint::Pass, |fights| fights.hint(&seen))
    }

    /// A fault waits until then, behind those that wait as long.
    pub(super) fn throttle(&mut self, pending: Pending, until: u64) {
        self.throttled.push((until, pending));
        self.throttled.sort_by_key(|(until, _)| *until);
    }

    /// A page that came to one place is mapped there by all who fight over it, as far as they can.
    pub(super) fn map_fighters(&mut self, flight: u64, page: u32, fighters: ProcessorMask) {
        let state = &self.pages[&page];
        let (owner, mapped) = (state.owner, state.mapped());
        let mappers: Vec<ProcessorId> =
            fighters.iter().filter(|&one| (one != HOST || owner == HOST) && !mapped.contains(one)).collect();
        if mappers.is_empty() {
            return;
        }
        self.counts.remote_maps += mappers.iter().filter(|&&one| one != owner).count() as u64;
        self.change(flight, page, |state| mappers.iter().for_each(|&one| state.map_beside(one)));
    }

    /// Tells the guard what a complete plan moves.
    pub(super) fn tell_guard(&mut self, flight: u64) {
        let told = std::mem::take(&mut self.flights.get_mut(&flight).expect("it is open").told);
        for told in told {
            let (Told::Moved(pages, _) | Told::Overruled(pages)) = &told;
            if !self.is_managed(pages[0]) {
                continue;
            }
            let space = self.spaces[&pages[0]];
            let Some(fights) = &mut self.fights else { return };
            match told {
                Told::Moved(pages, to) => fights.moved(self.now, &pages, to, space),
                Told::Overruled(pages) => fights.overruled(&pages),
            }
        }
    }

    /// When something is to be done though nothing happens.
    pub fn deadline(&self) -> Option<u64> {
        let unpins = self.fights.as_ref().and_then(super::fights::Fights::deadline);
        unpins.into_iter().chain(self.throttled.first().map(|(until, _)| *until)).min()
    }

    /// Time has passed: pages that are no longer pinned go back to their owners, and faults that waited long enough are
    /// served.
    pub fn tick(&mut self) {
        let (now, flights) = (self.now, &self.flights);
        let busy = |page: u32| flights.values().any(|flight| flight.before.contains_key(&page));
        let over = self.fights.as_mut().map(|fights| fights.unpin(now, busy)).unwrap_or_default();
        let flight = self.open_flight();
        for page in over {
            let (state, named) = (&self.pages[&page], self.said(page).accessed_by);
            let stays = |processor: ProcessorId| state.holds(processor) || named.contains(processor);
            let leaving: Vec<ProcessorId> = state.mapped().iter().filter(|&one| !stays(one)).collect();
            if !leaving.is_empty() {
                self.change(flight, page, |state| state.mappings.retain(|one, _| !leaving.contains(one)));
            }
        }
        self.close(flight);
        let due = self.throttled.partition_point(|(until, _)| *until <= now);
        let due: Vec<Pending> = self.throttled.drain(..due).map(|(_, pending)| pending).collect();
        self.serve(due);
        self.work_ahead();
    }
}
