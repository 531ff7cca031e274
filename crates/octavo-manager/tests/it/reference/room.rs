//! Frames: who has to leave so that a page can come.

use octavo_manager::{HOST, MemoryId, ProcessorId, ProcessorMask};

use super::flight::Flight;
use super::guard::Told;
use super::kinds::Moves;
use super::model::Model;
use super::page::Page;
use super::sharing::Need;

impl Model {
    pub(super) fn open_flight(&mut self) -> u64 {
        self.next_flight += 1;
        self.flights.insert(self.next_flight, Flight::default());
        self.next_flight
    }

    /// A plan is whole; one that changes nothing is none.
    pub(super) fn close(&mut self, flight: u64) {
        self.coalesce(flight);
        self.tell_guard(flight);
        if self.flights[&flight].before.is_empty() {
            self.flights.remove(&flight);
        }
    }

    pub(super) fn flight(&mut self, number: u64) -> &mut Flight {
        self.flights.get_mut(&number).expect("it is open")
    }

    /// Changes a page as part of `flight`, if the GPU that it comes to has or can be given the room for it.
    pub(super) fn change(&mut self, flight: u64, page: u32, change: impl FnOnce(&mut Page)) -> bool {
        let mut after = self.pages[&page].clone();
        change(&mut after);
        let comes = |gpu: &ProcessorId| after.fills(*gpu) && !self.pages[&page].fills(*gpu);
        let taker = ProcessorMask::all_gpus(self.rules.gpus()).iter().find(comes);
        if taker.is_some_and(|gpu| !self.make_room(flight, gpu, 1, page)) {
            return false;
        }
        self.record(flight, page, after);
        true
    }

    fn bring(&mut self, flight: u64, page: u32, to: ProcessorId) {
        let mut after = self.pages[&page].clone();
        self.counts.populated += u64::from(!after.populated);
        after.move_to(to);
        self.record(flight, page, after);
        if to != HOST {
            self.order(page).used(to, page);
        }
        self.map_accessors(flight, page);
    }

    pub(super) fn record(&mut self, number: u64, page: u32, after: Page) {
        let mut after = after;
        if after.fills(HOST) && !self.pages[&page].fills(HOST) {
            after.host = self.nearest_with_room().expect("tests have room on the host");
        } else if !after.fills(HOST) {
            after.host = 0;
        }
        let before = self.pages.insert(page, after.clone()).expect("it is allocated");
        let memories = self.memories();
        let flight = self.flights.get_mut(&number).expect("it is open");
        for memory in memories {
            let frames = i64::from(after.takes(memory)) - i64::from(before.takes(memory));
            flight.moves(memory, frames);
        }
        flight.changes(page, before.clone());
        self.follow(number, page, &before);
    }

    /// Moves pages to `to` for no fault's sake: those that lie next to each other and are alike together or not at
    /// all, in ascending order. Making room for the first may send others to the host, which then stay there. How many
    /// moved.
    pub(super) fn move_together(&mut self, flight: u64, pages: &[u32], to: ProcessorId) -> u64 {
        let mut moved = 0;
        let mut rest = pages;
        while let Some(&first) = rest.first() {
            let count = self.alike(rest);
            let (run, others) = rest.split_at(count);
            rest = others;
            if !self.busy(first) && self.make_room(flight, to, run.len(), first) {
                let populated = self.pages[&first].populated;
                run.iter().for_each(|&page| self.bring(flight, page, to));
                // What goes to several memories of the host are several moves.
                let place = |page: &u32| self.pages[page].memory(to);
                let moves: Vec<Told> = run
                    .chunk_by(|one, next| place(one) == place(next))
                    .map(|pages| Told::Moved(pages.to_vec(), to))
                    .collect();
                self.flight(flight).told.extend(moves.into_iter().filter(|_| populated));
                moved += run.len() as u64;
            }
        }
        moved
    }

    /// How many pages at the front lie next to each other and are alike.
    fn alike(&self, pages: &[u32]) -> usize {
        let first = pages[0];
        let alike = |(offset, page): &(usize, &u32)| {
            let next = **page == first + *offset as u32;
            let whose = |page: u32| self.rules.quota.map(|_| self.spaces[&page]);
            next && self.busy(**page) == self.busy(first)
                && self.pages[*page] == self.pages[&first]
                && whose(**page) == whose(first)
        };
        pages.iter().enumerate().take_while(alike).count()
    }

    /// The first of the host's memories with a free frame.
    pub(super) fn nearest_with_room(&self) -> Option<usize> {
        if self.rules.hosts.is_empty() {
            return Some(0); // a short cut past looking at every page
        }
        (0..self.rules.hosts.len()).find(|&host| self.held(MemoryId::host(host)) < self.rules.hosts[host])
    }

    fn memories(&self) -> Vec<MemoryId> {
        let hosts = (0..self.rules.hosts.len()).map(MemoryId::host);
        hosts.chain((0..self.rules.gpus()).map(MemoryId::gpu)).collect()
    }

    /// Evicts until this many more pages fit, the first of which is named; if that is impossible for now, no page
    /// leaves.
    fn make_room(&mut self, flight: u64, processor: ProcessorId, pages: usize, first: u32) -> bool {
        if self.waits_for_large_frame(flight, processor, first) {
            return false;
        }
        let capacity = self.capacity(processor) as usize;
        if capacity == u32::MAX as usize {
            return true; // a short cut past looking at every page
        }
        // A memory whose capacity was lowered has to shrink first.
        if pages > capacity || self.held_before(processor.memory(), flight) as usize > capacity {
            return false;
        }
        let held = self.held_beside(processor.memory(), Some(flight)) as usize;
        let missing = (held + pages).saturating_sub(capacity);
        // Memory that stays takes frames from all.
        let asking = Some(self.spaces[&first]).filter(|_| self.kind(first).moves());
        let victims = self.choose(processor, Need { pages: missing, all: true, asking });
        if victims.len() < missing {
            return false;
        }
        victims.into_iter().for_each(|victim| self.evict(flight, processor, victim));
        true
    }

    fn evict(&mut self, flight: u64, from: ProcessorId, victim: u32) {
        let mut after = self.pages[&victim].clone();
        if after.replicated() {
            self.counts.evictions_dropped += 1;
        } else {
            self.counts.evictions_written += 1;
        }
        after.leave(from);
        self.record(flight, victim, after);
    }

    /// Memories that lost capacity and hold more than fits give up what they can.
    pub(super) fn shrink(&mut self) {
        for processor in ProcessorMask::all_gpus(self.rules.gpus()).iter() {
            let flight = self.open_flight();
            self.shrink_one(flight, processor);
            self.close(flight);
        }
    }

    fn shrink_one(&mut self, flight: u64, processor: ProcessorId) {
        // What unfinished plans give up is as good as gone: evicting for it too would give up too much.
        let capacity = self.capacity(processor);
        let most = (capacity / 2).saturating_sub(self.staying(processor.memory()));
        let room = if capacity == u32::MAX { capacity } else { capacity - self.rules.reserve.min(most) };
        let excess = self.resident(processor.memory()).saturating_sub(room) as usize;
        let victims = self.choose(processor, Need { pages: excess, all: false, asking: None });
        victims.into_iter().for_each(|victim| self.evict(flight, processor, victim));
    }

    /// Pages that stay in a memory until they are freed.
    fn staying(&self, memory: MemoryId) -> u32 {
        let stays = self.pages.iter().filter(|(page, one)| self.kind(**page).stays() && one.takes(memory));
        stays.count() as u32
    }
}
