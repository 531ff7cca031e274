//! Why a node cannot be used.

/// A value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
pub struct NodeError {
    /// Dotted key below `node`.
    pub key: String,
    /// What was expected and found.
    pub message: String,
}

pub(crate) fn error(key: &str, message: impl Into<String>) -> NodeError {
    NodeError { key: key.to_owned(), message: message.into() }
}

pub(crate) fn in_range(key: &str, found: u32, low: u32, high: u32) -> Result<(), NodeError> {
    if (low..=high).contains(&found) {
        return Ok(());
    }
    Err(error(key, format!("expected {low} to {high}, found {found}")))
}
