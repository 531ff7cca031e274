//! Who decides about the operating system's memory.

use octavo_registry::Choice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::error::ConfigError;
use crate::contract::geometry::Geometry;
use crate::strategies::config::{built, resolved};
use crate::strategies::numa::NumaConfig;
use crate::strategies::placement::PLACEMENTS;
use crate::strategies::policies::Policy;
use crate::strategies::prefetch::PREFETCHERS;

/// Who decides about memory of the kind `system` (`malloc`), which GPUs fault on as well. Unless said otherwise it moves
/// to whoever touches it, page by page, and is neither duplicated nor prefetched (`uvm-driver.md` sections 3 and 7: HMM).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SystemConfig {
    /// Who gets a page, and how, when a processor touches it; `on-touch` unless said otherwise.
    pub placement: Choice,
    /// What else to bring when a page migrates; `none` unless said otherwise.
    pub prefetch: Choice,
    /// On which NUMA node its pages come into being; left out where the placement alone says it.
    #[serde(skip_serializing_if = "NumaConfig::is_default")]
    pub numa: NumaConfig,
}

impl Default for SystemConfig {
    fn default() -> Self {
        Self { placement: Choice::named("on-touch"), prefetch: Choice::named("none"), numa: NumaConfig::default() }
    }
}

impl SystemConfig {
    /// What everybody has is not written out.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The same with every default written out.
    pub(super) fn resolve(&self, geometry: &Geometry) -> Result<Self, ConfigError> {
        let placement = resolved(&PLACEMENTS, &self.placement, geometry).map_err(below)?;
        let prefetch = resolved(&PREFETCHERS, &self.prefetch, geometry).map_err(below)?;
        self.numa.validate()?;
        Ok(Self { placement, prefetch, numa: self.numa.clone() })
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
