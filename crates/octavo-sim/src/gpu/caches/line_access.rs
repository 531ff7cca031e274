//! Requests to caches.

/// The kind of access to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineAccess {
    Load,
    /// All of its bytes are written.
    Store,
    /// Some of its bytes are written: the others must be there.
    PartialStore,
}
