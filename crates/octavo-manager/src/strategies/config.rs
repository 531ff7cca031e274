//! The configuration of a memory system.

use octavo_registry::Choice;
use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::error::ConfigError;
use crate::contract::geometry::{Geometry, PAGE_SIZES};
use crate::memories::fragmentation::Fragmentation;
use crate::strategies::allocator::ALLOCATORS;
use crate::strategies::choice::{built, resolved};
use crate::strategies::demotion::DEMOTIONS;
use crate::strategies::eviction::EVICTIONS;
use crate::strategies::guard::GUARDS;
use crate::strategies::host_frames::HostFrames;
use crate::strategies::needs;
use crate::strategies::outstanding::OutstandingAccesses;
use crate::strategies::padding::Padding;
use crate::strategies::placement::PLACEMENTS;
use crate::strategies::prefetch::PREFETCHERS;
use crate::strategies::sharing::SHARINGS;
use crate::strategies::sizing::{Coalescing, SIZINGS};
use crate::strategies::synchronisation::Synchronisation;
use crate::strategies::system::SystemConfig;

/// Which plan brings the pages that a prefetcher chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrefetchPlan {
    /// The faults' plan: they are woken when all pages have come, as in the production driver (`uvm-driver.md` section
    /// 2: one service of a block).
    #[default]
    Shared,
    /// A plan of their own, which begins when the demanded pages have come. The fault's wake came last, 50 to 140 us
    /// late for each prefetched run, where plans were carried out on real memory (`executor.md`, point 9).
    Own,
    /// The faults' plan, decided before any page leaves: room is made for all pages at once, and pages that leave for
    /// them do not affect the choice (UVMSmart: `do_hardware_prefetch` before `page_eviction_procedure`).
    AtOnce,
}

impl PrefetchPlan {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_shared(&self) -> bool {
        *self == Self::Shared
    }
}

/// A memory system: a page size and one strategy of each kind, by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Bytes of a page: 4KiB (the default, GRIT section 3), 64KiB (hosts with big pages) or 2MiB (large pages).
    pub page_size: Bytes,
    /// Where a page goes when a GPU touches it; default `on-touch`.
    pub placement: Choice,
    /// Which pages come along when a page migrates; default `none`.
    pub prefetch: Choice,
    /// Whether a fault waits for the pages that are prefetched with it; default `shared`, which is not written out.
    #[serde(skip_serializing_if = "PrefetchPlan::is_shared")]
    pub prefetch_plan: PrefetchPlan,
    /// Strategies for the operating system's memory, in place of `placement` and `prefetch`.
    #[serde(skip_serializing_if = "SystemConfig::is_default")]
    pub system: SystemConfig,
    /// Which pages leave a full memory; default `lru-page`.
    pub eviction: Choice,
    /// Whether pages that accesses are under way to can leave; default `leave`, which is not written out.
    #[serde(skip_serializing_if = "OutstandingAccesses::is_default")]
    pub outstanding: OutstandingAccesses,
    /// Where evicted pages go, and which leave ahead of need; default `host`.
    #[serde(skip_serializing_if = "goes_to_host")]
    pub demotion: Choice,
    /// Which frames of the host hold evicted pages; default `ready`, which is not written out.
    #[serde(skip_serializing_if = "HostFrames::are_ready")]
    pub host_frames: HostFrames,
    /// Pages beyond the end of an allocation of managed memory; default `none`, which is not written out.
    #[serde(skip_serializing_if = "Padding::is_none")]
    pub padding: Padding,
    /// Where pages that a GPU has written go when the host waits for it between two launches; default `stay`, which is
    /// not written out.
    #[serde(skip_serializing_if = "Synchronisation::is_default")]
    pub synchronisation: Synchronisation,
    /// How much memory one address space may take from another; default `free-for-all`, which is not written out.
    #[serde(skip_serializing_if = "is_free_for_all")]
    pub sharing: Choice,
    /// The guard against thrashing, for when processors compete for a page; default `none`, which is not written out.
    #[serde(skip_serializing_if = "is_none")]
    pub guard: Choice,
    /// Which frame a page gets; default `free-list`.
    pub allocator: Choice,
    /// Which sizes pages have; default `base`.
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
            prefetch_plan: PrefetchPlan::default(),
            system: SystemConfig::default(),
            eviction: Choice::named("lru-page"),
            outstanding: OutstandingAccesses::default(),
            demotion: Choice::named("host"),
            host_frames: HostFrames::default(),
            padding: Padding::default(),
            synchronisation: Synchronisation::default(),
            sharing: Choice::named("free-for-all"),
            guard: Choice::named("none"),
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
        let config = Self {
            page_size: self.page_size,
            placement: resolved(&PLACEMENTS, &self.placement, &geometry)?,
            prefetch: resolved(&PREFETCHERS, &self.prefetch, &geometry)?,
            prefetch_plan: self.prefetch_plan,
            system: self.system.resolve(&geometry)?,
            eviction: resolved(&EVICTIONS, &self.eviction, &geometry)?,
            outstanding: self.outstanding,
            demotion: resolved(&DEMOTIONS, &self.demotion, &geometry)?,
            host_frames: self.host_frames,
            padding: self.padding,
            synchronisation: self.synchronisation,
            sharing: resolved(&SHARINGS, &self.sharing, &geometry)?,
            guard: resolved(&GUARDS, &self.guard, &geometry)?,
            allocator: resolved(&ALLOCATORS, &self.allocator, &geometry)?,
            sizing: resolved(&SIZINGS, &self.sizing, &self.base_geometry(1)?)?,
            fragmentation: self.fragmentation,
        };
        needs::check(&[("placement", &config.placement), ("system.placement", &config.system.placement)], &geometry)?;
        Ok(config)
    }

    /// Bytes of the pages that all decisions are about: the page size of the driver and of a
    /// [`Topology`](crate::Topology).
    ///
    /// # Errors
    /// As for [`MemoryConfig::resolve`], for the keys that sizes depend on.
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

    /// Whether each frame of a GPU has a number: the allocator, large pages or foreign data need it.
    ///
    /// # Errors
    /// As for [`MemoryConfig::resolve`], for the keys that this depends on.
    pub fn numbers_frames(&self) -> Result<bool, ConfigError> {
        let allocator = built(&ALLOCATORS, &self.allocator, &self.geometry(1)?)?;
        Ok(allocator.needs_frames() || self.coalescing()?.is_some() || !self.fragmentation.is_none())
    }

    /// The geometry with base pages alone.
    fn base_geometry(&self, gpus: usize) -> Result<Geometry, ConfigError> {
        if PAGE_SIZES.contains(&self.page_size.0) {
            return Ok(Geometry { gpus, page_size: self.page_size });
        }
        let message = format!("expected 4KiB, 64KiB or 2MiB, found {}", self.page_size);
        Err(ConfigError::new("page_size", message))
    }
}

