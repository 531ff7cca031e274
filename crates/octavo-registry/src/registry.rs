use std::sync::OnceLock;

use crate::{Choice, Entry, OptionError, Options, Outside, is_place, nearest, one_of};

/// Every [`Entry`] of one kind, in the order listings show them, and where others come from.
pub struct Registry<P: 'static, C: ?Sized + 'static> {
    /// The kind of the entries, for messages: `placement`, `workload`.
    pub kind: &'static str,
    /// The entries.
    pub entries: &'static [&'static Entry<P, C>],
    outside: OnceLock<&'static dyn Outside<P, C>>,
}

/// A name that is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct UnknownName {
    /// What was looked for.
    pub kind: &'static str,
    /// The name as given.
    pub found: String,
    /// The most similar registered name, if any is similar.
    pub nearest: Option<String>,
    /// Every registered name.
    pub known: Vec<&'static str>,
    /// Further expected names, in words.
    pub outside: Option<&'static str>,
}

impl UnknownName {
    fn message(&self) -> String {
        let Self { kind, found, nearest, known, outside } = self;
        let outside = outside.map(|expected| format!(", or {expected}")).unwrap_or_default();
        let hint = nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        let expected = one_of(found, known, &format!("octavo list {}", plural(kind)));
        format!("unknown {kind} `{found}`, expected {expected}{outside}{hint}")
    }
}

/// The name that `octavo list` uses for all things of a kind.
fn plural(kind: &str) -> String {
    if kind == "prefetch" { "prefetchers".to_owned() } else { format!("{kind}s") }
}

impl<P, C: ?Sized> Registry<P, C> {
    /// A registry of these entries.
    #[must_use]
    pub const fn new(kind: &'static str, entries: &'static [&'static Entry<P, C>]) -> Self {
        Self { kind, entries, outside: OnceLock::new() }
    }

    /// Says once where names that [are places](is_place) are looked for; later calls change nothing.
    pub fn extend(&self, outside: &'static dyn Outside<P, C>) {
        self.outside.get_or_init(|| outside);
    }

    /// The entry registered as `name`.
    ///
    /// # Errors [`UnknownName`] with the nearest registered name.
    pub fn find(&self, name: &str) -> Result<&'static Entry<P, C>, UnknownName> {
        self.entries.iter().copied().find(|entry| entry.name == name).ok_or_else(|| UnknownName {
            kind: self.kind,
            found: name.to_owned(),
            nearest: nearest(name, self.names()).map(str::to_owned),
            known: self.names().collect(),
            outside: self.outside.get().map(|outside| outside.expected()),
        })
    }

    /// Builds what `choice` names.
    ///
    /// # Errors
    /// An unknown name (key `name`) or an unusable option.
    pub fn build(&self, choice: &Choice, context: &C) -> Result<P, OptionError> {
        match self.outside_of(choice) {
            Some(outside) => outside.build(choice, context),
            None => (self.entry(choice)?.build)(&choice.options, context),
        }
    }

    /// Builds once, to find errors that only building finds, such as values out of range. Strategies from outside are
    /// not built: they may do anything, and are checked when they are resolved.
    ///
    /// # Errors
    /// As for [`Registry::build`].
    pub fn check(&self, choice: &Choice, context: &C) -> Result<(), OptionError> {
        if self.outside_of(choice).is_some() { Ok(()) } else { self.build(choice, context).map(drop) }
    }

    /// `choice` with every default filled in.
    ///
    /// # Errors
    /// As for [`Registry::build`].
    pub fn resolve(&self, choice: &Choice) -> Result<Choice, OptionError> {
        if let Some(outside) = self.outside_of(choice) {
            return outside.resolve(choice);
        }
        let options: Options = (self.entry(choice)?.resolve)(&choice.options)?;
        Ok(Choice { name: choice.name.clone(), options })
    }

    /// The registered names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|entry| entry.name)
    }

    fn outside_of(&self, choice: &Choice) -> Option<&'static dyn Outside<P, C>> {
        self.outside.get().copied().filter(|_| is_place(&choice.name))
    }

    fn entry(&self, choice: &Choice) -> Result<&'static Entry<P, C>, OptionError> {
        self.find(&choice.name).map_err(|unknown| OptionError::new("name", unknown.to_string()))
    }
}
