use std::sync::OnceLock;

use crate::{Choice, Entry, OptionError, Options, Outside, is_place, nearest, one_of};

/// Every [`Entry`] of one kind, in the order listings show them, and where others come from.
pub struct Registry<P: 'static, C: ?Sized + 'static> {
    /// What the entries are, for messages: `placement`, `workload`.
    pub kind: &'static str,
    /// The entries.
    pub entries: &'static [&'static Entry<P, C>],
    /// Names that entries had once.
    pub former: &'static [Former],
    outside: OnceLock<&'static dyn Outside<P, C>>,
}

/// A former name of an entry: it is refused, and the error gives today's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Former {
    /// What the entry was called.
    pub name: &'static str,
    /// What it is called.
    pub today: &'static str,
    /// Why, to follow a colon.
    pub why: &'static str,
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
    /// What else is expected, in words.
    pub outside: Option<&'static str>,
    /// The entry that had this name once.
    pub former: Option<&'static Former>,
}

impl UnknownName {
    fn message(&self) -> String {
        let Self { kind, found, nearest, known, outside, former } = self;
        if let Some(Former { today, why, .. }) = former {
            return format!("{kind} `{found}` is called `{today}` now: {why}");
        }
        let outside = outside.map(|expected| format!(", or {expected}")).unwrap_or_default();
        let hint = nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        let expected = one_of(found, known, &format!("octavo list {}", plural(kind)));
        format!("unknown {kind} `{found}`, expected {expected}{outside}{hint}")
    }
}

/// What `octavo list` calls all things of a kind.
fn plural(kind: &str) -> String {
    if kind == "prefetch" { "prefetchers".to_owned() } else { format!("{kind}s") }
}

impl<P, C: ?Sized> Registry<P, C> {
    /// A registry of these entries.
    #[must_use]
    pub const fn new(kind: &'static str, entries: &'static [&'static Entry<P, C>]) -> Self {
        Self { kind, entries, former: &[], outside: OnceLock::new() }
    }

    /// The same, with names that entries had once.
    #[must_use]
    pub const fn with_former(mut self, former: &'static [Former]) -> Self {
        self.former = former;
        self
    }

    /// Says once where names that [are places](is_place) are looked for; later calls change nothing.
    pub fn extend(&self, outside: &'static dyn Outside<P, C>) {
        self.outside.get_or_init(|| outside);
    }

    /// The entry registered as `name`.
    ///
    /// # Errors [`UnknownName`] with the nearest registered name, or with the successor of a former name.
    pub fn find(&self, name: &str) -> Result<&'static Entry<P, C>, UnknownName> {
        self.entries.iter().copied().find(|entry| entry.name == name).ok_or_else(|| UnknownName {
            kind: self.kind,
            found: name.to_owned(),
            nearest: nearest(name, self.names()).map(str::to_owned),
            known: self.names().collect(),
            outside: self.outside.get().map(|outside| outside.expected()),
            former: self.former(name),
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
    /// As [`Registry::build`].
    pub fn check(&self, choice: &Choice, context: &C) -> Result<(), OptionError> {
        if self.outside_of(choice).is_some() { Ok(()) } else { self.build(choice, context).map(drop) }
    }

    /// `choice` with every default filled in.
    ///
    /// # Errors
    /// As [`Registry::build`].
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

    /// The entry that had this name once, if there is one.
    #[must_use]
    pub fn former(&self, name: &str) -> Option<&'static Former> {
        self.former.iter().find(|former| former.name == name)
    }

    fn outside_of(&self, choice: &Choice) -> Option<&'static dyn Outside<P, C>> {
        self.outside.get().copied().filter(|_| is_place(&choice.name))
    }

    fn entry(&self, choice: &Choice) -> Result<&'static Entry<P, C>, OptionError> {
        self.find(&choice.name).map_err(|unknown| OptionError::new("name", unknown.to_string()))
    }
}
