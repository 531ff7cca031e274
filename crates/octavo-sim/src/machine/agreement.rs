//! The node's page tables against the manager's state, for checks.

use octavo_manager::{Mode, PageId, PageView, ProcessorId};
use octavo_program::LINE_BYTES;

use crate::gpu::translate::entry::Entry;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;

impl<L: Listen> Node<'_, L> {
    /// Whether all page-table entries match the manager's belief, except for pages of unfinished plans.
    ///
    /// # Errors
    /// The first GPU and page that differ.
    pub fn check_agreement(&self) -> Result<(), String> {
        for buffer in self.workload.buffers() {
            let lines = buffer.base / LINE_BYTES..(buffer.base + buffer.bytes).div_ceil(LINE_BYTES);
            let pages = lines.start >> self.hardware.page_line_shift..=(lines.end - 1) >> self.hardware.page_line_shift;
            for page in pages {
                self.check_page(page as u32)?;
            }
        }
        Ok(())
    }

    fn check_page(&self, page: u32) -> Result<(), String> {
        let view = self.driver.manager().page(PageId(page));
        if view.busy {
            return Ok(());
        }
        self.check_size(page)?;
        for (gpu, state) in self.hardware.gpus.iter().enumerate() {
            let (found, expected) = (state.entry(page).unversioned(), expected_entry(&view, ProcessorId::gpu(gpu)));
            if found != expected {
                return Err(format!("gpu{gpu} page {page}: entry {found:?}, the manager's state means {expected:?}"));
            }
        }
        Ok(())
    }

    /// Compares a page's large bits with the manager's state. While a plan runs, a GPU may still have a large bit that the
    /// manager has cleared.
    fn check_size(&self, page: u32) -> Result<(), String> {
        for (gpu, state) in self.hardware.gpus.iter().enumerate() {
            let Some(found) = state.is_coalesced(page) else { continue };
            let expected = self.driver.manager().coalesced(ProcessorId::gpu(gpu), PageId(page));
            if found != expected && (expected || self.driver.is_idle()) {
                return Err(format!("gpu{gpu} page {page}: large bit {found}, the manager's state means {expected}"));
            }
        }
        Ok(())
    }
}

fn expected_entry(view: &PageView, processor: ProcessorId) -> Entry {
    if !view.mapped.contains(processor) {
        return Entry::INVALID;
    }
    let own = view.resident.near(processor) || view.mode == Mode::Everywhere;
    let target = if own { processor.memory() } else { view.owner };
    Entry::new(target, view.writable.contains(processor), view.mode == Mode::Broadcast)
}
