//! The host waits for the GPUs between two launches: pages that they have written can go home.

use crate::contract::ids::{PageId, PageRun, SpaceId};
use crate::contract::page::{Mode, PageView};
use crate::contract::plan::{Plan, PlanClass};
use crate::manager::Manager;
use crate::mechanism::home::go_home;
use crate::strategies::synchronisation::Synchronisation;
use crate::transaction::Transaction;

impl Manager {
    /// Whether an [event](crate::Event::Synchronise) is wanted when the host waits for GPUs between two launches.
    #[must_use]
    pub fn wants_synchronisations(&self) -> bool {
        self.synchronisation == Synchronisation::DirtyHome
    }

    /// Written pages of an address space go to the host, one plan a block. Pages stay if they are in unfinished plans,
    /// replicas, or kept for others, or if the host has no room.
    pub(super) fn synchronise(&mut self, space: SpaceId, plans: &mut Vec<Plan>) {
        if !self.wants_synchronisations() {
            return;
        }
        let managed = self.memory.pages.managed().iter().flat_map(|&run| PageRun::iter(run));
        let written = managed.filter(|&page| self.memory.pages.is_dirty(page));
        let leaving: Vec<PageId> = written.filter(|&page| self.goes_home(space, &self.page(page))).collect();
        let block = |page: &PageId| self.memory.pages.block(*page).first;
        let blocks: Vec<&[PageId]> = leaving.chunk_by(|one, next| block(one) == block(next)).collect();
        for pages in blocks {
            let mut draft = self.unfinished.open_for(PlanClass::Background);
            let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
            tx.each_uniform_run(pages, go_home);
            self.unfinished.commit(&mut self.memory, draft, plans);
        }
    }

    fn goes_home(&self, space: SpaceId, page: &PageView) -> bool {
        let sole = page.mode == Mode::Plain && !page.replicated() && !page.owner.on_host();
        sole && !page.busy && page.space == space && !self.memory.keeps(page.page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::HOST_MEMORY;
    use crate::contract::topology::Topology;
    use crate::strategies::config::MemoryConfig;

    #[test]
    fn what_one_gpu_alone_has_goes_home() {
        let manager = Manager::new(&MemoryConfig::default(), &Topology::unlimited(2)).unwrap();
        let page = PageView::on_a_gpu_alone(1);
        assert!(manager.goes_home(SpaceId(0), &page));
        assert!(!manager.goes_home(SpaceId(1), &page), "it belongs to another application");
        for stays in [
            PageView { busy: true, ..page },
            PageView { resident: page.resident.with(HOST_MEMORY), ..page },
            PageView { mode: Mode::Spare, ..page },
            PageView { mode: Mode::Broadcast, ..page },
            PageView::on_the_host_alone(),
        ] {
            assert!(!manager.goes_home(SpaceId(0), &stays), "{stays:?}");
        }
    }
}
