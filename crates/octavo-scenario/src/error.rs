//! Errors in a scenario, in the words of its author.

use std::borrow::Cow;
use std::fmt;

use octavo_registry::nearest;

use crate::Origin;

/// The most characters of a message, and of a key or an assignment that it quotes: more is of no use to a reader.
/// Chosen.
const MOST: usize = 1000;
const MOST_QUOTED: usize = 120;

/// The kind of the mistake, whatever the words: programs and tests recognise mistakes by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    /// The value of a key is missing, or is not permitted there.
    #[default]
    UnexpectedValue,
    /// There is no such key.
    UnknownKey,
    /// The text is not TOML, or not `key=value`.
    Syntax,
}

impl Code {
    /// Its name outside of Rust.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UnexpectedValue => "unexpected-value",
            Self::UnknownKey => "unknown-key",
            Self::Syntax => "syntax",
        }
    }
}

/// What was expected and what was found, if a message contains no more than that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The permitted values, in words.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

/// The facts of a message, for programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistake {
    /// The kind of the mistake.
    pub code: Code,
    /// The message in two parts, if it has no more.
    pub mismatch: Option<Mismatch>,
}

/// A scenario that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The key that the message is about.
    pub mistake: Box<Mistake>,
    /// The place of the wrong value.
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

/// The beginning of a text, and its length if that is not all.
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
    pub mistake: Box<Mistake>,
    pub key: String,
    pub message: String,
    pub hint: Option<String>,
}

impl Problem {
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { mistake: Box::default(), key: key.into(), message: message.into(), hint: None }
    }

    /// The value at a key is another than is expected there.
    pub fn mismatch(key: impl Into<String>, expected: impl Into<String>, found: impl fmt::Display) -> Self {
        let mismatch = Mismatch { expected: expected.into(), found: found.to_string() };
        let message = format!("expected {}, found {}", mismatch.expected, mismatch.found);
        let mistake = Mistake { mismatch: Some(mismatch), ..Mistake::default() };
        Self { mistake: Box::new(mistake), ..Self::new(key, message) }
    }

    /// There is no such key.
    pub fn unknown_key(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(key, message).of(Code::UnknownKey)
    }

    /// The same as a mistake of another kind.
    pub fn of(mut self, code: Code) -> Self {
        self.mistake.code = code;
        self
    }

    /// A problem that someone else found with `key` below `prefix`; the hint is the tail of their message.
    pub fn found_below(prefix: &str, key: &str, message: &str) -> Self {
        let (message, hint) = match message.rsplit_once("; did you mean ") {
            Some((message, meant)) => (message, Some(format!("did you mean {meant}"))),
            None => (message, None),
        };
        let key = key.trim_matches('.');
        let key = if key.is_empty() { prefix.to_owned() } else { format!("{prefix}.{key}") };
        Self { hint, ..Self::new(key, message) }
    }

    /// Adds "did you mean" when one of `known` resembles `found`.
    pub fn meant<'a>(mut self, found: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        self.hint = nearest(found, known).map(|name| format!("did you mean `{name}`?"));
        self
    }

    pub fn at(self, origin: Origin) -> ScenarioError {
        let Self { mistake, key, message, hint } = self;
        ScenarioError { mistake, origin, key, message, hint }
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
