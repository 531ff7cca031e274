use crate::{Choice, Entry, OptionError, Options, nearest};

/// Every [`Entry`] of one kind, in the order listings show them.
pub struct Registry<P: 'static, C: ?Sized + 'static> {
    /// What the entries are, for messages: `placement`, `workload`.
    pub kind: &'static str,
    /// The entries.
    pub entries: &'static [&'static Entry<P, C>],
}

/// A name that is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {kind} `{found}`, expected one of {}{}", known.join(", "),
        nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
pub struct UnknownName {
    /// What was looked for.
    pub kind: &'static str,
    /// The name as given.
    pub found: String,
    /// The most similar registered name, if any is similar.
    pub nearest: Option<String>,
    /// Every registered name.
    pub known: Vec<&'static str>,
}

impl<P, C: ?Sized> Registry<P, C> {
    /// The entry registered as `name`.
    ///
    /// # Errors
    /// [`UnknownName`] with the nearest registered name.
    pub fn find(&self, name: &str) -> Result<&'static Entry<P, C>, UnknownName> {
        self.entries.iter().copied().find(|entry| entry.name == name).ok_or_else(|| UnknownName {
            kind: self.kind,
            found: name.to_owned(),
            nearest: nearest(name, self.names()).map(str::to_owned),
            known: self.names().collect(),
        })
    }

    /// Builds what `choice` names.
    ///
    /// # Errors
    /// An unknown name (key `name`) or an unusable option.
    pub fn build(&self, choice: &Choice, context: &C) -> Result<P, OptionError> {
        (self.entry(choice)?.build)(&choice.options, context)
    }

    /// `choice` with every default filled in.
    ///
    /// # Errors
    /// As [`Registry::build`].
    pub fn resolve(&self, choice: &Choice) -> Result<Choice, OptionError> {
        let options: Options = (self.entry(choice)?.resolve)(&choice.options)?;
        Ok(Choice { name: choice.name.clone(), options })
    }

    /// The registered names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|entry| entry.name)
    }

    fn entry(&self, choice: &Choice) -> Result<&'static Entry<P, C>, OptionError> {
        self.find(&choice.name).map_err(|unknown| OptionError::new("name", unknown.to_string()))
    }
}
