use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options as written in a scenario, before an [`Entry`](crate::Entry) checks them; keys keep their order.
pub type Options = serde_json::Map<String, serde_json::Value>;

/// A name and the options given with it, as a table in a scenario: `{ name = "grit", fault_threshold = 8 }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// The registered name.
    pub name: String,
    /// Options of the named thing; those left out have their defaults.
    #[serde(flatten)]
    pub options: Options,
}

impl Choice {
    /// `name` with default options.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), options: Options::new() }
    }
}
