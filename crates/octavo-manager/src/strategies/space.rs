//! Options of one address space.

use octavo_registry::Choice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::error::ConfigError;
use crate::strategies::choice::resolved;
use crate::strategies::config::MemoryConfig;
use crate::strategies::eviction::EVICTIONS;
use crate::strategies::needs;
use crate::strategies::placement::PLACEMENTS;
use crate::strategies::prefetch::PREFETCHERS;

/// Strategies for the memory of one address space, such as a job's. Missing options come from the memory system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpaceConfig {
    /// Its name, such as the name of a job; empty for a program alone.
    #[serde(skip)]
    pub name: String,
    /// Where one of its managed pages goes when a processor touches it; as `memory.placement` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Choice>,
    /// Which pages come along when one of its managed pages migrates; as `memory.prefetch` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<Choice>,
    /// Which of its pages leave where `memory.sharing` tells jobs apart; `memory.eviction` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction: Option<Choice>,
}

impl SpaceConfig {
    /// Whether it has no settings of its own.
    #[must_use]
    pub const fn is_common(&self) -> bool {
        self.placement.is_none() && self.prefetch.is_none() && self.eviction.is_none()
    }

    /// The same with all defaults, in the memory system `memory` and after the spaces `before` it.
    ///
    /// # Errors
    /// Names the key that cannot be used, what was expected and the nearest valid name.
    pub fn resolve(&self, memory: &MemoryConfig, before: &[Self]) -> Result<Self, ConfigError> {
        let geometry = memory.geometry(1)?;
        self.check_eviction(memory)?;
        let placement = self.placement.as_ref().map(|choice| resolved(&PLACEMENTS, choice, &geometry)).transpose()?;
        let prefetch = self.prefetch.as_ref().map(|choice| resolved(&PREFETCHERS, choice, &geometry)).transpose()?;
        let eviction = self.eviction.as_ref().map(|choice| resolved(&EVICTIONS, choice, &geometry)).transpose()?;
        let common = [&memory.placement, &memory.system.placement];
        let others = common.into_iter().chain(before.iter().filter_map(|space| space.placement.as_ref()));
        let all: Vec<(&str, &Choice)> = others.chain(&placement).map(|choice| ("placement", choice)).collect();
        needs::check(&all, &geometry)?;
        Ok(Self { name: self.name.clone(), placement, prefetch, eviction })
    }

    fn check_eviction(&self, memory: &MemoryConfig) -> Result<(), ConfigError> {
        let Some(own) = &self.eviction else { return Ok(()) };
        let refuse = |message: String| Err(ConfigError::new("eviction", message));
        if memory.sharing.name == "free-for-all" {
            return refuse(format!(
                "pages of all jobs leave in one order: expected memory.sharing = \"quota\" beside it, found `{}`",
                memory.sharing.name
            ));
        }
        if own.name == "none" || memory.eviction.name == "none" {
            return refuse("expected that all jobs evict pages, or none: found `none` for some".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_common_that_says_nothing_of_its_own() {
        let said = || Some(Choice::named("none"));
        let common = || SpaceConfig { name: "job".to_owned(), ..SpaceConfig::default() };
        assert!(common().is_common());
        for own in [
            SpaceConfig { placement: said(), ..common() },
            SpaceConfig { prefetch: said(), ..common() },
            SpaceConfig { eviction: said(), ..common() },
        ] {
            assert!(!own.is_common(), "{own:?}");
        }
    }
}
