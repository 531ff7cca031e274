//! Laws that hold after every single step, regardless of the manager's intent.

use octavo_manager::{MappingMode, PageId, PageRun, Permission, ProcessorId};

use super::Machine;

impl Machine {
    /// The architecture's invariants for one page.
    ///
    /// # Errors
    /// Says what is broken.
    pub fn check_page(&self, page: PageId) -> Result<(), String> {
        let Some(latest) = self.latest.get(&page) else { return Err(format!("page {} is not there", page.0)) };
        let holders = self.holders(page);
        if holders.is_empty() && !self.untouched.contains(&page) {
            return Err(format!("page {} is lost", page.0));
        }
        if let Some(stale) = holders.iter().find(|holder| self.memories[holder.index()][&page] != *latest) {
            return Err(format!("{stale} holds an old version of page {}", page.0));
        }
        self.check_mappings(page, holders.len())
    }

    fn check_mappings(&self, page: PageId, copies: usize) -> Result<(), String> {
        for (processor, table) in self.tables.iter().enumerate() {
            let Some(entry) = table.get(&page) else { continue };
            let leads = self.memories[entry.target.index()].contains_key(&page);
            if !leads && !self.by_decree {
                return Err(format!("processor {processor} maps page {} at {}, which lacks it", page.0, entry.target));
            }
            let alone = entry.permission == Permission::ReadWrite && entry.mode == MappingMode::Direct;
            if alone && copies > 1 {
                return Err(format!("processor {processor} can write one of {copies} copies of page {}", page.0));
            }
        }
        Ok(())
    }

    /// A block becomes one large page only if the processor has all of it and maps all of it alike.
    ///
    /// # Errors
    /// Says what is broken.
    pub fn check_coalesced(&self, processor: ProcessorId, block: PageRun) -> Result<(), String> {
        let entry = |page: PageId| self.tables[processor.index()].get(&page);
        let first = entry(block.first).ok_or_else(|| format!("{processor} does not map page {}", block.first.0))?;
        let own = first.target == processor.memory() && first.mode == MappingMode::Direct;
        let alike = |page: PageId| entry(page) == Some(first) && self.memories[processor.index()].contains_key(&page);
        if !own || !block.first.0.is_multiple_of(block.count) || !block.iter().all(alike) {
            return Err(format!("{processor} makes a large page of {block:?}, which is not uniform"));
        }
        if self.large[processor.index()].contains_key(&block.first) {
            return Err(format!("{block:?} is a large page of {processor} already"));
        }
        Ok(())
    }

    /// Nothing about a page changes while a large page translates it.
    ///
    /// # Errors
    /// Says what is broken.
    pub fn check_unlarge(&self, processor: ProcessorId, page: PageId) -> Result<(), String> {
        if self.in_large_page(processor, page) {
            return Err(format!("page {} changes on {processor} under a large page", page.0));
        }
        Ok(())
    }

    /// A memory holds no more than it has room for.
    ///
    /// # Errors
    /// Says what is broken.
    pub fn check_capacity(&self, memory: usize) -> Result<(), String> {
        let (held, room) = (self.memories[memory].len(), self.capacity[memory]);
        if held as u64 > u64::from(room) && !self.by_decree {
            return Err(format!("memory {memory} holds {held} pages and has room for {room}"));
        }
        Ok(())
    }
}
