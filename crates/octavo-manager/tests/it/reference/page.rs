//! The state of one page in full: every copy, and every mapping with its target and what it allows.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{HOST, MemoryId, MemoryMask, Permission, ProcessorId, ProcessorMask};

/// The copies and mappings of one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Whether it is anywhere; if not, it is untouched.
    pub populated: bool,
    pub owner: ProcessorId,
    pub replicas: BTreeSet<ProcessorId>,
    pub mappings: BTreeMap<ProcessorId, (ProcessorId, Permission)>,
    /// Which of the host's memories its copy lies in, if the host has one.
    pub host: usize,
    /// The `ideal` bound: mapped everywhere by decree, and using no frame.
    pub everywhere: bool,
    /// Every holder can write its copy, and each store is sent to all of them.
    pub broadcast: bool,
}

fn mask(processors: impl Iterator<Item = ProcessorId>) -> ProcessorMask {
    processors.fold(ProcessorMask::EMPTY, ProcessorMask::with)
}

impl Page {
    /// A page on the host, or an untouched one.
    pub fn allocated(populated: bool) -> Self {
        let (replicas, mappings) = (BTreeSet::new(), BTreeMap::new());
        Self { populated, owner: HOST, replicas, mappings, host: 0, everywhere: false, broadcast: false }
    }

    pub fn replicated(&self) -> bool {
        !self.replicas.is_empty()
    }

    pub fn holds(&self, processor: ProcessorId) -> bool {
        self.populated && (self.owner == processor || self.replicas.contains(&processor))
    }

    /// The memory of a processor that holds or would hold its copy.
    pub fn memory(&self, processor: ProcessorId) -> MemoryId {
        if processor == HOST { MemoryId::host(self.host) } else { processor.memory() }
    }

    pub fn resident(&self) -> MemoryMask {
        if !self.populated {
            return MemoryMask::EMPTY;
        }
        let holders = self.replicas.iter().copied().chain([self.owner]);
        holders.map(|holder| self.memory(holder)).fold(MemoryMask::EMPTY, MemoryMask::with)
    }

    /// Whether it takes a frame of a processor's memories.
    pub fn fills(&self, processor: ProcessorId) -> bool {
        self.holds(processor) && !self.everywhere
    }

    /// Whether it takes a frame of a memory.
    pub fn takes(&self, memory: MemoryId) -> bool {
        self.fills(memory.processor()) && self.memory(memory.processor()) == memory
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
        self.broadcast = false;
        self.mappings = BTreeMap::from([(to, (to, Permission::ReadWrite))]);
    }

    /// `processor` reaches its own copy, or else the owner's. A sole copy is writable, for the owner too.
    pub fn map(&mut self, processor: ProcessorId) {
        let target = if self.holds(processor) { processor } else { self.owner };
        self.mappings.insert(processor, (target, Permission::ReadWrite));
        self.mappings.values_mut().for_each(|(_, permission)| *permission = Permission::ReadWrite);
    }

    /// `processor` reaches the owner's copy, and what others may do stays as it is.
    pub fn map_beside(&mut self, processor: ProcessorId) {
        self.mappings.insert(processor, (self.owner, Permission::ReadWrite));
    }

    /// `to` gets a replica: no processor can write any more, and none reads another's memory.
    pub fn replicate(&mut self, to: ProcessorId) {
        if self.owner != to {
            self.replicas.insert(to);
        }
        // Who broadcasts stores, or hears of them, faults again.
        let broadcast = std::mem::take(&mut self.broadcast);
        self.mappings.retain(|processor, (target, _)| processor == target && !broadcast);
        self.mappings.insert(to, (to, Permission::ReadOnly));
        self.mappings.values_mut().for_each(|(_, permission)| *permission = Permission::ReadOnly);
    }

    /// `to` gets a replica, and stores go to all holders from now on. Processors that read another's memory fault
    /// again.
    pub fn subscribe(&mut self, to: ProcessorId) {
        if self.owner != to {
            self.replicas.insert(to);
        }
        self.broadcast = true;
        let holders = self.replicas.iter().copied().chain([self.owner]);
        self.mappings = holders.map(|holder| (holder, (holder, Permission::ReadWrite))).collect();
    }

    /// These give up their replicas, which are not the owner's. A copy that is alone is no subscriber's.
    pub fn unsubscribe(&mut self, leaving: &BTreeSet<ProcessorId>) {
        for holder in leaving {
            self.replicas.remove(holder);
            self.mappings.remove(holder);
        }
        self.broadcast &= self.replicated();
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
        self.mappings.retain(|_, (target, _)| *target != full);
        if self.owner == full {
            // A GPU rather than the host, which has the lowest number.
            let gpu = self.replicas.iter().find(|&&holder| holder != HOST);
            self.owner = *gpu.or(self.replicas.first()).expect("it has replicas");
        }
        let owner = self.owner;
        self.replicas.remove(&owner);
        self.replicas.remove(&full);
        self.broadcast &= self.replicated();
    }
}
