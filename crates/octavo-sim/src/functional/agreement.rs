//! The tables against the manager's state, for checks.

use octavo_driver::Entry;
use octavo_manager::{MappingMode, Mode, PageId, PageView, Permission, ProcessorId};
use octavo_program::{Buffer, pages_of};

use crate::functional::machine::Machine;
use crate::machine::occurrence::Listen;

impl<L: Listen> Machine<L> {
    /// Whether all GPUs' entries and all memories' copies match the manager's belief.
    ///
    /// # Errors
    /// The first page that differs.
    pub fn check_agreement(&self, buffers: &[Buffer]) -> Result<(), String> {
        for page in pages_of(buffers, self.page_bytes()).flatten() {
            let view = self.driver.manager().page(PageId(page as u32));
            if view.allocated {
                self.check_page(&view)?;
            }
        }
        Ok(())
    }

    fn check_page(&self, view: &PageView) -> Result<(), String> {
        for gpu in (0..self.gpus).map(ProcessorId::gpu) {
            let (found, expected) = (self.tables.entries.entry(gpu, view.page), expected(view, gpu));
            if found != expected {
                return Err(format!("{gpu} page {}: {found:?}, the manager means {expected:?}", view.page.0));
            }
        }
        let found = self.tables.entries.copies(view.page);
        if found != view.resident {
            return Err(format!("page {}: in {found:?}, the manager means {:?}", view.page.0, view.resident));
        }
        Ok(())
    }
}

fn expected(view: &PageView, processor: ProcessorId) -> Entry {
    if !view.mapped.contains(processor) {
        return Entry::NONE;
    }
    let own = view.resident.near(processor) || view.mode == Mode::Everywhere;
    let permission = if view.writable.contains(processor) { Permission::ReadWrite } else { Permission::ReadOnly };
    let mode = if view.mode == Mode::Broadcast { MappingMode::Broadcast } else { MappingMode::Direct };
    Entry::new(if own { processor.memory() } else { view.owner }, permission, mode)
}
