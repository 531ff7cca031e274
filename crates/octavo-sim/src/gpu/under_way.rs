//! The ends of accesses in progress to mapped pages, for memory systems in which these keep their pages.

use octavo_manager::{PageId, ProcessorId, UnderWay};
use octavo_units::Time;

/// Accesses that have not been reported to the driver yet.
pub(crate) struct Outstanding {
    /// By GPU, then page: the time when the last access will have come back; zero for none.
    until: Vec<Vec<u64>>,
    /// Pages that have one.
    pages: Vec<(usize, u32)>,
    /// The report; kept for its capacity.
    told: Vec<UnderWay>,
}

impl Outstanding {
    /// For this many GPUs and pages.
    pub fn new(gpus: usize, pages: usize) -> Self {
        Self { until: vec![vec![0; pages]; gpus], pages: Vec::new(), told: Vec::new() }
    }

    /// An access to a page will have come back then.
    #[inline]
    pub fn note(&mut self, gpu: usize, page: u32, until: u64) {
        let last = &mut self.until[gpu][page as usize];
        if *last == 0 {
            self.pages.push((gpu, page));
        }
        *last = until.max(*last).max(1);
    }

    /// The accesses noted since the last call.
    pub fn take(&mut self) -> &[UnderWay] {
        let Self { until, pages, told } = self;
        told.clear();
        told.extend(pages.drain(..).map(|(gpu, page)| {
            let until = Time(std::mem::take(&mut until[gpu][page as usize]));
            UnderWay { processor: ProcessorId::gpu(gpu), page: PageId(page), until }
        }));
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_once_with_the_end_of_their_last_access() {
        let mut outstanding = Outstanding::new(2, 8);
        let accesses = [(0, 3, 20), (1, 3, 10), (0, 3, 15), (0, 4, 7)];
        accesses.into_iter().for_each(|(gpu, page, until)| outstanding.note(gpu, page, until));
        let told =
            |gpu, page, until| UnderWay { processor: ProcessorId::gpu(gpu), page: PageId(page), until: Time(until) };
        assert_eq!(outstanding.take(), [told(0, 3, 20), told(1, 3, 10), told(0, 4, 7)]);
        assert_eq!(outstanding.take(), []);
    }
}
