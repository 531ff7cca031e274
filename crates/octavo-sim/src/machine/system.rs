//! Translations of the operating system's pages that coherent GPUs ask of the host (ATS).

use crate::gpu::translate::first_level::FirstLevel;
use crate::gpu::translate::translation::Translation;
use crate::machine::happening::Listen;
use crate::machine::hardware::Hardware;

impl<L: Listen> Hardware<'_, L> {
    /// Neither TLB level knows the page: the request crosses the link, the host walks its table, the answer comes back
    /// and is entered in both levels, unless the page is nowhere.
    #[inline(never)]
    pub(super) fn translate_on_host(
        &mut self,
        gpu: usize,
        first: FirstLevel,
        page: u32,
        write: bool,
        time: u64,
    ) -> Translation {
        let asked = time + self.costs.host_link;
        let walked = self.system.as_mut().map_or(asked, |system| system.walk(asked));
        self.accesses.host_translations += 1;
        self.gpus[gpu].enter_answer(first, page, write, walked + self.costs.host_link)
    }
}
