//! A deserialiser's message about a value, in words that need no knowledge of Rust.

/// A message of serde about a value: what was expected and what was found. Any other message stays as it is.
#[must_use]
pub fn in_words(message: &str) -> String {
    wrong_value(message).or_else(|| unknown_word(message)).or_else(|| missing(message)).unwrap_or(message.to_owned())
}

/// ``invalid value: integer `-4`, expected u64``
fn wrong_value(message: &str) -> Option<String> {
    let said = message.strip_prefix("invalid value: ").or_else(|| message.strip_prefix("invalid type: "))?;
    let (found, expected) = said.rsplit_once(", expected ")?;
    Some(format!("expected {}, found {}", wanted(expected), value(found)))
}

/// ``unknown variant `host`, expected one of `device`, `managed` ``
fn unknown_word(message: &str) -> Option<String> {
    let (found, expected) = message.strip_prefix("unknown variant ")?.split_once(", expected ")?;
    Some(format!("expected {}, found {found}", expected.replace('`', "")))
}

/// ``missing field `path` ``
fn missing(message: &str) -> Option<String> {
    message.strip_prefix("missing field ").map(|field| format!("{field} is missing"))
}

/// A Rust type in words for users. TOML has no numbers from 2^63.
fn wanted(expected: &str) -> String {
    let (kind, least) = match expected.strip_prefix("a nonzero ") {
        Some(kind) => (kind, 1),
        None => (expected, 0),
    };
    let whole = |end: &str| format!("a whole number from {least}{end}");
    match kind {
        "u8" => whole(&format!(" to {}", u8::MAX)),
        "u16" => whole(&format!(" to {}", u16::MAX)),
        "u32" => whole(&format!(" to {}", u32::MAX)),
        "u64" | "usize" => whole(" to 2^63 - 1"),
        "i32" | "i64" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

/// ``integer `-4` `` or `string "x"` as the value alone.
fn value(found: &str) -> &str {
    let plain = ["integer ", "floating point ", "boolean "].iter().find_map(|kind| found.strip_prefix(kind));
    match plain {
        Some(quoted) => quoted.trim_matches('`'),
        None => match found {
            "map" => "a table",
            "sequence" => "a list",
            "null" => "nothing",
            other => other.strip_prefix("string ").unwrap_or(other),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    /// serde's message if `T` is expected and `text`, JSON, was found.
    fn said<T: serde::de::DeserializeOwned>(text: &str) -> String {
        let error = serde_json::from_value::<T>(serde_json::from_str(text).unwrap()).err().unwrap();
        in_words(&error.to_string())
    }

    #[test]
    fn numbers_are_refused_with_their_range() {
        assert_eq!(said::<u64>("-4"), "expected a whole number from 0 to 2^63 - 1, found -4");
        assert_eq!(said::<u32>("999999999999"), "expected a whole number from 0 to 4294967295, found 999999999999");
        assert_eq!(said::<u8>("1e30"), "expected a whole number from 0 to 255, found 1e+30");
        assert_eq!(said::<std::num::NonZeroU16>("0"), "expected a whole number from 1 to 65535, found 0");
        assert_eq!(said::<f64>("\"much\""), "expected a number, found \"much\"");
    }

    #[test]
    fn other_values_are_called_what_a_user_calls_them() {
        assert_eq!(said::<bool>("1"), "expected true or false, found 1");
        assert_eq!(said::<String>("[1]"), "expected text, found a list");
        assert_eq!(said::<Vec<u8>>("{}"), "expected a list, found a table");
        assert_eq!(in_words("unknown variant `c`, expected `a` or `b`"), "expected a or b, found `c`");
        assert_eq!(in_words("missing field `path`"), "`path` is missing");
        assert_eq!(in_words("expected 1 to 3, found 4"), "expected 1 to 3, found 4");
    }
}
