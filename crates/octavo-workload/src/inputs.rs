//! Named inputs: the inputs of a study at scale 1, if these are not the program's own.
//!
//! Kernels that a study names have an option `input`. It chooses the sizes at scale 1 and the defaults of other
//! options; a value from the user always wins.

use octavo_registry::typed;
use octavo_registry::{OptionError, Options};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The input of a program at scale 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// The program's own input, or the input of the study that the kernel was written for.
    #[default]
    Own,
    /// The input of the study of integrated memory on Grace Hopper (ICPP 2024).
    GraceHopper,
}

impl Input {
    /// Whether it is the default, which results need not say.
    #[must_use]
    pub fn is_own(&self) -> bool {
        *self == Self::Own
    }

    /// What goes with it.
    #[must_use]
    pub fn either<T>(self, own: T, grace_hopper: T) -> T {
        match self {
            Self::Own => own,
            Self::GraceHopper => grace_hopper,
        }
    }
}

/// `options` with all defaults filled in: defaults that depend on the input, by key, and the defaults of `T`.
///
/// # Errors
/// As for [`typed::parse`].
pub fn resolve<T: DeserializeOwned + JsonSchema + Serialize>(
    options: &Options,
    defaults: impl FnOnce(&T) -> Vec<(&'static str, Value)>,
) -> Result<Options, OptionError> {
    let mut options = options.clone();
    for (key, value) in defaults(&typed::parse::<T>(&options)?) {
        options.entry(key).or_insert(value);
    }
    typed::resolve::<T>(&options)
}
