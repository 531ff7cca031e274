//! Whether anything in a memory system needs accesses that find their pages.

use octavo_registry::Choice;

use crate::contract::error::ConfigError;
use crate::strategies::choice::built;
use crate::strategies::config::MemoryConfig;
use crate::strategies::eviction::EVICTIONS;
use crate::strategies::outstanding::OutstandingAccesses;
use crate::strategies::placement::PLACEMENTS;
use crate::strategies::space::SpaceConfig;
use crate::strategies::synchronisation::Synchronisation;

impl MemoryConfig {
    /// Whether GPUs record accesses: for a synchronisation, because accesses under way keep pages, or for a placement
    /// or an evictor that wants them or may want them, of all pages or of one address space.
    ///
    /// # Errors
    /// As for [`MemoryConfig::resolve`], for the keys that this depends on.
    pub fn may_see_accesses<'a>(&self, spaces: impl IntoIterator<Item = &'a SpaceConfig>) -> Result<bool, ConfigError> {
        if self.synchronisation == Synchronisation::DirtyHome || self.outstanding == OutstandingAccesses::Stay {
            return Ok(true);
        }
        let geometry = self.geometry(1)?;
        // Strategies from outside are not built for this check: such an evictor may want accesses, such a placement
        // cannot.
        let outside = |choice: &Choice| octavo_registry::is_place(&choice.name);
        let (mut placements, mut evictors) = (vec![&self.placement], vec![&self.eviction]);
        for space in spaces {
            placements.extend(&space.placement);
            evictors.extend(&space.eviction);
        }
        for placement in placements {
            if !outside(placement) && built(&PLACEMENTS, placement, &geometry)?.needs().accesses {
                return Ok(true);
            }
        }
        for evictor in evictors {
            if outside(evictor) || built(&EVICTIONS, evictor, &geometry)?.wants_accesses() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evictor_that_wants_accesses_or_may_want_them_sees_them() {
        let seen =
            |eviction: Choice| MemoryConfig { eviction, ..MemoryConfig::default() }.may_see_accesses([]).unwrap();
        let options = serde_json::from_str(r#"{"recency": "access"}"#).unwrap();
        assert!(seen(Choice { name: "lru-page".to_owned(), options }));
        assert!(!seen(Choice::named("lru-page")));
        assert!(seen(Choice::named("mine.py")), "it is not built for this");
    }
}
