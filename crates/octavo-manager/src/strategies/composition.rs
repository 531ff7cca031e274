//! One strategy of each sort, as a memory system is composed of them, and who decides about pages of each kind.

use octavo_registry::Choice;

use crate::contract::error::ConfigError;
use crate::contract::geometry::Geometry;
use crate::contract::kind::Kind;
use crate::strategies::allocator::{ALLOCATORS, FrameAllocator};
use crate::strategies::config::{MemoryConfig, built};
use crate::strategies::demotion::{DEMOTIONS, Demotion};
use crate::strategies::evictors::Evictors;
use crate::strategies::guard::{GUARDS, ThrashingGuard};
use crate::strategies::placement::{PLACEMENTS, Placement};
use crate::strategies::prefetch::{PREFETCHERS, Prefetch};
use crate::strategies::sharing::{SHARINGS, Sharing};
use crate::strategies::sizing::Coalescing;

/// What a manager is made of.
pub(crate) struct Composition {
    /// Sizes that the strategies were built for.
    pub geometry: Geometry,
    pub placement: Box<dyn Placement>,
    pub prefetch: Box<dyn Prefetch>,
    pub evictors: Evictors,
    pub demotion: Box<dyn Demotion>,
    pub sharing: Box<dyn Sharing>,
    pub guard: Box<dyn ThrashingGuard>,
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
            evictors: Evictors::new(&config.eviction, &geometry)?,
            demotion: built(&DEMOTIONS, &config.demotion, &geometry)?,
            sharing: built(&SHARINGS, &config.sharing, &geometry)?,
            guard: built(&GUARDS, &config.guard, &geometry)?,
            allocator: built(&ALLOCATORS, &config.allocator, &geometry)?,
            coalescing: config.coalescing()?,
        })
    }
}

/// Who decides where pages live and what else comes along.
pub(crate) struct Policy {
    pub placement: Box<dyn Placement>,
    pub prefetch: Box<dyn Prefetch>,
}

/// Who decides, by what the pages' program asked for. Nobody decides about memory that [stays](Kind::stays).
pub(crate) struct Policies {
    /// The memory system that was chosen.
    pub managed: Policy,
    /// The operating system's memory: faulting memory moves to whoever touches it, page by page, and is neither
    /// duplicated nor prefetched (`uvm-driver.md` sections 3 and 7: HMM).
    system: Policy,
}

impl Policies {
    pub fn new(managed: Policy, geometry: &Geometry) -> Result<Self, ConfigError> {
        let placement = built(&PLACEMENTS, &Choice::named("on-touch"), geometry)?;
        let prefetch = built(&PREFETCHERS, &Choice::named("none"), geometry)?;
        Ok(Self { managed, system: Policy { placement, prefetch } })
    }

    /// Who decides about pages of this kind.
    pub fn of(&mut self, kind: Kind) -> &mut Policy {
        debug_assert!(!kind.stays(), "nobody decides about pages that stay");
        if kind == Kind::System { &mut self.system } else { &mut self.managed }
    }
}
