//! Where one page is, spelled out: every copy, and every mapping with its target and what it allows.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{HOST, Permission, ProcessorId, ProcessorMask};

/// The copies and mappings of one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Whether it is anywhere; if not, nobody touched it.
    pub populated: bool,
    pub owner: ProcessorId,
    pub replicas: BTreeSet<ProcessorId>,
    pub mappings: BTreeMap<ProcessorId, (ProcessorId, Permission)>,
    /// The `ideal` bound: mapped everywhere by decree, and using no frame.
    pub everywhere: bool,
}

fn mask(processors: impl Iterator<Item = ProcessorId>) -> ProcessorMask {
    processors.fold(ProcessorMask::EMPTY, ProcessorMask::with)
}

impl Page {
    /// A page on the host, or one that nobody touched.
    pub fn allocated(populated: bool) -> Self {
        Self { populated, owner: HOST, replicas: BTreeSet::new(), mappings: BTreeMap::new(), everywhere: false }
    }

    pub fn replicated(&self) -> bool {
        !self.replicas.is_empty()
    }

    pub fn holds(&self, processor: ProcessorId) -> bool {
        self.populated && (self.owner == processor || self.replicas.contains(&processor))
    }

    pub fn resident(&self) -> ProcessorMask {
        if !self.populated {
            return ProcessorMask::EMPTY;
        }
        mask(self.replicas.iter().copied()).with(self.owner)
    }

    /// Whether it takes a frame of a GPU's memory.
    pub fn fills(&self, gpu: ProcessorId) -> bool {
        self.holds(gpu) && !self.everywhere
    }

    pub fn mapped(&self) -> ProcessorMask {
        mask(self.mappings.keys().copied())
    }

    pub fn writable(&self) -> ProcessorMask {
        let allowed = self.mappings.iter().filter(|(_, (_, permission))| *permission == Permission::ReadWrite);
        mask(allowed.map(|(&processor, _)| processor))
    }

    /// The only copy is `to`'s, and only `to` maps it.
    pub fn move_to(&mut self, to: ProcessorId) {
        self.populated = true;
        self.owner = to;
        self.replicas.clear();
        self.mappings = BTreeMap::from([(to, (to, Permission::ReadWrite))]);
    }

    /// `processor` reaches the owner's copy, or its own if that is the owner. A sole copy is writable, for the owner
    /// too.
    pub fn map(&mut self, processor: ProcessorId) {
        self.mappings.insert(processor, (self.owner, Permission::ReadWrite));
        self.mappings.values_mut().for_each(|(_, permission)| *permission = Permission::ReadWrite);
    }

    /// `to` gets a replica: nobody can write any more, and nobody reads another's memory.
    pub fn replicate(&mut self, to: ProcessorId) {
        self.replicas.insert(to);
        self.mappings.retain(|processor, (target, _)| processor == target);
        self.mappings.insert(to, (to, Permission::ReadOnly));
        self.mappings.values_mut().for_each(|(_, permission)| *permission = Permission::ReadOnly);
    }

    /// Removes every replica and its translations; the owner's copy stays.
    pub fn drop_replicas(&mut self) {
        let owner = self.owner;
        self.replicas.clear();
        self.mappings.retain(|&processor, _| processor == owner);
    }

    /// Leaves a full memory: a replica is dropped, a sole copy goes to the host.
    pub fn leave(&mut self, full: ProcessorId) {
        if !self.replicated() {
            self.owner = HOST;
            self.mappings.clear();
            return;
        }
        self.mappings.remove(&full);
        if self.owner == full {
            // A GPU rather than the host, which has the lowest number.
            let gpu = self.replicas.iter().find(|&&holder| holder != HOST);
            self.owner = *gpu.or(self.replicas.first()).expect("it has replicas");
        }
        let owner = self.owner;
        self.replicas.remove(&owner);
        self.replicas.remove(&full);
    }
}
