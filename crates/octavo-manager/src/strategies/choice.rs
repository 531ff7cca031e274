//! A strategy that was chosen by name: its options are completed, or it is built.

use octavo_registry::{Choice, Registry};

use crate::contract::error::ConfigError;
use crate::contract::geometry::Geometry;

/// Fills in defaults, and finds values out of range too.
pub(super) fn resolved<P>(
    registry: &Registry<P, Geometry>,
    choice: &Choice,
    geometry: &Geometry,
) -> Result<Choice, ConfigError> {
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
