//! What a memory system is made of, and the node it manages.

use octavo_registry::{Choice, OptionError, Registry};
use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::allocator::ALLOCATORS;
use crate::eviction::EVICTIONS;
use crate::ids::MAX_PROCESSORS;
use crate::physical::fragmentation::Fragmentation;
use crate::placement::PLACEMENTS;
use crate::prefetch::PREFETCHERS;
use crate::sizing::{Coalescing, SIZINGS};

/// Span of virtual memory that prefetch and block eviction work on, one page-table page of 4 KiB entries.
const BLOCK_BYTES: u64 = 2 << 20;
/// Address space that shares one hardware access counter.
const COUNTER_GROUP_BYTES: u64 = 64 << 10;
/// Sizes of pages that decisions can be taken on.
pub(crate) const PAGE_SIZES: [u64; 3] = [4 << 10, 64 << 10, BLOCK_BYTES];

/// A memory system: a page size and one strategy of each kind, by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Bytes of a page: 4KiB (the default, GRIT section 3), 64KiB (hosts with big pages) or 2MiB (large pages).
    pub page_size: Bytes,
    /// Who gets a page, and how, when a GPU touches it; `on-touch` unless said otherwise.
    pub placement: Choice,
    /// What else to bring when a page migrates; `none` unless said otherwise.
    pub prefetch: Choice,
    /// What leaves a full memory; `lru-page` unless said otherwise.
    pub eviction: Choice,
    /// Which frame a page gets; `free-list` unless said otherwise.
    pub allocator: Choice,
    /// Which sizes pages have; `base` unless said otherwise.
    pub sizing: Choice,
    /// Foreign data in the GPUs' memories.
    pub fragmentation: Fragmentation,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            page_size: Bytes(4 << 10),
            placement: Choice::named("on-touch"),
            prefetch: Choice::named("none"),
            eviction: Choice::named("lru-page"),
            allocator: Choice::named("free-list"),
            sizing: Choice::named("base"),
            fragmentation: Fragmentation::default(),
        }
    }
}

impl MemoryConfig {
    /// The same memory system with every default written out.
    ///
    /// # Errors
    /// Names the key that cannot be used, what was expected and the nearest valid name.
    pub fn resolve(&self) -> Result<Self, ConfigError> {
        let geometry = self.geometry(1)?;
        self.fragmentation.validate()?;
        Ok(Self {
            page_size: self.page_size,
            placement: resolved(&PLACEMENTS, &self.placement, &geometry)?,
            prefetch: resolved(&PREFETCHERS, &self.prefetch, &geometry)?,
            eviction: resolved(&EVICTIONS, &self.eviction, &geometry)?,
            allocator: resolved(&ALLOCATORS, &self.allocator, &geometry)?,
            sizing: resolved(&SIZINGS, &self.sizing, &self.base_geometry(1)?)?,
            fragmentation: self.fragmentation,
        })
    }

    /// Bytes of the pages that all decisions are taken on: those of the driver of the manager, and of a [`Topology`].
    ///
    /// # Errors
    /// As [`MemoryConfig::resolve`], for the keys that sizes depend on.
    pub fn decision_size(&self) -> Result<Bytes, ConfigError> {
        Ok(self.geometry(1)?.page_size)
    }

    pub(crate) fn geometry(&self, gpus: usize) -> Result<Geometry, ConfigError> {
        let base = self.base_geometry(gpus)?;
        let sizing = built(&SIZINGS, &self.sizing, &base)?;
        Ok(Geometry { page_size: sizing.page_size(base.page_size), ..base })
    }

    /// How base pages become large ones.
    pub(crate) fn coalescing(&self) -> Result<Option<Coalescing>, ConfigError> {
        Ok(built(&SIZINGS, &self.sizing, &self.base_geometry(1)?)?.coalescing())
    }

    /// As if there were base pages alone.
    fn base_geometry(&self, gpus: usize) -> Result<Geometry, ConfigError> {
        if PAGE_SIZES.contains(&self.page_size.0) {
            return Ok(Geometry { gpus, page_size: self.page_size });
        }
        let message = format!("expected 4KiB, 64KiB or 2MiB, found {}", self.page_size);
        Err(ConfigError { key: "page_size".to_owned(), message })
    }
}

