//! Frames: who has to leave so that a page can come.

use octavo_manager::{HOST, ProcessorId, ProcessorMask};

use super::flight::Flight;
use super::model::Model;
use super::page::Page;

impl Model {
    pub(super) fn open_flight(&mut self) -> u64 {
        self.next_flight += 1;
        self.flights.insert(self.next_flight, Flight::default());
        self.next_flight
    }

    pub(super) fn close_empty(&mut self, flight: u64) {
        if self.flights[&flight].before.is_empty() {
            self.flights.remove(&flight);
        }
    }

    /// Changes a page as part of `flight`, if `user`'s memory has or can be given the room for it. The service is a
    /// use of the copy that serves `user` afterwards.
    pub(super) fn change(
        &mut self,
        flight: u64,
        page: u32,
        user: ProcessorId,
        change: impl FnOnce(&mut Page),
    ) -> bool {
        let before = self.pages[&page].clone();
        change(self.pages.get_mut(&page).expect("it is allocated"));
        self.flights.get_mut(&flight).expect("it is open").before.insert(page, before.clone());
        if !self.make_room(flight, user, page) {
            self.pages.insert(page, before);
            self.flights.get_mut(&flight).expect("it is open").before.remove(&page);
            return false;
        }
        let holder = if self.pages[&page].holds(user) { user } else { self.pages[&page].owner };
        if holder != HOST {
            self.lru.used(holder, page);
        }
        true
    }

    /// Evicts others until `processor` holds no more than fits; `false` if that is impossible for now.
    fn make_room(&mut self, flight: u64, processor: ProcessorId, incoming: u32) -> bool {
        if self.capacity(processor) == u32::MAX {
            return true; // a short cut past looking at every page
        }
        while self.held(processor) > self.capacity(processor) {
            let victims = self.victims(processor, Some(incoming));
            if victims.is_empty() {
                return false;
            }
            victims.into_iter().for_each(|victim| self.evict(flight, processor, victim));
        }
        true
    }

    fn victims(&self, processor: ProcessorId, incoming: Option<u32>) -> Vec<u32> {
        let (pages, flights) = (&self.pages, &self.flights);
        let busy = |page| flights.values().any(|flight| flight.before.contains_key(&page));
        let here = |page| incoming != Some(page) && pages.get(&page).is_some_and(|state| state.fills(processor));
        self.lru.victims(processor, here, busy)
    }

    fn evict(&mut self, flight: u64, from: ProcessorId, victim: u32) {
        let state = self.pages.get_mut(&victim).expect("it is allocated");
        let flight = self.flights.get_mut(&flight).expect("it is open");
        flight.before.insert(victim, state.clone());
        flight.evicted.push((from, victim));
        if state.replicated() {
            self.counts.evictions_dropped += 1;
        } else {
            self.counts.evictions_written += 1;
        }
        state.leave(from);
    }

    /// Memories that hold more than fits, because their capacity was taken away, give up what they can.
    pub(super) fn shrink(&mut self) {
        for processor in ProcessorMask::all_gpus(self.rules.gpus()).iter() {
            let flight = self.open_flight();
            self.shrink_one(flight, processor);
            self.close_empty(flight);
        }
    }

    fn shrink_one(&mut self, flight: u64, processor: ProcessorId) {
        // What unfinished plans give up is as good as gone: evicting for it too would give up too much.
        while self.resident(processor) > self.capacity(processor) {
            let victims = self.victims(processor, None);
            if victims.is_empty() {
                return;
            }
            victims.into_iter().for_each(|victim| self.evict(flight, processor, victim));
        }
    }

    fn resident(&self, processor: ProcessorId) -> u32 {
        self.pages.values().filter(|page| page.fills(processor)).count() as u32
    }

    /// Whether this many more pages fit without anybody leaving.
    pub(super) fn fits(&self, processor: ProcessorId, pages: u32) -> bool {
        self.held(processor).saturating_add(pages) <= self.capacity(processor)
    }
}
