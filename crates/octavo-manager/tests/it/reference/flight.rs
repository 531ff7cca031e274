//! Changes that are not acknowledged yet.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{Access, Fault, MemoryId};

use super::decide::Verdict;
use super::guard::Told;
use super::page::Page;

/// A fault on its way through the model.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub fault: Fault,
    /// The verdict on it from before it had to wait for room.
    pub verdict: Option<Verdict>,
    /// Whether it waited for a large frame, or none could be had.
    pub compacted: bool,
}

impl Pending {
    pub fn new(fault: Fault) -> Self {
        Self { fault, verdict: None, compacted: false }
    }

    pub fn page(&self) -> u32 {
        self.fault.page.0
    }

    pub fn writes(&self) -> bool {
        self.fault.access == Access::Write
    }
}

/// Pages that one decision changed, as they were before it.
#[derive(Debug, Default)]
pub struct Flight {
    pub before: BTreeMap<u32, Page>,
    /// The same pages in the order in which they were changed first.
    pub order: Vec<u32>,
    /// Pages that it keeps busy and that none of its steps names.
    pub held: BTreeSet<u32>,
    pub waiting: Vec<Pending>,
    /// What the guard is told once the plan is complete.
    pub told: Vec<Told>,
    frames: BTreeMap<MemoryId, Frames>,
}

/// How the number of frames in use of a memory changes while the plan is carried out.
#[derive(Clone, Copy, Debug, Default)]
struct Frames {
    net: i64,
    peak: i64,
}

impl Flight {
    /// A page is changed that was `before`.
    pub fn changes(&mut self, page: u32, before: Page) {
        if let Entry::Vacant(entry) = self.before.entry(page) {
            entry.insert(before);
            self.order.push(page);
        }
    }

    /// The next step changes how many frames are in use.
    pub fn moves(&mut self, memory: MemoryId, frames: i64) {
        let change = self.frames.entry(memory).or_default();
        change.net += frames;
        // What a plan gives up on the host may be free after what it needs there.
        change.peak = if memory.on_host() { change.peak + frames.max(0) } else { change.peak.max(change.net) };
    }

    pub fn keeps_busy(&self, page: u32) -> bool {
        self.before.contains_key(&page) || self.held.contains(&page)
    }

    /// Frames that are in use until the plan is done, in addition to those in use afterwards.
    pub fn extra(&self, memory: MemoryId) -> u32 {
        self.frames.get(&memory).map_or(0, |change| change.peak - change.net) as u32
    }

    /// How many more of its frames are in use after everything decided so far.
    pub fn net(&self, memory: MemoryId) -> i64 {
        self.frames.get(&memory).map_or(0, |change| change.net)
    }

    pub fn pages(&self) -> BTreeSet<u32> {
        self.before.keys().copied().collect()
    }
}
