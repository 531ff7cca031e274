//! How the registries of strategies find Python classes: through the package `octavo.policies`.

use octavo_manager::{
    DEMOTIONS, Demotion, EVICTIONS, Eviction, GUARDS, Geometry, PLACEMENTS, PREFETCHERS, Placement, Prefetch, SHARINGS,
    Sharing, ThrashingGuard,
};
use octavo_registry::{Choice, Options, Outside};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::{create_exception, intern};

use super::call::{cut, keep_raised};
use super::demotion::PythonDemotion;
use super::eviction::PythonEviction;
use super::guard::PythonGuard;
use super::placement::PythonPlacement;
use super::prefetch::PythonPrefetch;
use super::sharing::PythonSharing;

create_exception!(_core, OptionError, PyException, "A choice that cannot be used; arguments: key, message.");

/// Lets strategies be Python classes wherever they have a name.
pub fn extend() {
    PLACEMENTS.extend(&Placements);
    PREFETCHERS.extend(&Prefetchers);
    EVICTIONS.extend(&Evictions);
    DEMOTIONS.extend(&Demotions);
    SHARINGS.extend(&Sharings);
    GUARDS.extend(&Guards);
}

/// The permitted values in place of a strategy's name, in words.
const EXPECTED: &str = "a Python class such as my_policy.py";

struct Placements;
struct Prefetchers;
struct Evictions;
struct Demotions;
struct Sharings;
struct Guards;

impl Outside<Box<dyn Placement>, Geometry> for Placements {
    fn expected(&self) -> &'static str {
        EXPECTED
    }

    fn resolve(&self, choice: &Choice) -> Result<Choice, octavo_registry::OptionError> {
        resolve("placement", choice)
    }

    fn build(&self, choice: &Choice, geometry: &Geometry) -> Result<Box<dyn Placement>, octavo_registry::OptionError> {
        build("placement", choice, geometry, |policy| {
            let placement = PythonPlacement::new(&choice.name, policy, *geometry)?;
            Ok(Box::new(placement) as Box<dyn Placement>)
        })
    }
}

impl Outside<Box<dyn Prefetch>, Geometry> for Prefetchers {
    fn expected(&self) -> &'static str {
        EXPECTED
    }

    fn resolve(&self, choice: &Choice) -> Result<Choice, octavo_registry::OptionError> {
        resolve("prefetch", choice)
    }

    fn build(&self, choice: &Choice, geometry: &Geometry) -> Result<Box<dyn Prefetch>, octavo_registry::OptionError> {
        build("prefetch", choice, geometry, |policy| {
            let prefetch = PythonPrefetch::new(&choice.name, policy)?;
            Ok(Box::new(prefetch) as Box<dyn Prefetch>)
        })
    }
}

impl Outside<Box<dyn Eviction>, Geometry> for Evictions {
    fn expected(&self) -> &'static str {
        EXPECTED
    }

    fn resolve(&self, choice: &Choice) -> Result<Choice, octavo_registry::OptionError> {
        resolve("eviction", choice)
    }

    fn build(&self, choice: &Choice, geometry: &Geometry) -> Result<Box<dyn Eviction>, octavo_registry::OptionError> {
        build("eviction", choice, geometry, |policy| {
            let eviction = PythonEviction::new(&choice.name, policy, *geometry)?;
            Ok(Box::new(eviction) as Box<dyn Eviction>)
        })
    }
}

impl Outside<Box<dyn Demotion>, Geometry> for Demotions {
    fn expected(&self) -> &'static str {
        EXPECTED
    }

    fn resolve(&self, choice: &Choice) -> Result<Choice, octavo_registry::OptionError> {
        resolve("demotion", choice)
    }

    fn build(&self, choice: &Choice, geometry: &Geometry) -> Result<Box<dyn Demotion>, octavo_registry::OptionError> {
        build("demotion", choice, geometry, |policy| {
            let demotion = PythonDemotion::new(&choice.name, policy, *geometry)?;
            Ok(Box::new(demotion) as Box<dyn Demotion>)
        })
    }
}

impl Outside<Box<dyn Sharing>, Geometry> for Sharings {
    fn expected(&self) -> &'static str {
        EXPECTED
    }

    fn resolve(&self, choice: &Choice) -> Result<Choice, octavo_registry::OptionError> {
        resolve("sharing", choice)
    }

    fn build(&self, choice: &Choice, geometry: &Geometry) -> Result<Box<dyn Sharing>, octavo_registry::OptionError> {
        build("sharing", choice, geometry, |policy| {
            let sharing = PythonSharing::new(&choice.name, policy)?;
            Ok(Box::new(sharing) as Box<dyn Sharing>)
        })
    }
}

impl Outside<Box<dyn ThrashingGuard>, Geometry> for Guards {
    fn expected(&self) -> &'static str {
        EXPECTED
    }

    fn resolve(&self, choice: &Choice) -> Result<Choice, octavo_registry::OptionError> {
        resolve("guard", choice)
    }

    fn build(
        &self,
        choice: &Choice,
        geometry: &Geometry,
    ) -> Result<Box<dyn ThrashingGuard>, octavo_registry::OptionError> {
        build("guard", choice, geometry, |policy| {
            let guard = PythonGuard::new(&choice.name, policy, *geometry)?;
            Ok(Box::new(guard) as Box<dyn ThrashingGuard>)
        })
    }
}

/// The class that `choice` names, with every option and the digest of its source.
pub fn resolve(kind: &str, choice: &Choice) -> Result<Choice, octavo_registry::OptionError> {
    Python::attach(|py| {
        let engine = py.import(intern!(py, "octavo.policies.engine"))?;
        let resolved = engine.call_method1(intern!(py, "resolve"), (kind, &choice.name, text(&choice.options)))?;
        let (name, options): (String, String) = resolved.extract()?;
        let options = serde_json::from_str(&options).expect("the package writes a JSON table");
        Ok(Choice { name, options })
    })
    .map_err(refused)
}

fn build<T>(
    kind: &str,
    choice: &Choice,
    geometry: &Geometry,
    wrap: impl FnOnce(Bound<'_, PyAny>) -> PyResult<T>,
) -> Result<T, octavo_registry::OptionError> {
    Python::attach(|py| {
        let engine = py.import(intern!(py, "octavo.policies.engine"))?;
        let node = super::Node { geometry: *geometry };
        let arguments = (kind, &choice.name, text(&choice.options), Py::new(py, node)?);
        wrap(engine.call_method1(intern!(py, "build"), arguments)?)
    })
    .map_err(refused)
}

fn text(options: &Options) -> String {
    serde_json::to_string(options).expect("options can be written as JSON")
}

/// The package's own refusals say which option is wrong; anything else is about the class as a whole. Ctrl-C is none, and
/// is raised where resolving ends.
fn refused(error: PyErr) -> octavo_registry::OptionError {
    Python::attach(|py| {
        if error.is_instance_of::<PyKeyboardInterrupt>(py) {
            let stopped = octavo_registry::OptionError::new("name", "stopped by Ctrl-C".to_owned());
            keep_raised(error);
            return stopped;
        }
        let arguments = error.value(py).getattr("args").and_then(|arguments| arguments.extract::<(String, String)>());
        match arguments {
            Ok((key, message)) if error.is_instance_of::<OptionError>(py) => {
                octavo_registry::OptionError::new(&key, cut(message))
            }
            _ => octavo_registry::OptionError::new("name", cut(error.to_string())),
        }
    })
}
