//! Trans-FW: a far fault's page-table walk is forwarded to the GPU that probably has the translation.

use octavo_manager::{MemoryId, PageId, ProcessorId};

use crate::fabric::links::Traffic;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::Listen;

impl<L: Listen> Hardware<'_, L> {
    /// Remembers that `target` has `page` in its own memory.
    pub fn note_translation(&mut self, page: PageId, target: MemoryId) {
        if let (Some(trans_fw), Some(gpu)) = (&mut self.trans_fw, target.gpu_index()) {
            trans_fw.note(page.0, gpu);
        }
    }

    /// Forwards the walk of a fault if there is a guess. Returns when the fault can leave for the host, and whether
    /// the host still has to walk.
    pub fn forward_walk(&mut self, gpu: usize, page: u32, time: u64) -> (u64, bool) {
        let Some(owner) = self.trans_fw.as_ref().and_then(|filter| filter.guess(page)) else { return (time, true) };
        if owner == gpu {
            return (time, true);
        }
        self.accesses.forwarded_walks += 1;
        let (own, peer) = (ProcessorId::gpu(gpu), ProcessorId::gpu(owner));
        let bytes = self.costs.header_bytes;
        let arrived = self.links.send(self.clock.now(), time, (own, peer), bytes, Traffic::Control);
        let Self { gpus, clock, walks, accesses, .. } = self;
        let walk = gpus[owner].walk_table(page, (clock.now(), arrived), walks, accesses);
        let back = self.links.send(self.clock.now(), walk.done, (peer, own), bytes, Traffic::Control);
        let entry = self.gpus[owner].entry(page);
        let right = entry.is_valid() && entry.target() == peer.memory();
        if right {
            return (back, false);
        }
        self.accesses.forwarded_wrong += 1;
        (back, true)
    }
}
