//! The choice of pages that leave a full memory, and of the address space that loses them.

use crate::contract::ids::{MemoryId, PageId, SpaceId};
use crate::pages::residency::Residency;
use crate::strategies::sharing::{Shortage, Yield, keeps};
use crate::transaction::state::Memory;

/// Room that is needed in a memory.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    /// Pages that have to leave.
    pub pages: u32,
    /// None leaves unless this many can.
    pub all: bool,
    /// The address space that needs room, if any.
    pub asking: Option<SpaceId>,
}

/// Fills `victims` with pages that leave `from`; how many of them leave for another address space.
pub(super) fn choose(memory: &mut Memory, from: MemoryId, need: &Need, victims: &mut Vec<PageId>) -> u32 {
    let Some(mut sharing) = memory.sharing.take() else {
        let residency = Residency { pages: &memory.pages, space: None };
        memory.evictors.of(SpaceId::default()).victims(from, need.pages, need.all, &residency, victims);
        return 0;
    };
    let (tenants, spare) = (memory.pages.tenants().expect("address spaces are told apart"), memory.pages.spare());
    let shortage = Shortage {
        memory: from,
        wanted: need.pages,
        asking: need.asking,
        awaiting: spare.pages(from) - spare.backed(from),
        staying: memory.staying(from),
        tenants,
        frames: &memory.frames,
    };
    let mut yields = Vec::new();
    sharing.yields(&shortage, &mut yields);
    let keeps = keeps(&shortage, &yields);
    memory.sharing = Some(sharing);
    let given = gather(memory, from, need, &yields, victims);
    let withheld = keeps && victims.len() < need.pages as usize;
    memory.withheld = if withheld { memory.withheld.with(from) } else { memory.withheld.without(from) };
    given
}

fn gather(memory: &mut Memory, from: MemoryId, need: &Need, yields: &[Yield], victims: &mut Vec<PageId>) -> u32 {
    let (pages, evictors) = (&memory.pages, &mut memory.evictors);
    let (mut part, mut given) = (Vec::new(), 0);
    victims.clear();
    for &Yield { space, most } in yields {
        let left = need.pages.saturating_sub(victims.len() as u32);
        if left == 0 {
            break;
        }
        let residency = Residency { pages, space: Some(space) };
        evictors.of(space).victims(from, left.min(most), false, &residency, &mut part);
        for page in part.drain((most as usize).min(part.len())..).rev() {
            evictors.of(space).restored(from, page);
        }
        given += if need.asking.is_some_and(|asking| asking != space) { part.len() as u32 } else { 0 };
        victims.append(&mut part);
    }
    if need.all && victims.len() < need.pages as usize {
        victims.drain(..).rev().for_each(|page| evictors.restored(from, page, pages));
        return 0;
    }
    given
}