/// Fills in defaults, and finds values out of range too.
fn resolved<P>(registry: &Registry<P, Geometry>, choice: &Choice, geometry: &Geometry) -> Result<Choice, ConfigError> {
    let checked = registry.check(choice, geometry).and_then(|()| registry.resolve(choice));
    checked.map_err(|error| ConfigError::below(registry.kind, error))
}

pub(crate) fn built<P>(
    registry: &Registry<P, Geometry>,
    choice: &Choice,
    geometry: &Geometry,
) -> Result<P, ConfigError> {
    registry.build(choice, geometry).map_err(|error| ConfigError::below(registry.kind, error))
}

/// The part of a node that the manager has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// GPUs in the node, 1 to 16.
    pub gpus: usize,
    /// Pages that fit into each GPU's memory; `u32::MAX` for no limit. The host's memory has none.
    pub capacity_pages: Vec<u32>,
}

impl Topology {
    /// A node whose GPUs hold as much as is asked of them.
    #[must_use]
    pub fn unlimited(gpus: usize) -> Self {
        Self { gpus, capacity_pages: vec![u32::MAX; gpus] }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let refuse = |key: &str, message: String| Err(ConfigError { key: key.to_owned(), message });
        if self.gpus == 0 || self.gpus >= MAX_PROCESSORS {
            return refuse("gpus", format!("expected 1 to {}, found {}", MAX_PROCESSORS - 1, self.gpus));
        }
        if self.capacity_pages.len() != self.gpus {
            let found = self.capacity_pages.len();
            return refuse("capacity_pages", format!("expected one for each of {} GPUs, found {found}", self.gpus));
        }
        if let Some(gpu) = self.capacity_pages.iter().position(|&pages| pages == 0) {
            return refuse("capacity_pages", format!("gpu{gpu} has no room for a single page"));
        }
        Ok(())
    }
}

/// Sizes that strategies are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// GPUs in the node.
    pub gpus: usize,
    /// Bytes of a page.
    pub page_size: Bytes,
}

impl Geometry {
    /// The host and the GPUs.
    #[must_use]
    pub const fn processors(&self) -> usize {
        self.gpus + 1
    }

    /// Pages of a 2 MiB block.
    #[must_use]
    pub const fn block_pages(&self) -> u32 {
        (BLOCK_BYTES / self.page_size.0) as u32
    }

    /// Pages of 64 KiB, at least one: what shares an access counter, and the driver's big page.
    #[must_use]
    pub const fn counter_group_pages(&self) -> u32 {
        let pages = COUNTER_GROUP_BYTES / self.page_size.0;
        if pages == 0 { 1 } else { pages as u32 }
    }
}

/// A configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
pub struct ConfigError {
    /// Dotted key, for example `placement.fault_threshold`.
    pub key: String,
    /// What is wrong, what was expected and the nearest valid name.
    pub message: String,
}

impl ConfigError {
    fn below(kind: &str, error: OptionError) -> Self {
        let OptionError { key, message } = error;
        Self { key: if key.is_empty() { kind.to_owned() } else { format!("{kind}.{key}") }, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_and_sizes_are_refused_with_their_key() {
        let placement = MemoryConfig { placement: Choice::named("on-tuch"), ..Default::default() };
        let error = placement.resolve().unwrap_err();
        assert_eq!(error.key, "placement.name");
        assert!(error.message.contains("did you mean `on-touch`?"), "{error}");
        let size = MemoryConfig { page_size: Bytes(8 << 10), ..Default::default() };
        assert_eq!(size.resolve().unwrap_err().key, "page_size");
    }

    #[test]
    fn a_resolved_configuration_is_complete_and_stays_as_it_is() {
        for name in PLACEMENTS.names() {
            let config = MemoryConfig { placement: Choice::named(name), ..Default::default() };
            let resolved = config.resolve().unwrap();
            assert_eq!(resolved.resolve().unwrap(), resolved);
            let text = serde_json::to_string(&resolved).unwrap();
            assert_eq!(serde_json::from_str::<MemoryConfig>(&text).unwrap(), resolved);
        }
    }

    #[test]
    fn a_gpu_without_memory_is_refused() {
        let topology = Topology { gpus: 2, capacity_pages: vec![4, 0] };
        assert_eq!(topology.validate().unwrap_err().key, "capacity_pages");
        assert!(Topology::unlimited(17).validate().is_err());
    }
}
