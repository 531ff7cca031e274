//! Translations of the operating system's pages that coherent GPUs ask of the host (ATS).

use crate::gpu::translate::first_level::FirstLevel;
use crate::gpu::translate::translation::Translation;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{Happening, Listen};

impl<L: Listen> Hardware<'_, L> {
    /// Notes the traffic before a launch, on nodes where GPUs access the host line by line.
    pub(super) fn launch_begins(&mut self, job: usize) {
        let Self { clock, accesses, links, first_memory, listeners, system: Some(_), .. } = self else { return };
        listeners.hear(clock.now(), Happening::LaunchBegins { job, accesses, links, host: first_memory.passed() });
    }

    /// What it moved.
    pub(super) fn launch_ends(&mut self, job: usize) {
        let Self { clock, accesses, links, first_memory, listeners, system: Some(_), .. } = self else { return };
        listeners.hear(clock.now(), Happening::LaunchEnds { job, accesses, links, host: first_memory.passed() });
    }

    /// Neither TLB level has the page: the request crosses the link, the host walks its table, and the answer comes
    /// back. It is entered in both levels unless the page is nowhere, and as an entry of 2 MiB if the page is part of a
    /// huge one.
    #[inline(never)]
    pub(super) fn translate_on_host(
        &mut self,
        gpu: usize,
        first: FirstLevel,
        (page, huge): (u32, bool),
        write: bool,
        time: u64,
    ) -> Translation {
        let asked = time + self.costs.host_link;
        let walked = self.system.as_mut().map_or(asked, |system| system.walk(asked));
        self.accesses.host_translations += 1;
        let ready = walked + self.costs.host_link;
        let gpu = &mut self.gpus[gpu];
        if huge {
            gpu.enter_large_answer(first, page, write, ready)
        } else {
            gpu.enter_answer(first, page, write, ready)
        }
    }
}
