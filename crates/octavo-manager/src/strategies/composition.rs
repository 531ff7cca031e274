//! One strategy of each kind, as a memory system is composed of them.

use crate::contract::error::ConfigError;
use crate::contract::geometry::Geometry;
use crate::strategies::allocator::{ALLOCATORS, FrameAllocator};
use crate::strategies::config::{MemoryConfig, built};
use crate::strategies::eviction::{EVICTIONS, Eviction};
use crate::strategies::placement::{PLACEMENTS, Placement};
use crate::strategies::prefetch::{PREFETCHERS, Prefetch};
use crate::strategies::sizing::Coalescing;

/// What a manager is made of.
pub(crate) struct Composition {
    /// Sizes that the strategies were built for.
    pub geometry: Geometry,
    pub placement: Box<dyn Placement>,
    pub prefetch: Box<dyn Prefetch>,
    pub eviction: Box<dyn Eviction>,
    pub allocator: Box<dyn FrameAllocator>,
    /// How base pages become large ones; `None` if they never do.
    pub coalescing: Option<Coalescing>,
}

impl Composition {
    /// The strategies of `config` for a node with so many GPUs.
    pub fn new(config: &MemoryConfig, gpus: usize) -> Result<Self, ConfigError> {
        let geometry = config.geometry(gpus)?;
        Ok(Self {
            geometry,
            placement: built(&PLACEMENTS, &config.placement, &geometry)?,
            prefetch: built(&PREFETCHERS, &config.prefetch, &geometry)?,
            eviction: built(&EVICTIONS, &config.eviction, &geometry)?,
            allocator: built(&ALLOCATORS, &config.allocator, &geometry)?,
            coalescing: config.coalescing()?,
        })
    }
}
