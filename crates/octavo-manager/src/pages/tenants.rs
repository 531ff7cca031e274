//! Which address spaces have memory, and how much of it is in each memory.

use crate::contract::by_memory::ByMemory;
use crate::contract::event::Allocation;
use crate::contract::ids::{MemoryId, SpaceId};
use crate::contract::masks::{MemoryMask, ProcessorMask};

/// Counts of pages that can leave, by address space.
#[derive(Clone, Default)]
pub(crate) struct Tenants {
    spaces: Vec<Tenant>,
}

#[derive(Clone, Default)]
struct Tenant {
    /// Pages in each GPU's memory.
    held: ByMemory<u32>,
    /// Pages allocated, of any kind.
    allocated: u32,
    /// The GPUs that it runs on.
    gpus: ProcessorMask,
    name: String,
}

impl Tenants {
    pub fn spaces(&self) -> impl Iterator<Item = SpaceId> + use<> {
        (0..self.spaces.len() as u16).map(SpaceId)
    }

    /// Pages in a GPU's memory.
    pub fn held(&self, space: SpaceId, memory: MemoryId) -> u32 {
        self.tenant(space).map_or(0, |tenant| tenant.held[memory])
    }

    /// Whether it has memory now and runs where `memory` is near.
    pub fn at_home(&self, space: SpaceId, memory: MemoryId) -> bool {
        self.tenant(space).is_some_and(|tenant| tenant.allocated > 0 && tenant.gpus.contains(memory.processor()))
    }

    /// Its name; empty if it has none.
    pub fn name(&self, space: SpaceId) -> &str {
        self.tenant(space).map_or("", |tenant| &tenant.name)
    }

    pub fn set_name(&mut self, space: SpaceId, name: &str) {
        name.clone_into(&mut self.tenant_mut(space).name);
    }

    /// Pages were allocated, in a node with the GPUs `all`.
    pub fn allocated(&mut self, allocation: &Allocation, all: ProcessorMask) {
        let gpus = if allocation.gpus.is_empty() { all } else { allocation.gpus };
        let tenant = self.tenant_mut(allocation.space);
        // One that begins again may run elsewhere.
        tenant.gpus = if tenant.allocated == 0 { gpus } else { tenant.gpus.union(gpus) };
        tenant.allocated += allocation.run.count;
    }

    /// A page of it was freed.
    pub fn freed(&mut self, space: SpaceId) {
        self.tenant_mut(space).allocated -= 1;
    }

    /// A page of it that takes up room in the GPUs' memories `before` does so in `after` from now on.
    pub fn moved(&mut self, space: SpaceId, before: MemoryMask, after: MemoryMask) {
        let held = &mut self.tenant_mut(space).held;
        before.difference(after).iter().for_each(|memory| held[memory] -= 1);
        after.difference(before).iter().for_each(|memory| held[memory] += 1);
    }

    fn tenant(&self, space: SpaceId) -> Option<&Tenant> {
        self.spaces.get(usize::from(space.0))
    }

    fn tenant_mut(&mut self, space: SpaceId) -> &mut Tenant {
        let index = usize::from(space.0);
        if index >= self.spaces.len() {
            self.spaces.resize(index + 1, Tenant::default());
        }
        &mut self.spaces[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::{PageId, PageRun, ProcessorId};

    #[test]
    fn a_space_is_at_home_where_it_runs_while_it_has_memory() {
        let (mut tenants, space) = (Tenants::default(), SpaceId(1));
        let at_home = |tenants: &Tenants| [0, 1].map(|gpu| tenants.at_home(space, MemoryId::gpu(gpu)));
        assert_eq!(at_home(&tenants), [false, false]);
        let run = PageRun { first: PageId(0), count: 2 };
        let allocation = Allocation { space, gpus: ProcessorMask::only(ProcessorId::gpu(1)), ..run.into() };
        tenants.allocated(&allocation, ProcessorMask::all_gpus(2));
        assert_eq!(at_home(&tenants), [false, true]);
        tenants.freed(space);
        assert_eq!(at_home(&tenants), [false, true]);
        tenants.freed(space);
        assert_eq!(at_home(&tenants), [false, false]);
    }
}
