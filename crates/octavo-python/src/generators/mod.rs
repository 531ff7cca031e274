//! Workloads that a class in a user's Python file generates, as the registry of workloads finds them.
//!
//! The package `octavo.trace.user_workloads` runs the class, in a process of its own: what a workload has when one is built,
//! and all of its lines, as a trace, when something first asks what a wavefront does.

mod ask;
mod description;
mod exception;
mod workload;

use octavo_program::{Size, Workload};
use octavo_registry::{Choice, OptionError, Outside};
use octavo_scenario::WORKLOADS;

use self::ask::ask;
use self::description::Described;
pub use self::exception::{forget_raised, or_raised};
use self::workload::Generated;
use crate::policies::resolve_class;

/// Lets workloads be Python classes wherever they have a name.
pub fn extend() {
    WORKLOADS.extend(&Generators);
}

struct Generators;

impl Outside<Box<dyn Workload>, Size> for Generators {
    fn expected(&self) -> &'static str {
        "a Python file such as my_workload.py"
    }

    fn resolve(&self, choice: &Choice) -> Result<Choice, OptionError> {
        resolve_class("workload", choice)
    }

    fn build(&self, choice: &Choice, size: &Size) -> Result<Box<dyn Workload>, OptionError> {
        let described =
            ask("described", choice, size).map_err(|error| OptionError::new("name", exception::kept(error)))?;
        let described: Described = serde_json::from_str(&described).expect("the package writes what it has said");
        Ok(Box::new(Generated::new(choice.clone(), *size, described)))
    }
}
