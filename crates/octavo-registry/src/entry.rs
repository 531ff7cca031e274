use schemars::{JsonSchema, Schema, schema_for};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{Options, in_words, nearest, one_of};

/// A thing that can be chosen by name. `P` is the type that it builds (often a trait object), `C` the context for
/// building.
///
/// ```
/// use octavo_registry::{Entry, OptionError, Options, typed};
///
/// /// How strongly to greet.
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// #[serde(default, deny_unknown_fields)]
/// struct Greeting {
///     /// Number of exclamation marks.
///     marks: usize,
/// }
/// impl Default for Greeting {
///     fn default() -> Self {
///         Self { marks: 1 }
///     }
/// }
///
/// static HELLO: Entry<String, str> = Entry {
///     name: "hello",
///     summary: "says hello",
///     source: "common usage",
///     schema: typed::schema::<Greeting>,
///     resolve: typed::resolve::<Greeting>,
///     build: |options, who| {
///         let greeting: Greeting = typed::parse(options)?;
///         Ok(format!("Hello {who}{}", "!".repeat(greeting.marks)))
///     },
/// };
/// assert_eq!((HELLO.build)(&Options::new(), "page").unwrap(), "Hello page!");
/// ```
pub struct Entry<P, C: ?Sized> {
    /// What a user types.
    pub name: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Publication and section, or driver file and function.
    pub source: &'static str,
    /// JSON schema of the options; property descriptions are the options' documentation.
    pub schema: fn() -> Schema,
    /// Checks options and fills in the defaults.
    pub resolve: fn(&Options) -> Result<Options, OptionError>,
    /// Checks options and builds.
    pub build: fn(&Options, &C) -> Result<P, OptionError>,
}

/// An option that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if key.is_empty() { String::new() } else { format!("`{key}`: ") })]
pub struct OptionError {
    /// Dotted key below the choice; empty when the message names it.
    pub key: String,
    /// The problem, what was expected and the nearest valid name.
    pub message: String,
    /// Whether there is no such option.
    pub is_unknown: bool,
}

impl OptionError {
    /// An error about one option.
    #[must_use]
    pub fn new(key: &str, message: impl Into<String>) -> Self {
        Self { key: key.to_owned(), message: message.into(), is_unknown: false }
    }
}

/// The functions an [`Entry`] needs, for options that are a serde type with defaults and `deny_unknown_fields`.
pub mod typed {
    use super::{
        DeserializeOwned, JsonSchema, OptionError, Options, Schema, Serialize, Value, in_words, nearest, one_of,
        schema_for,
    };

    /// The JSON schema of `T`.
    #[must_use]
    pub fn schema<T: JsonSchema>() -> Schema {
        schema_for!(T)
    }

    /// Reads `T` from options.
    ///
    /// # Errors
    /// Names the key that is unknown (with the nearest valid one) or has a wrong value.
    pub fn parse<T: DeserializeOwned + JsonSchema>(options: &Options) -> Result<T, OptionError> {
        let schema = schema_for!(T);
        let known = schema.get("properties").and_then(Value::as_object);
        let names = || known.into_iter().flat_map(|properties| properties.keys().map(String::as_str));
        if let Some(unknown) = options.keys().find(|key| !names().any(|name| name == key.as_str())) {
            let message = unknown_option(unknown, names().collect());
            return Err(OptionError { is_unknown: true, ..OptionError::new(unknown, message) });
        }
        serde_path_to_error::deserialize(Value::Object(options.clone()))
            .map_err(|error| OptionError::new(&error.path().to_string(), in_words(&error.into_inner().to_string())))
    }

    /// Options with every default filled in, as `T` writes them.
    ///
    /// # Errors
    /// As for [`parse`].
    pub fn resolve<T: DeserializeOwned + JsonSchema + Serialize>(options: &Options) -> Result<Options, OptionError> {
        match serde_json::to_value(parse::<T>(options)?) {
            Ok(Value::Object(resolved)) => Ok(resolved),
            Ok(_) | Err(_) => Err(OptionError::new("", "options must be a table")),
        }
    }

    fn unknown_option(unknown: &str, known: Vec<&str>) -> String {
        let hint = nearest(unknown, known.iter().copied()).map(|name| format!("; did you mean `{name}`?"));
        let expected = if known.is_empty() { "no options".to_owned() } else { one_of(unknown, &known, "octavo list") };
        format!("unknown option, expected {expected}{}", hint.unwrap_or_default())
    }
}
