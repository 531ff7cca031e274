//! Changes that are not acknowledged yet.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{Access, Fault, ProcessorId};

use super::page::Page;

/// A fault on its way through the model.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub fault: Fault,
    /// Position among all faults, for waiting in order.
    pub sequence: u64,
    /// Whether the fault was counted: it is one fault, however often it is tried.
    pub counted: bool,
    /// Whether the placement strategy has seen it.
    pub noted: bool,
}

impl Pending {
    pub fn page(&self) -> u32 {
        self.fault.page.0
    }

    pub fn writes(&self) -> bool {
        self.fault.access == Access::Write
    }
}

/// Pages that one decision changed, as they were before it.
#[derive(Debug, Default)]
pub struct Flight {
    pub before: BTreeMap<u32, Page>,
    /// Who left which memory, in this order.
    pub evicted: Vec<(ProcessorId, u32)>,
    pub waiting: Vec<Pending>,
}

impl Flight {
    pub fn pages(&self) -> BTreeSet<u32> {
        self.before.keys().copied().collect()
    }
}
