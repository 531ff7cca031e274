//! Compares what a manager believes of a page with the state of the machine.

use octavo_manager::{MappingMode, MemoryMask, Mode, PageView, Permission, ProcessorId};

use super::{Entry, Machine};

impl Machine {
    /// Compares a page that is in no unfinished plan. If entries vanish, there may be fewer than the manager believes.
    ///
    /// # Errors
    /// Says what differs.
    pub fn agrees(&self, view: &PageView, entries_vanish: bool) -> Result<(), String> {
        self.check_page(view.page)?;
        let holders = self.holders(view.page).into_iter().fold(MemoryMask::EMPTY, MemoryMask::with);
        if view.resident != holders {
            return Err(format!("page {} is on {:?}, the manager says {:?}", view.page.0, holders, view.resident));
        }
        for (index, table) in self.tables.iter().enumerate() {
            let processor = ProcessorId(index as u8);
            let (found, expected) = (table.get(&view.page).copied(), believed(view, processor));
            let vanished = found.is_none() && entries_vanish;
            if !vanished && !alike(found, expected, view) {
                let page = view.page.0;
                return Err(format!("{processor} maps page {page} as {found:?}, the manager says {expected:?}"));
            }
        }
        Ok(())
    }
}

/// The entry that the manager believes a processor to have.
fn believed(view: &PageView, processor: ProcessorId) -> Option<Entry> {
    view.mapped.contains(processor).then(|| Entry {
        target: view.resident.of(processor).unwrap_or(view.owner),
        permission: if view.writable.contains(processor) { Permission::ReadWrite } else { Permission::ReadOnly },
        mode: if view.mode == Mode::Broadcast { MappingMode::Broadcast } else { MappingMode::Direct },
    })
}

/// A mapping by decree may lead anywhere.
fn alike(found: Option<Entry>, expected: Option<Entry>, view: &PageView) -> bool {
    let anywhere = |entry: Entry| Entry { target: view.owner, ..entry };
    if view.mode == Mode::Everywhere { found.map(anywhere) == expected.map(anywhere) } else { found == expected }
}
