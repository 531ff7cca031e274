//! Pages with accesses under way, and until when.

use octavo_units::Time;

use crate::contract::by_memory::ByMemory;
use crate::contract::ids::{MemoryId, PageId};

/// The times when the accesses in progress to each page of a memory will have come back.
#[derive(Clone, Default)]
pub(crate) struct Held {
    /// The time of the present call from outside.
    pub now: Time,
    /// By memory, then page, for accesses that were reported.
    until: ByMemory<Vec<Time>>,
}

impl Held {
    /// An access to `page` of `memory` will have come back then.
    pub fn note(&mut self, memory: MemoryId, page: PageId, until: Time) {
        let pages = &mut self.until[memory];
        if pages.len() <= page.index() {
            pages.resize(page.index() + 1, Time::ZERO);
        }
        pages[page.index()] = pages[page.index()].max(until);
    }

    /// Whether accesses to `page` of `memory` are under way.
    pub fn holds(&self, memory: MemoryId, page: PageId) -> bool {
        self.until[memory].get(page.index()).is_some_and(|&until| until > self.now)
    }

    /// The time when accesses to some page of `memory` will have come back next, if there are any.
    pub fn next(&self, memory: MemoryId) -> Option<Time> {
        self.until[memory].iter().copied().filter(|&until| until > self.now).min()
    }

    pub fn bytes(&self) -> usize {
        self.until.iter().map(|pages| pages.capacity() * size_of::<Time>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_held_until_its_last_access_has_come_back() {
        let (mut held, memory) = (Held::default(), MemoryId::gpu(0));
        [(3, 50), (3, 20), (7, 40)].into_iter().for_each(|(page, until)| held.note(memory, PageId(page), Time(until)));
        held.now = Time(30);
        assert!(held.holds(memory, PageId(3)) && held.holds(memory, PageId(7)));
        assert!(!held.holds(memory, PageId(4)) && !held.holds(MemoryId::gpu(1), PageId(3)));
        assert_eq!(held.next(memory), Some(Time(40)));
        held.now = Time(50);
        assert!(!held.holds(memory, PageId(3)));
        assert_eq!(held.next(memory), None);
    }
}
