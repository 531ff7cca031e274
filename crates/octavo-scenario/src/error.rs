//! Errors in a scenario, in the words of its author.

use std::borrow::Cow;
use std::fmt;

use octavo_registry::nearest;

use crate::Origin;

/// The most characters of a message, and of what it quotes of a key or an assignment: more is of no use to a reader.
/// Chosen.
const MOST: usize = 1000;
const MOST_QUOTED: usize = 120;

/// A scenario that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// Where the offending value was written.
    pub origin: Origin,
    /// Dotted key; empty when the text is not TOML at all.
    pub key: String,
    /// What was expected and what was found.
    pub message: String,
    /// What was probably meant.
    pub hint: Option<String>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", quoted(&self.key))?;
        }
        f.write_str(&beginning(&self.message, MOST))?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {}", beginning(hint, MOST)))
    }
}

/// A text of any length as a part of a message.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    beginning(text, MOST_QUOTED)
}

/// So much of a text, and how long it is if that is not all.
fn beginning(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}… ({} characters)", &text[..end], text.chars().count())),
        None => Cow::Borrowed(text),
    }
}

impl std::error::Error for ScenarioError {}

/// A problem with the value at a key, before its origin is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub key: String,
    pub message: String,
    pub hint: Option<String>,
}

impl Problem {
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into(), hint: None }
    }

    /// A problem that someone else found with `key` below `prefix`; the hint is the tail of their message.
    pub fn found_below(prefix: &str, key: &str, message: &str) -> Self {
        let (message, hint) = match message.rsplit_once("; did you mean ") {
            Some((message, meant)) => (message, Some(format!("did you mean {meant}"))),
            None => (message, None),
        };
        let key = key.trim_matches('.');
        let key = if key.is_empty() { prefix.to_owned() } else { format!("{prefix}.{key}") };
        Self { key, message: message.to_owned(), hint }
    }

    /// Adds "did you mean" when one of `known` resembles `found`.
    pub fn meant<'a>(mut self, found: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        self.hint = nearest(found, known).map(|name| format!("did you mean `{name}`?"));
        self
    }

    pub fn at(self, origin: Origin) -> ScenarioError {
        ScenarioError { origin, key: self.key, message: self.message, hint: self.hint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_shown_by_its_beginning_and_its_length() {
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("äöüß", 3), "äöü… (4 characters)");
        let long = "a.".repeat(20_000);
        let problem = Problem::new(&*long, format!("expected a number, found `{long}`"));
        let shown = problem.at(Origin::whole("file.toml")).to_string();
        assert!(shown.starts_with("file.toml: `a.a."), "{shown}");
        assert!(shown.contains("… (40000 characters)`: expected a number, found `a.a."), "{shown}");
        assert!(shown.ends_with("a.… (40027 characters)") && shown.chars().count() < 1200, "{shown}");
    }
}
