//! The production driver's guard against thrashing, from `uvm-driver.md`, section 5: moves of pages in, hints out.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{HOST, MemoryId, ProcessorId, ProcessorMask};

use super::rules::{Guard, Links};

/// Picoseconds: the longest lapse, the most that it grows by at a time, the least that it shrinks by, and how long the
/// unpinning of a busy page waits.
const LONGEST: u64 = 500_000_000_000;
const MOST_GROWTH: u64 = 50_000_000_000;
const LEAST_SHRINKING: u64 = 5_000_000;
const TIMER: u64 = 20_000_000;

/// How to treat a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    Pass,
    Throttle(u64),
    Pin(MemoryId, ProcessorMask),
}

/// A fault as the guard sees it.
pub struct Seen {
    pub now: u64,
    pub page: u32,
    pub space: u16,
    pub toucher: ProcessorId,
    pub owner: MemoryId,
    pub preferred: Option<MemoryId>,
    pub gpus: usize,
}

/// A page of a block in which two processors took something from each other.
#[derive(Debug, Default)]
struct Fight {
    last: Option<u64>,
    events: u8,
    fighters: BTreeSet<ProcessorId>,
    throttled: BTreeSet<ProcessorId>,
    until: Option<u64>,
    favoured: Option<ProcessorId>,
    throttles: u8,
    /// Where it is pinned, and until when; `None` for ever.
    pin: Option<(MemoryId, Option<u64>)>,
}

#[derive(Debug, Default)]
struct Block {
    last: Option<(u64, ProcessorId)>,
    watched: bool,
    last_fight: Option<u64>,
    resets: u8,
    ever_pinned: bool,
}

/// Everything known about the pages, and the counts.
#[derive(Debug, Default)]
pub struct Fights {
    guard: Guard,
    block_pages: u32,
    pages: BTreeMap<u32, Fight>,
    blocks: BTreeMap<u32, Block>,
    /// For each address space, the lapse and its vote.
    lapses: BTreeMap<u16, (u64, i8)>,
    pub thrashing: u64,
    pub throttled: u64,
    pub pinned: u64,
    pub unpinned: u64,
}

impl Fights {
    pub fn new(guard: Guard, block_pages: u32) -> Self {
        Self { guard, block_pages, ..Self::default() }
    }

    /// A page that is fought over stays, except for faults.
    pub fn keeps(&self, page: u32) -> bool {
        self.pages.get(&page).is_some_and(|fight| fight.events >= self.guard.threshold)
    }

    /// Neighbouring pages of one block move at once.
    pub fn moved(&mut self, now: u64, pages: &[u32], to: ProcessorId, space: u16) {
        if pages.iter().all(|page| self.pages.get(page).is_some_and(|fight| fight.pin.is_some())) {
            return;
        }
        let lapse = self.lapse(space);
        let block = self.blocks.entry(pages[0] / self.block_pages).or_default();
        let before = block.last.replace((now, to));
        let fights = before.is_some_and(|(last, who)| who != to && now - last <= lapse);
        block.watched |= fights;
        let watched = block.watched;
        if let Some((last, _)) = before.filter(|_| self.guard.adapts) {
            self.adapt(space, now - last);
        }
        for page in pages.iter().filter(|_| watched) {
            self.page_moved(now, *page, to, lapse);
        }
    }

    fn page_moved(&mut self, now: u64, page: u32, to: ProcessorId, lapse: u64) {
        let threshold = self.guard.threshold;
        let fight = self.pages.entry(page).or_default();
        fight.fighters.insert(to);
        let (before, last) = (fight.events, fight.last.replace(now));
        let together = last.is_some_and(|last| now - last <= lapse);
        if together {
            fight.events = (before + 1).min(7);
        } else if last.is_some() && before >= threshold && fight.pin.is_none() {
            return self.forget(page);
        }
        if fight.events >= threshold {
            self.thrashing += u64::from(before < threshold);
            self.blocks.get_mut(&(page / self.block_pages)).expect("it is watched").last_fight = Some(now);
        }
    }

