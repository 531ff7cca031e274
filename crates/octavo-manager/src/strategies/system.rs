//! Strategies for the operating system's memory.

use octavo_registry::Choice;
use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::error::ConfigError;
use crate::contract::geometry::Geometry;
use crate::strategies::choice::{built, resolved};
use crate::strategies::numa::NumaConfig;
use crate::strategies::placement::PLACEMENTS;
use crate::strategies::policies::Policy;
use crate::strategies::prefetch::PREFETCHERS;

/// Whether the kernel backs memory that cores touch first by huge pages (`transparent_hugepage/enabled`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Huge {
    /// Base pages alone.
    #[default]
    Never,
    /// A block of 2 MiB that belongs to one allocation is made as a whole when a core touches it first. One entry maps
    /// it while none of its pages moves.
    Always,
}

impl Huge {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_never(&self) -> bool {
        *self == Self::Never
    }

    /// Kernels with pages of 4 KiB have huge pages of 2 MiB; kernels with pages of 64 KiB have huge pages of 512 MiB.
    fn check(self, geometry: &Geometry) -> Result<(), ConfigError> {
        if self == Self::Never || geometry.page_size == Bytes(4 << 10) {
            return Ok(());
        }
        let message = format!(
            "expected `never`, or a page_size of 4KiB: huge pages of a kernel with pages of {} are not modelled",
            geometry.page_size
        );
        Err(ConfigError::new("system.huge_pages", message))
    }
}

/// Where GPUs share the host's page table, their large entries are as large as huge pages: there is one size of them.
pub(crate) fn check_large(huge: Huge, large_pages: u32, geometry: &Geometry) -> Result<(), ConfigError> {
    if huge == Huge::Never || large_pages == geometry.block_pages() {
        return Ok(());
    }
    let large = Bytes(u64::from(large_pages) * geometry.page_size.0);
    let message = format!("expected `never`, or a `sizing` whose large pages have 2MiB like huge ones, found {large}");
    Err(ConfigError::new("system.huge_pages", message))
}

/// Strategies for memory of the kind `system` (`malloc`), which GPUs fault on as well. By default, a page moves to the
/// processor that touches it, and is neither duplicated nor prefetched (`uvm-driver.md` sections 3 and 7: HMM).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SystemConfig {
    /// Where a page goes when a processor touches it; default `on-touch`.
    pub placement: Choice,
    /// Which pages come along when a page migrates; default `none`.
    pub prefetch: Choice,
    /// Whether cores that touch it first get huge pages; default `never`, which is not written out.
    #[serde(skip_serializing_if = "Huge::is_never")]
    pub huge_pages: Huge,
    /// The NUMA node on which its pages are allocated; if left out, the placement decides.
    #[serde(skip_serializing_if = "NumaConfig::is_default")]
    pub numa: NumaConfig,
}

impl Default for SystemConfig {
    fn default() -> Self {
        Self {
            placement: Choice::named("on-touch"),
            prefetch: Choice::named("none"),
            huge_pages: Huge::Never,
            numa: NumaConfig::default(),
        }
    }
}

impl SystemConfig {
    /// Whether it is the default, which is not written out.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The same with every default written out.
    pub(super) fn resolve(&self, geometry: &Geometry) -> Result<Self, ConfigError> {
        let placement = resolved(&PLACEMENTS, &self.placement, geometry).map_err(below)?;
        let prefetch = resolved(&PREFETCHERS, &self.prefetch, geometry).map_err(below)?;
        self.huge_pages.check(geometry)?;
        self.numa.validate()?;
        Ok(Self { placement, prefetch, huge_pages: self.huge_pages, numa: self.numa.clone() })
    }

    pub(crate) fn build(&self, geometry: &Geometry) -> Result<Policy, ConfigError> {
        let placement = built(&PLACEMENTS, &self.placement, geometry).map_err(below)?;
        let prefetch = built(&PREFETCHERS, &self.prefetch, geometry).map_err(below)?;
        Ok(Policy { placement, prefetch })
    }
}

fn below(error: ConfigError) -> ConfigError {
    ConfigError { key: format!("system.{}", error.key), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(page: u64) -> Geometry {
        Geometry { gpus: 1, page_size: Bytes(page) }
    }

    #[test]
    fn huge_pages_need_pages_of_4_kib() {
        let fits = |huge: Huge, page| huge.check(&geometry(page)).is_ok();
        assert_eq!([4 << 10, 64 << 10].map(|page| fits(Huge::Never, page)), [true, true]);
        assert_eq!([4 << 10, 64 << 10].map(|page| fits(Huge::Always, page)), [true, false]);
    }

    #[test]
    fn what_is_refused_is_named_with_its_table() {
        let unknown = || Choice::named("unknown");
        let refused = |system: SystemConfig| system.resolve(&geometry(4 << 10)).unwrap_err().key;
        assert_eq!(refused(SystemConfig { placement: unknown(), ..SystemConfig::default() }), "system.placement.name");
        assert_eq!(refused(SystemConfig { prefetch: unknown(), ..SystemConfig::default() }), "system.prefetch.name");
    }
}
