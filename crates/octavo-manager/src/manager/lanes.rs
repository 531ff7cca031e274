//! Over which link the blocks of a batch come.

use crate::contract::ids::{MemoryId, PageId, ProcessorId};
use crate::manager::Manager;
use crate::manager::detour::Detour;
use crate::mechanism::stage::{lender, stageable};
use crate::transaction::Transaction;
use crate::transaction::draft::Draft;
use crate::transaction::flight::Pending;

impl Manager {
    /// Of the blocks of a batch that are on the host, the later half of each GPU's come through another GPU, if the
    /// demotion asks for it. The publication's second thread walks a batch from its end until it meets the first; here
    /// they meet in the middle.
    pub(super) fn choose_lanes(&mut self, batch: &[Pending]) {
        self.detours.clear();
        if !self.memory.demotion.fetches_in_parallel() {
            return;
        }
        for gpu in (0..self.geometry().gpus).map(ProcessorId::gpu) {
            let of_gpu = batch.iter().map(|pending| pending.fault).filter(|fault| fault.processor == gpu);
            let on_host = of_gpu.filter(|fault| stageable(&self.page(fault.page)));
            let mut blocks: Vec<u32> = on_host.map(|fault| self.block_number(fault.page)).collect();
            blocks.dedup();
            let own = blocks.len() - blocks.len() / 2;
            self.detours.extend(blocks[own..].iter().map(|&block| Detour { to: gpu, block, by: None }));
        }
    }

    /// The GPU that the block of these faults comes by, if it makes a detour.
    pub(super) fn detour(&mut self, faults: &[Pending], draft: &mut Draft) -> Option<MemoryId> {
        let first = faults[0].fault;
        let (to, number) = (first.processor, self.block_number(first.page));
        let index = self.detours.iter().position(|detour| (detour.to, detour.block) == (to, number))?;
        if let Some(asked) = self.detours[index].by {
            return asked;
        }
        let block = self.memory.pages.block(first.page);
        let on_host = block.iter().filter(|&page| stageable(&self.page(page))).count() as u32;
        let by = lender(&mut Transaction { memory: &mut self.memory, draft }, to.memory(), on_host);
        self.detours[index].by = Some(by);
        by
    }

    fn block_number(&self, page: PageId) -> u32 {
        page.0 / self.geometry().block_pages()
    }
}