/// Whether it is the default, which is not written out.
fn goes_to_host(demotion: &Choice) -> bool {
    *demotion == Choice::named("host")
}

fn is_free_for_all(sharing: &Choice) -> bool {
    *sharing == Choice::named("free-for-all")
}

/// Scenarios without a guard are written as they were before there were any.
fn is_none(guard: &Choice) -> bool {
    guard.name == "none"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::numa::{NumaConfig, NumaPolicy};
    use crate::strategies::system::Huge;

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
    fn what_was_added_later_is_written_if_and_only_if_it_is_no_default() {
        let written = |config: &MemoryConfig| serde_json::to_value(config).unwrap();
        let default = written(&MemoryConfig::default());
        let numa = NumaConfig { policy: NumaPolicy::Bind, nodes: vec!["host".to_owned()] };
        let system = SystemConfig { huge_pages: Huge::Always, numa, ..SystemConfig::default() };
        let others = MemoryConfig {
            prefetch_plan: PrefetchPlan::Own,
            system,
            demotion: Choice::named("spare-memory"),
            host_frames: HostFrames::Large,
            padding: Padding::Trees,
            synchronisation: Synchronisation::DirtyHome,
            sharing: Choice::named("quota"),
            guard: Choice::named("stock-driver"),
            ..MemoryConfig::default()
        };
        let changed = written(&others);
        for key in
            ["prefetch_plan", "system", "demotion", "host_frames", "padding", "synchronisation", "sharing", "guard"]
        {
            assert!(default.get(key).is_none(), "{key} is a default");
            assert!(changed.get(key).is_some(), "{key} is not");
        }
        let plain = SystemConfig { placement: Choice::named("gps"), ..SystemConfig::default() };
        let plain = written(&MemoryConfig { system: plain, ..MemoryConfig::default() });
        for key in ["huge_pages", "numa"] {
            assert!(plain["system"].get(key).is_none(), "{key} is a default");
            assert!(changed["system"].get(key).is_some(), "{key} is not");
        }
        assert_eq!(serde_json::from_value::<MemoryConfig>(changed).unwrap(), others);
    }

    #[test]
    fn frames_have_numbers_for_an_allocator_or_large_pages_or_foreign_data() {
        let plain = MemoryConfig::default();
        let fragmented = |index, occupancy| {
            let fragmentation = Fragmentation { index, occupancy, seed: 0 };
            MemoryConfig { fragmentation, ..MemoryConfig::default() }
        };
        for (config, numbered) in [
            (plain.clone(), false),
            (MemoryConfig { allocator: Choice::named("cocoa"), ..plain.clone() }, true),
            (MemoryConfig { allocator: Choice::named("chunks"), ..plain.clone() }, true),
            (MemoryConfig { sizing: Choice::named("mosaic"), ..plain }, true),
            (fragmented(10, 50), true),
            (fragmented(10, 0), false),
            (fragmented(0, 50), false),
        ] {
            assert_eq!(config.numbers_frames().unwrap(), numbered, "{config:?}");
        }
    }

    #[test]
    fn what_stays_mapped_is_written_if_it_was_asked_for() {
        let resolved = |options: &str| {
            let demotion = Choice { name: "host".to_owned(), options: serde_json::from_str(options).unwrap() };
            serde_json::to_value(MemoryConfig { demotion, ..MemoryConfig::default() }.resolve().unwrap().demotion)
        };
        let written = |options: &str| resolved(options).unwrap().get("stays_mapped").cloned();
        assert_eq!(written(r#"{"stays_mapped": true}"#), Some(true.into()));
        assert_eq!(written(r#"{"stays_mapped": false}"#), None, "the default");
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
}
