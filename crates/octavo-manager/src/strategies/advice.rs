//! What advice decides before the placement strategy is asked: the stock driver's residency selection (`uvm-driver.md`
//! section 3, rules 2, 3, 6, 7 and 9).

use crate::contract::event::Fault;
use crate::contract::ids::Access;
use crate::contract::kind::Advice;
use crate::contract::page::PageView;
use crate::contract::topology::Reach;
use crate::strategies::decision::Decision;

/// The decision if advice leaves no choice, else `None`.
pub(crate) fn decide(fault: &Fault, page: &PageView, advice: &Advice, reach: &Reach) -> Option<Decision> {
    let toucher = fault.processor;
    if advice.read_mostly {
        return Some(if fault.access == Access::Read { Decision::Replicate } else { Decision::Migrate });
    }
    if advice.preferred.is_some_and(|memory| memory.processor() == toucher) {
        return Some(Decision::Migrate);
    }
    let preferred = advice.preferred.filter(|&memory| reach.can_map(toucher, memory));
    if !page.populated() {
        return preferred.map(Decision::To);
    }
    if advice.accessed_by.contains(toucher) && reach.can_map(toucher, page.owner) {
        return Some(Decision::MapRemote);
    }
    preferred.filter(|_| page.owner.processor() != toucher).map(Decision::To)
}
