//! Placements of the tests' own, by names such as `limited:2`. A program can name outside strategies in one way only.

use octavo_manager::{Geometry, MemoryConfig, PLACEMENTS, Placement};
use octavo_registry::{Choice, OptionError, Outside};

/// Makes a placement from the text after the colon.
type Make = fn(&str) -> Box<dyn Placement>;

const PLACES: [(&str, Make); 2] = [("limited:", crate::failure::limited), ("appointed:", crate::deadlines::appointed)];

struct Ours;

impl Outside<Box<dyn Placement>, Geometry> for Ours {
    fn expected(&self) -> &'static str {
        "a placement of the tests such as limited:3"
    }

    fn resolve(&self, choice: &Choice) -> Result<Choice, OptionError> {
        Ok(choice.clone())
    }

    fn build(&self, choice: &Choice, _geometry: &Geometry) -> Result<Box<dyn Placement>, OptionError> {
        let made = PLACES.iter().find_map(|(prefix, make)| Some(make(choice.name.strip_prefix(prefix)?)));
        Ok(made.expect("a placement of the tests"))
    }
}

/// The memory system of a placement of the tests' own.
pub fn outside(name: &str) -> MemoryConfig {
    PLACEMENTS.extend(&Ours);
    MemoryConfig { placement: Choice::named(name), ..MemoryConfig::default() }
}
