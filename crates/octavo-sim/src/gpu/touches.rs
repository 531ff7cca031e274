//! Which mapped pages were accessed since the last report to the driver, for evictors that order pages by accesses.

use octavo_manager::{Accessed, Manager, PageId, ProcessorId};

use crate::gpu::under_way::Outstanding;

/// Accesses that have not been reported to the driver yet.
pub(crate) struct Touched {
    /// By GPU, then page.
    touches: Vec<Vec<Touch>>,
    /// Those that have been.
    pages: Vec<(usize, u32)>,
    /// Accesses since the last report to the driver.
    now: u32,
    /// The report, in the order of last accesses; kept for its capacity.
    told: Vec<Accessed>,
    /// Accesses under way, if they keep pages.
    outstanding: Option<Outstanding>,
}

/// Accesses of one GPU to one page since the last report to the driver.
#[derive(Clone, Copy, Default)]
struct Touch {
    times: u32,
    /// When last.
    last: u32,
    stores: bool,
}

impl Touched {
    /// For this many GPUs and pages.
    pub fn new(gpus: usize, pages: usize) -> Self {
        let touches = vec![vec![Touch::default(); pages]; gpus];
        Self { touches, pages: Vec::new(), now: 0, told: Vec::new(), outstanding: None }
    }

    /// For this many GPUs and pages, if a manager requests reports of accesses, or of those in progress.
    pub fn wanted(manager: &Manager, gpus: usize, pages: usize) -> Option<Self> {
        let outstanding = manager.wants_outstanding().then(|| Outstanding::new(gpus, pages));
        let wanted = manager.wants_accesses() || outstanding.is_some();
        wanted.then(|| Self { outstanding, ..Self::new(gpus, pages) })
    }

    /// An access to a page will have come back then.
    #[inline]
    pub fn note_under_way(&mut self, gpu: usize, page: u32, until: u64) {
        if let Some(outstanding) = &mut self.outstanding {
            outstanding.note(gpu, page, until);
        }
    }

    /// Reports to a manager everything that has not been reported yet.
    pub fn tell(&mut self, manager: &mut Manager) {
        manager.note_accesses(self.take());
        if let Some(outstanding) = &mut self.outstanding {
            manager.note_outstanding(outstanding.take());
        }
    }

    /// Lines of a page were served, wherever it is.
    #[inline]
    pub fn note(&mut self, gpu: usize, page: u32, write: bool) {
        let touch = &mut self.touches[gpu][page as usize];
        if touch.times == 0 {
            self.pages.push((gpu, page));
        }
        self.now = self.now.saturating_add(1);
        *touch = Touch { times: touch.times.saturating_add(1), last: self.now, stores: touch.stores | write };
    }

    /// The accesses since the last call.
    fn take(&mut self) -> &[Accessed] {
        let Self { touches, pages, now, told, outstanding: _ } = self;
        *now = 0;
        told.clear();
        pages.sort_unstable_by_key(|&(gpu, page)| (touches[gpu][page as usize].last, page, gpu));
        told.extend(pages.drain(..).map(|(gpu, page)| {
            let Touch { times, stores, .. } = std::mem::take(&mut touches[gpu][page as usize]);
            Accessed { processor: ProcessorId::gpu(gpu), page: PageId(page), times, stores }
        }));
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_once_in_the_order_of_their_last_accesses() {
        let mut touched = Touched::new(2, 8);
        let accesses = [(0, 3, false), (1, 5, false), (0, 4, true), (0, 3, true), (0, 4, false)];
        accesses.into_iter().for_each(|(gpu, page, write)| touched.note(gpu, page, write));
        let told =
            |gpu, page, times, stores| Accessed { processor: ProcessorId::gpu(gpu), page: PageId(page), times, stores };
        assert_eq!(touched.take(), [told(1, 5, 1, false), told(0, 3, 2, true), told(0, 4, 2, true)]);
        assert_eq!(touched.take(), []);
        touched.note(0, 4, false);
        assert_eq!(touched.take(), [told(0, 4, 1, false)]);
    }
}
