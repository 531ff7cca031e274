//! One strategy of each sort, which together form a memory system.

use crate::contract::error::ConfigError;
use crate::contract::geometry::Geometry;
use crate::strategies::allocator::{ALLOCATORS, FrameAllocator};
use crate::strategies::choice::built;
use crate::strategies::config::MemoryConfig;
use crate::strategies::demotion::{DEMOTIONS, Demotion};
use crate::strategies::evictors::Evictors;
use crate::strategies::guard::{GUARDS, ThrashingGuard};
use crate::strategies::placement::PLACEMENTS;
use crate::strategies::policies::Policy;
use crate::strategies::prefetch::PREFETCHERS;
use crate::strategies::sharing::{SHARINGS, Sharing};
use crate::strategies::sizing::Coalescing;

/// The parts of a manager.
pub(crate) struct Composition {
    /// Sizes that the strategies were built for.
    pub geometry: Geometry,
    /// The policy of managed memory.
    pub managed: Policy,
    /// The policy of the operating system's memory.
    pub system: Policy,
    pub evictors: Evictors,
    pub demotion: Box<dyn Demotion>,
    pub sharing: Box<dyn Sharing>,
    pub guard: Box<dyn ThrashingGuard>,
    pub allocator: Box<dyn FrameAllocator>,
    /// How base pages become large ones; `None` if they never do.
    pub coalescing: Option<Coalescing>,
}

impl Composition {
    /// The strategies of `config` for a node with this many GPUs.
    pub fn new(config: &MemoryConfig, gpus: usize) -> Result<Self, ConfigError> {
        let geometry = config.geometry(gpus)?;
        Ok(Self {
            geometry,
            managed: Policy {
                placement: built(&PLACEMENTS, &config.placement, &geometry)?,
                prefetch: built(&PREFETCHERS, &config.prefetch, &geometry)?,
            },
            system: config.system.build(&geometry)?,
            evictors: Evictors::new(&config.eviction, &geometry)?,
            demotion: built(&DEMOTIONS, &config.demotion, &geometry)?,
            sharing: built(&SHARINGS, &config.sharing, &geometry)?,
            guard: built(&GUARDS, &config.guard, &geometry)?,
            allocator: built(&ALLOCATORS, &config.allocator, &geometry)?,
            coalescing: config.coalescing()?,
        })
    }
}
