//! Short sentences for tests written by hand; every plan is finished at once.

use octavo_manager::{Access, Fault, GroupSize, PageId, ProcessorId, ProcessorMask, Scheme};

use super::Harness;
use crate::reference::Rules;

/// A node with one allocation from page zero.
pub struct Script {
    pub harness: Harness,
}

impl Script {
    pub fn new(rules: &Rules, pages: u32) -> Self {
        let mut harness = Harness::new(rules);
        harness.allocate(0, pages);
        Self { harness }
    }

    pub fn read(&mut self, gpu: usize, page: u32) {
        self.touch(&[(gpu, page)], Access::Read);
    }

    pub fn write(&mut self, gpu: usize, page: u32) {
        self.touch(&[(gpu, page)], Access::Write);
    }

    /// Touches as one batch.
    pub fn touch(&mut self, touches: &[(usize, u32)], access: Access) {
        let fault = |&(gpu, page): &(usize, u32)| {
            let (processor, page) = (ProcessorId::gpu(gpu), PageId(page));
            Fault { processor, page, access }
        };
        self.harness.touch(&touches.iter().map(fault).collect::<Vec<_>>());
        self.harness.settle();
    }

    /// An access counter of a GPU reaches its threshold.
    pub fn counter(&mut self, gpu: usize, page: u32) {
        self.harness.counter(ProcessorId::gpu(gpu), PageId(page));
        self.harness.settle();
    }

    /// Two GPUs take the page from each other, four times in all.
    pub fn fight(&mut self, page: u32, access: Access) {
        [0, 1, 0, 1].into_iter().for_each(|gpu| self.touch(&[(gpu, page)], access));
    }

    pub fn scheme(&self, page: u32) -> Scheme {
        Scheme::of(&self.harness.manager.page(PageId(page))).expect("GRIT keeps schemes")
    }

    pub fn group(&self, page: u32) -> u32 {
        GroupSize::of(&self.harness.manager.page(PageId(page))).pages()
    }

    pub fn resident(&self, page: u32) -> ProcessorMask {
        self.harness.manager.page(PageId(page)).resident.processors()
    }

    pub fn mapped(&self, page: u32) -> ProcessorMask {
        self.harness.manager.page(PageId(page)).mapped
    }

    pub fn writable(&self, page: u32) -> ProcessorMask {
        self.harness.manager.page(PageId(page)).writable
    }

    pub fn statistics(&self) -> octavo_manager::Statistics {
        self.harness.manager.statistics()
    }
}

/// A set of GPUs.
pub fn gpus(gpus: &[usize]) -> ProcessorMask {
    gpus.iter().fold(ProcessorMask::EMPTY, |mask, &gpu| mask.with(ProcessorId::gpu(gpu)))
}
