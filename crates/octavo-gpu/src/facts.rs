//! Descriptions of machines by themselves, by name.

/// One known fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A number, in the unit its name says.
    Number(i64),
    /// Words.
    Words(String),
    /// Whether it is so.
    Is(bool),
}

/// Facts in order; unknown ones are `None`.
pub type Facts = Vec<(&'static str, Option<Fact>)>;

impl From<u64> for Fact {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<i32> for Fact {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl From<String> for Fact {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

impl From<bool> for Fact {
    fn from(so: bool) -> Self {
        Self::Is(so)
    }
}
