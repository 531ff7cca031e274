//! A configuration that is refused.

use octavo_registry::OptionError;

/// A configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
pub struct ConfigError {
    /// Dotted key, for example `placement.fault_threshold`.
    pub key: String,
    /// The problem, what was expected and the nearest valid name.
    pub message: String,
    /// Whether there is no such option.
    pub is_unknown: bool,
}

impl ConfigError {
    /// A value that is not permitted there.
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into(), is_unknown: false }
    }

    /// The key of an option of the strategy of this kind.
    pub(crate) fn below(kind: &str, error: OptionError) -> Self {
        let OptionError { key, message, is_unknown } = error;
        let key = if key.is_empty() { kind.to_owned() } else { format!("{kind}.{key}") };
        Self { key, message, is_unknown }
    }
}