    /// The program says where pages go, or they get replicas or lose them.
    pub fn overruled(&mut self, pages: &[u32]) {
        pages
            .iter()
            .filter(|&&page| self.keeps(page))
            .copied()
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|page| self.forget(page));
    }

    pub fn freed(&mut self, page: u32) {
        self.pages.remove(&page);
    }

    /// The fight has ended; who was favoured, and how often faults waited, is kept.
    fn forget(&mut self, page: u32) {
        let Some(fight) = self.pages.get_mut(&page) else { return };
        // The end of a period without waiting processors is kept, too.
        let until = fight.until.filter(|_| fight.throttled.is_empty());
        *fight = Fight { favoured: fight.favoured, throttles: fight.throttles, until, ..Fight::default() };
    }

    pub fn hint(&mut self, seen: &Seen) -> Hint {
        let Seen { now, page, toucher, .. } = *seen;
        let number = page / self.block_pages;
        let quiet = |block: &Block| block.last_fight.is_some_and(|last| now - last > self.guard.epoch);
        let lapses = |block: &&Block| quiet(block) && !block.ever_pinned && block.resets < self.guard.max_resets;
        if let Some(resets) = self.blocks.get(&number).filter(lapses).map(|block| block.resets + 1) {
            self.blocks.insert(number, Block { resets, ..Block::default() });
            self.pages.retain(|page, _| page / self.block_pages != number);
            return Hint::Pass;
        }
        if !self.keeps(page) {
            return Hint::Pass;
        }
        let lapse = self.lapse(seen.space);
        let fight = self.pages.get_mut(&page).expect("it is fought over");
        if fight.throttled.contains(&toucher) {
            if let Some(until) = fight.until.filter(|&until| now < until && fight.favoured != Some(toucher)) {
                return Hint::Throttle(until);
            }
            fight.throttled.remove(&toucher);
            if fight.throttled.is_empty() {
                fight.until = None;
            }
        }
        if fight.pin.is_none() && fight.last.is_some_and(|last| now - last > lapse) {
            return Hint::Pass;
        }
        fight.fighters.insert(toucher);
        if fight.until.is_none_or(|until| until <= now) {
            fight.until = Some(now + self.guard.nap);
            fight.favoured = if fight.favoured == Some(toucher) { None } else { Some(toucher) };
        } else {
            fight.favoured.get_or_insert(toucher);
        }
        self.decide(seen)
    }

    /// The driver's rules, by number.
    fn decide(&mut self, seen: &Seen) -> Hint {
        let Seen { page, toucher, owner, preferred, .. } = *seen;
        let fight = &self.pages[&page];
        let (favoured, all) = (fight.favoured == Some(toucher), &fight.fighters);
        let all_map = |place: MemoryId| all.iter().all(|&fighter| can_map(fighter, place));
        // 1.
        if let Some(place) = preferred.filter(|&place| all_map(place)) {
            return self.pin(seen, place);
        }
        // 2.
        let preferred_fights = preferred.is_some_and(|place| all.contains(&place.processor()));
        let near = |fighter: ProcessorId| fighter == owner.processor() || self.fast(fighter, owner);
        if !preferred_fights && all.iter().all(|&fighter| near(fighter)) {
            return match (owner.on_host(), toucher == HOST) {
                (true, true) => Hint::Pass,
                (true, false) => self.pin(seen, toucher.memory()),
                (false, _) => self.pin(seen, owner),
            };
        }
        match fight.pin {
            // 3.
            Some((at, _)) if preferred.map(MemoryId::processor) == Some(toucher) => {
                if favoured || at.processor() == toucher {
                    self.pin(seen, toucher.memory())
                } else {
                    self.throttle(seen)
                }
            }
            // 4.
            Some(_) if favoured && all_map(toucher.memory()) => self.pin(seen, toucher.memory()),
            Some(_) if favoured => {
                let places = (0..seen.gpus).map(MemoryId::gpu).chain([HOST.memory()]);
                let mut common: Vec<MemoryId> = places.filter(|&place| all_map(place)).collect();
                common.sort_by_key(|&place| (self.distance(toucher, place), place));
                let place = common.first().copied().unwrap_or(toucher.memory());
                self.pin(seen, place)
            }
            Some((at, _)) if can_map(toucher, at) => self.pin(seen, at),
            Some(_) => self.throttle(seen),
            // 5.
            None if !favoured => self.throttle(seen),
            None if fight.throttles >= self.guard.pin_threshold => self.pin(seen, toucher.memory()),
            None => Hint::Pass,
        }
    }

    fn throttle(&mut self, seen: &Seen) -> Hint {
        let fight = self.pages.get_mut(&seen.page).expect("it is fought over");
        if fight.throttled.insert(seen.toucher) {
            self.throttled += 1;
            fight.throttles = fight.throttles.saturating_add(u8::from(fight.pin.is_none()));
        }
        Hint::Throttle(fight.until.expect("a period has begun"))
    }

    fn pin(&mut self, seen: &Seen, at: MemoryId) -> Hint {
        let fight = self.pages.get_mut(&seen.page).expect("it is fought over");
        if (fight.pin.is_none() || seen.owner != at) && !fight.throttled.is_empty() {
            (fight.throttled, fight.until) = (BTreeSet::new(), None);
        }
        let until = fight.pin.map(|(_, until)| until);
        fight.pin = Some((at, until.unwrap_or((self.guard.pin > 0).then_some(seen.now + self.guard.pin))));
        if until.is_none() {
            fight.throttles = 0;
            self.pinned += 1;
            self.blocks.get_mut(&(seen.page / self.block_pages)).expect("it is watched").ever_pinned = true;
        }
        let mappers = self.pages[&seen.page].fighters.iter().fold(ProcessorMask::EMPTY, |mask, &one| mask.with(one));
        Hint::Pin(at, mappers)
    }

    /// When the next page is unpinned.
    pub fn deadline(&self) -> Option<u64> {
        self.pages.values().filter_map(|fight| fight.pin?.1).min()
    }

    /// Pages that are unpinned by now, the first first. Pages that are `busy` follow later.
    pub fn unpin(&mut self, now: u64, busy: impl Fn(u32) -> bool) -> Vec<u32> {
        let due = self
            .pages
            .iter()
            .filter_map(|(&page, fight)| Some((fight.pin?.1?, page)))
            .filter(|(until, _)| *until <= now);
        let mut due: Vec<(u64, u32)> = due.collect();
        due.sort_unstable();
        let (later, over): (Vec<u32>, Vec<u32>) = due.into_iter().map(|(_, page)| page).partition(|&page| busy(page));
        for page in later {
            let fight = self.pages.get_mut(&page).expect("it is pinned");
            fight.pin = fight.pin.map(|(at, _)| (at, Some(now + TIMER)));
        }
        over.iter().for_each(|&page| self.forget(page));
        self.unpinned += over.len() as u64;
        over
    }

    fn lapse(&self, space: u16) -> u64 {
        self.lapses.get(&space).map_or(self.guard.lapse, |(lapse, _)| *lapse)
    }

    /// The lapse grows with any negative vote, and shrinks from the longest with 32.
    fn adapt(&mut self, space: u16, gap: u64) {
        let (lapse, vote) = self.lapses.entry(space).or_insert((self.guard.lapse, 0));
        *vote = if gap < *lapse { vote.saturating_sub(1) } else { vote.saturating_add(1) };
        if *vote < 0 && *lapse < LONGEST {
            *lapse = LONGEST.min(*lapse + MOST_GROWTH.min(*lapse / 8));
            *vote /= 2;
        } else if *vote >= 32 && *lapse >= LONGEST {
            *lapse -= LEAST_SHRINKING.max(*lapse / 8);
            *vote /= 2;
        }
    }

    /// GPUs by fast links, a fast host, other GPUs, the host, what cannot be mapped.
    fn distance(&self, toucher: ProcessorId, place: MemoryId) -> u8 {
        match (can_map(toucher, place), self.fast(toucher, place), place.on_host()) {
            (true, true, false) => 0,
            (true, true, true) => 1,
            (true, false, false) => 2,
            (true, false, true) => 3,
            (false, ..) => 4,
        }
    }

    fn fast(&self, processor: ProcessorId, place: MemoryId) -> bool {
        can_map(processor, place)
            && match self.guard.links {
                Links::None => false,
                Links::Node | Links::Gpus => processor != HOST && !place.on_host(),
                Links::All => true,
            }
    }
}

/// GPUs map everything, the host its own.
fn can_map(processor: ProcessorId, place: MemoryId) -> bool {
    processor != HOST || place.on_host()
}
