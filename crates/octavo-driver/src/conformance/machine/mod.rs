//! A machine without any judgement: memories whose pages hold version numbers, page tables, and GPUs that fault. It
//! carries out the steps of plans and refuses steps that would lose or corrupt data.

mod agreement;
mod execute;
mod laws;

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{
    Access, Fault, HOST_MEMORY, MAX_MEMORIES, MappingMode, MemoryId, PageId, Permission, ProcessorId, Reach, Topology,
};

pub use execute::Running;
pub(crate) use execute::pages_of;

/// A page-table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which memory it leads to.
    pub target: MemoryId,
    /// What it allows.
    pub permission: Permission,
    /// How it is served.
    pub mode: MappingMode,
}

/// Frames, page tables and GPUs.
#[derive(Debug)]
pub struct Machine {
    /// For each memory, the version of each page that one of its frames holds.
    pub memories: Vec<BTreeMap<PageId, u64>>,
    /// Of each processor.
    pub tables: Vec<BTreeMap<PageId, Entry>>,
    /// Pages that each memory has room for.
    pub capacity: Vec<u32>,
    /// Which processor can map which memory.
    reach: Reach,
    /// The version that the latest store made.
    latest: BTreeMap<PageId, u64>,
    /// Untouched pages, which no memory holds.
    untouched: BTreeSet<PageId>,
    /// Accesses that wait to be woken.
    pub outstanding: BTreeMap<(ProcessorId, PageId), Access>,
    /// For each processor, the first pages and lengths of the blocks that one large page translates.
    pub large: Vec<BTreeMap<PageId, u32>>,
    /// The `ideal` bound: a page is local where it has no copy, and copies need no room.
    by_decree: bool,
}

impl Machine {
    /// A node without any page. `by_decree`: under the `ideal` bound a page is local where it has no copy, and copies
    /// need no room.
    #[must_use]
    pub fn new(topology: &Topology, by_decree: bool) -> Self {
        let processors = topology.gpus() + 1;
        let mut capacity = vec![u32::MAX; MAX_MEMORIES];
        topology.memories.iter().for_each(|memory| capacity[memory.id.index()] = memory.capacity_pages);
        Self {
            memories: vec![BTreeMap::new(); MAX_MEMORIES],
            tables: vec![BTreeMap::new(); processors],
            large: vec![BTreeMap::new(); processors],
            capacity,
            reach: topology.reach.clone(),
            latest: BTreeMap::new(),
            untouched: BTreeSet::new(),
            outstanding: BTreeMap::new(),
            by_decree,
        }
    }

    /// A page comes into being, on the host or nowhere.
    ///
    /// # Panics If it is allocated already.
    pub fn allocate(&mut self, page: PageId, populated: bool) {
        assert!(self.latest.insert(page, 0).is_none());
        if populated {
            self.memories[HOST_MEMORY.index()].insert(page, 0);
        } else {
            self.untouched.insert(page);
        }
    }

    /// A new page that is on the host is in this memory of it.
    ///
    /// # Panics
    /// If it is not.
    pub fn put_on_host(&mut self, page: PageId, memory: MemoryId) {
        let version = self.memories[HOST_MEMORY.index()].remove(&page).expect("it is new and populated");
        self.memories[memory.index()].insert(page, version);
    }

    /// A page ceases to exist.
    pub fn free(&mut self, page: PageId) {
        self.latest.remove(&page);
        self.untouched.remove(&page);
        self.memories.iter_mut().for_each(|memory| memory.retain(|&held, _| held != page));
        self.tables.iter_mut().for_each(|table| table.retain(|&mapped, _| mapped != page));
    }

    /// A GPU touches a page: a store makes a new version, a load must see the latest. An access that the page table
    /// does not allow becomes a fault, unless a fault of that GPU on that page is outstanding already.
    ///
    /// # Errors
    /// Says what a load or store finds that it must not find.
    pub fn touch(&mut self, fault: Fault) -> Result<Option<Fault>, String> {
        if self.allows(fault) {
            self.access(fault)?;
            return Ok(None);
        }
        let key = (fault.processor, fault.page);
        if self.outstanding.contains_key(&key) {
            return Ok(None);
        }
        self.outstanding.insert(key, fault.access);
        Ok(Some(fault))
    }

    /// Whether the page table allows an access.
    #[must_use]
    pub fn allows(&self, fault: Fault) -> bool {
        let entry = self.tables[fault.processor.index()].get(&fault.page);
        entry.is_some_and(|entry| fault.access == Access::Read || entry.permission == Permission::ReadWrite)
    }

    fn access(&mut self, fault: Fault) -> Result<(), String> {
        let page = fault.page;
        let entry = self.tables[fault.processor.index()][&page];
        let found = self.memories[entry.target.index()].get(&page).copied();
        let decreed = self.by_decree.then(|| self.latest[&page]);
        let version = found.or(decreed).ok_or_else(|| format!("{fault:?} reaches no copy"))?;
        if version != self.latest[&page] {
            return Err(format!("{fault:?} sees version {version}, the latest is {}", self.latest[&page]));
        }
        if fault.access == Access::Write {
            self.store(page, entry);
        }
        Ok(())
    }

    fn store(&mut self, page: PageId, entry: Entry) {
        let version = self.latest[&page] + 1;
        self.latest.insert(page, version);
        let broadcast = entry.mode == MappingMode::Broadcast || self.by_decree;
        let holders: BTreeSet<usize> = if broadcast {
            (0..self.memories.len()).filter(|&holder| self.memories[holder].contains_key(&page)).collect()
        } else {
            BTreeSet::from([entry.target.index()])
        };
        for holder in holders {
            self.memories[holder].insert(page, version);
        }
    }

    /// Whether a large page of `processor` translates `page`.
    #[must_use]
    pub fn in_large_page(&self, processor: ProcessorId, page: PageId) -> bool {
        let below = self.large[processor.index()].range(..=page).next_back();
        below.is_some_and(|(first, count)| page.0 - first.0 < *count)
    }

    /// Which memories hold a copy of a page.
    #[must_use]
    pub fn holders(&self, page: PageId) -> Vec<MemoryId> {
        let all = self.memories.iter().enumerate();
        all.filter(|(_, memory)| memory.contains_key(&page)).map(|(index, _)| MemoryId(index as u8)).collect()
    }

    /// Whether a page exists.
    #[must_use]
    pub fn allocated(&self, page: PageId) -> bool {
        self.latest.contains_key(&page)
    }

    /// All existing pages.
    pub fn pages(&self) -> impl Iterator<Item = PageId> {
        self.latest.keys().copied()
    }
}
