//! GPS: which processors subscribe to which pages, and what is given up after the profiled kernels.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{Access, Fault, HOST, ProcessorId};

use super::decide::Verdict;
use super::model::Model;
use super::rules::Placement;

/// What GPS remembers.
#[derive(Debug, Default)]
pub struct Subscriptions {
    /// Pages and the processors that loaded them and faulted for them.
    readers: BTreeSet<(u32, ProcessorId)>,
    /// Pages and the processors that gave them up, or were told to, and have not loaded them since.
    gone: BTreeSet<(u32, ProcessorId)>,
    /// Kernels of each address space that ended.
    kernels: BTreeMap<u16, u32>,
}

impl Subscriptions {
    pub(super) fn decide(&mut self, fault: &Fault) -> Verdict {
        let here = (fault.page.0, fault.processor);
        if fault.processor == HOST {
            return Verdict::Map;
        }
        if fault.access == Access::Read {
            self.readers.insert(here);
            self.gone.remove(&here);
        }
        if self.gone.contains(&here) { Verdict::Map } else { Verdict::Subscribe }
    }

    pub(super) fn forget(&mut self, page: u32) {
        self.readers.retain(|(other, _)| *other != page);
        self.gone.retain(|(other, _)| *other != page);
    }
}

impl Model {
    /// A kernel of an address space ended: replicas without a known reader go, unless they are busy.
    pub fn kernel_end(&mut self, space: u16) {
        let own = space == 0 || self.rules.second_placement.is_none();
        if let Placement::Gps(profiled) = self.rules.placement
            && own
        {
            self.end_profiled(space, profiled);
        }
        self.work_ahead();
    }

    fn end_profiled(&mut self, space: u16, profiled: u32) {
        let ended = self.subscriptions.kernels.entry(space).or_default();
        *ended += 1;
        if *ended != profiled {
            return;
        }
        let flight = self.open_flight();
        let own: Vec<u32> = self.pages.keys().copied().filter(|page| self.spaces[page] == space).collect();
        for page in own {
            let state = self.pages[&page].clone();
            let unread = |holder: &ProcessorId| !self.subscriptions.readers.contains(&(page, *holder));
            let leaving: BTreeSet<ProcessorId> = state.replicas.iter().copied().filter(unread).collect();
            if state.broadcast && !leaving.is_empty() {
                self.subscriptions.gone.extend(leaving.iter().map(|&holder| (page, holder)));
                if !self.busy(page) {
                    self.counts.unsubscribed += leaving.len() as u64;
                    self.change(flight, page, |state| state.unsubscribe(&leaving));
                }
            }
        }
        self.close(flight);
    }
}
