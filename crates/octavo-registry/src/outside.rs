use crate::{Choice, OptionError};

/// The source of things that are not compiled in: a user's own classes.
///
/// A name that [is a place](is_place) is looked for here instead of among the entries. The class is checked when a
/// scenario is resolved. A choice that carries the digest of its class is already resolved and does not change.
pub trait Outside<P, C: ?Sized>: Send + Sync {
    /// The things that it finds and their names, in words, such as `a Python class such as my_policy.py`.
    fn expected(&self) -> &'static str;

    /// Finds the thing that `choice` names, checks its options, and adds their defaults and the digest of its source.
    ///
    /// # Errors
    /// It cannot be found or used, or an option cannot.
    fn resolve(&self, choice: &Choice) -> Result<Choice, OptionError>;

    /// Builds what `choice` names.
    ///
    /// # Errors
    /// As for [`Outside::resolve`]; or what is found now is not what the digest is of.
    fn build(&self, choice: &Choice, context: &C) -> Result<P, OptionError>;
}

/// Option that holds the digest of a place's content when the choice was resolved.
pub const DIGEST: &str = "digest";

/// Whether `name` says where something is found (`my_policy.py`, `my_policy.py:Mine`, `package.module:Mine`), as no
/// registered name does.
#[must_use]
pub fn is_place(name: &str) -> bool {
    name.contains(':') || name.ends_with(".py")
}
