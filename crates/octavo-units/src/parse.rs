//! Shared parsing and printing of `<number><unit>` text.

use std::fmt;

/// A text that is not a quantity of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// The text as found.
    pub found: String,
    /// The accepted units, for example `a time such as 1.25us (ps, ns, us, ms, s)`.
    pub expected: &'static str,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found `{}`", self.expected, self.found)
    }
}

impl std::error::Error for UnitError {}

/// One accepted unit: its spelling and how many base units one of it is.
pub(crate) type Unit = (&'static str, u64);

/// Parses `text` as a non-negative decimal number followed by one of `units`, exactly, into base units.
///
/// Decimal fractions are evaluated without floating point, so `0.1us` is exactly 100 000 ps; a fraction finer than
/// the base unit is refused instead of rounded away.
pub(crate) fn parse(text: &str, units: &[Unit], expected: &'static str) -> Result<u64, UnitError> {
    let error = || UnitError { found: text.to_owned(), expected };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).ok_or_else(error)?;
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim();
    let &(_, factor) = units.iter().find(|(name, _)| *name == unit).ok_or_else(error)?;
    scaled(&number.replace('_', ""), factor).ok_or_else(error)
}

/// `number × factor` for a decimal `number`, when the result is a whole `u64`.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.len() > 18 {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let divisor = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    let product = digits.checked_mul(u128::from(factor))?;
    (product % divisor == 0).then(|| u64::try_from(product / divisor).ok()).flatten()
}

/// Prints `value` in the largest of `units` that divides it (units ordered from small to large).
pub(crate) fn print(value: u64, units: &[Unit]) -> String {
    let (name, factor) =
        units.iter().rev().find(|(_, factor)| value != 0 && value.is_multiple_of(*factor)).unwrap_or(&units[0]);
    format!("{}{name}", value / factor)
}

/// Implements text conversion, serde and JSON schema for a newtype over `u64` base units.
macro_rules! quantity {
    ($type:ident, $expected:expr, $pattern:expr, $parse:expr, $print:expr) => {
        impl std::str::FromStr for $type {
            type Err = $crate::UnitError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::parse::parse(text, $parse, $expected).map(Self)
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&$crate::parse::print(self.0, $print))
            }
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                $crate::parse::from_text(d, $expected)
            }
        }
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": $expected, "pattern": $pattern })
            }
        }
    };
}
pub(crate) use quantity;

/// Deserialises a quantity from a string; a bare number is refused with the unit it should carry.
pub(crate) fn from_text<'de, D, T>(deserializer: D, expected: &'static str) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr<Err = UnitError>,
{
    struct Text<T>(&'static str, std::marker::PhantomData<T>);
    impl<T: std::str::FromStr<Err = UnitError>> serde::de::Visitor<'_> for Text<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }
    deserializer.deserialize_any(Text(expected, std::marker::PhantomData))
}
