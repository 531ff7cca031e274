//! One source of values: a scenario file, a preset, or one `--set key=value`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Code, Problem, quoted};
use crate::{Origin, ScenarioError};

/// The key of the driver's release, which looks like a number and is none.
pub(crate) const RELEASE: &str = "node.driver.release";

/// Values of one source and the line of each, by dotted key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    pub source: String,
    pub values: Map<String, Value>,
    pub lines: BTreeMap<String, usize>,
    /// Keys whose values have no source.
    pub chosen: BTreeSet<String>,
    /// Whether it is the part of a file that the scenario names.
    pub file: bool,
}

/// The beginning of the comment after a value without a source.
const CHOSEN: &str = "# [chosen]";
/// The same of a value in a scenario that is spelled out, below the node.
const CHOSEN_KEYS: &str = "node.about.chosen";

impl Layer {
    /// Reads a TOML file.
    pub fn parse(source: &str, text: &str) -> Result<Self, ScenarioError> {
        let table = DeTable::parse(text).map_err(|error| syntax(source, text, &error))?;
        let mut reader = Reader::new(source, text);
        let values = reader.table("", table.get_ref())?;
        Ok(Self::of(source, text, values, reader.lines))
    }

    /// Reads the table `name` of a TOML file, and ignores all other tables.
    pub fn part(source: &str, text: &str, name: &str) -> Result<Self, ScenarioError> {
        let document = DeTable::parse(text).map_err(|error| syntax(source, text, &error))?;
        let mut reader = Reader::new(source, text);
        let Some((key, value)) = document.get_ref().iter().find(|(key, _)| key.get_ref() == name) else {
            let others = document.get_ref().keys().map(|key| key.get_ref().as_ref());
            let problem = Problem::new(name, format!("missing; expected a table [{name}]")).meant(name, others);
            return Err(problem.at(Origin::whole(source)));
        };
        reader.lines.insert(name.to_owned(), reader.line(key.span().start));
        let values = match reader.value(name, value)? {
            values @ Value::Object(_) => nested(&[name], values),
            other => return Err(reader.refused(name, &other.to_string(), "a table")),
        };
        Ok(Self { file: true, ..Self::of(source, text, values, reader.lines) })
    }

    fn of(source: &str, text: &str, values: Map<String, Value>, lines: BTreeMap<String, usize>) -> Self {
        let marked: Vec<bool> = text.lines().map(|line| line.contains(CHOSEN)).collect();
        let by_comment =
            lines.iter().filter(|(_, line)| marked.get(**line - 1) == Some(&true)).map(|(key, _)| key.clone());
        let told = lookup(&values, CHOSEN_KEYS).and_then(Value::as_array).into_iter().flatten();
        let spelled_out = told.filter_map(Value::as_str).map(|key| format!("node.{key}"));
        let chosen = by_comment.chain(spelled_out).collect();
        Self { source: source.to_owned(), values, lines, chosen, file: false }
    }

    /// Reads `key=value`, where the value is TOML or, failing that, a bare string such as `600GB/s`.
    pub fn set(assignment: &str) -> Result<Self, ScenarioError> {
        let source = format!("--set {}", quoted(assignment));
        let problem = |message: &str| Problem::new("", message).of(Code::Syntax).at(Origin::whole(&source));
        let (key, text) = assignment.split_once('=').ok_or_else(|| problem("expected key=value"))?;
        let parts = split(key);
        if parts.iter().any(|part| part.is_empty()) {
            return Err(problem("expected a dotted key such as node.gpu_link.bandwidth before `=`"));
        }
        let text = text.trim();
        let mut reader = Reader::new(&source, text);
        let name = parts.join(".");
        let value = match DeValue::parse(text) {
            // A release is no number: 580.60 is another one than 580.6.
            Ok(value) if name == RELEASE && !value.get_ref().is_str() => Value::String(text.to_owned()),
            Ok(value) => reader.value(&name, &value)?,
            Err(_) => Value::String(text.to_owned()),
        };
        Ok(Self { values: nested(&parts, value), source, ..Self::default() })
    }

    /// The same values below `prefix`.
    pub fn below(self, prefix: &str) -> Self {
        let parts: Vec<&str> = prefix.split('.').collect();
        let lines = self.lines.into_iter().map(|(key, line)| (format!("{prefix}.{key}"), line)).collect();
        let chosen = self.chosen.into_iter().map(|key| format!("{prefix}.{key}")).collect();
        Self { values: nested(&parts, Value::Object(self.values)), lines, chosen, ..self }
    }

    /// Removes and returns the value at a dotted key.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        take(&mut self.values, key)
    }

    /// Removes the value at a dotted key, or the nearest one above it that is no table; returns whether there was one.
    pub fn take_nearest(&mut self, key: &str) -> bool {
        let there = ancestors(key).find(|key| lookup(&self.values, key).is_some());
        let Some(key) =
            there.filter(|there| *there == key || !lookup(&self.values, there).is_some_and(Value::is_object))
        else {
            return false;
        };
        let key = key.to_owned();
        self.take(&key).is_some()
    }

    /// The text at a dotted key, if there is one and it is text.
    pub fn text(&self, key: &str) -> Option<&str> {
        lookup(&self.values, key)?.as_str()
    }
}

/// The dotted keys of all values that are no tables.
pub(crate) fn leaves(prefix: &str, values: &Map<String, Value>) -> Vec<String> {
    let each = values.iter().map(|(name, value)| (join(prefix, name), value));
    each.flat_map(|(key, value)| value.as_object().map_or_else(|| vec![key.clone()], |table| leaves(&key, table)))
        .collect()
}

/// The parts of a dotted key; dots between quotation marks do not count.
fn split(key: &str) -> Vec<&str> {
    let mut quoted = false;
    let parts = key.split(move |letter| {
        quoted ^= letter == '"';
        letter == '.' && !quoted
    });
    parts.map(|part| part.trim().trim_matches('"')).collect()
}

/// The value at a dotted key.
pub(crate) fn lookup<'a>(values: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let value = match numbered(first) {
        Some((name, index)) => values.get(name)?.get(index)?,
        None => values.get(first)?,
    };
    rest.map_or(Some(value), |rest| lookup(value.as_object()?, rest))
}

/// `job` and 1 of `job[1]`.
fn numbered(part: &str) -> Option<(&str, usize)> {
    let (name, index) = part.strip_suffix(']')?.split_once('[')?;
    Some((name, index.parse().ok()?))
}

/// The key of the table `index` of a list of tables.
pub(crate) fn nth(key: &str, index: usize) -> String {
    format!("{key}[{index}]")
}

/// Removes and returns the value at a dotted key.
pub(crate) fn take(values: &mut Map<String, Value>, key: &str) -> Option<Value> {
    match key.split_once('.') {
        Some((first, rest)) => take(values.get_mut(first)?.as_object_mut()?, rest),
        None => values.shift_remove(key),
    }
}

/// `a[1].b.c`, `a[1].b`, `a[1]`, `a`.
pub(crate) fn ancestors(key: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(key), |key| key.rfind(['.', '[']).map(|end| &key[..end]))
}

/// `prefix.key`, or `key` at the top.
pub(crate) fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

fn nested(parts: &[&str], value: Value) -> Map<String, Value> {
    let (last, parents) = parts.split_last().expect("a key has at least one part");
    let innermost = Map::from_iter([((*last).to_owned(), value)]);
    parents.iter().rev().fold(innermost, |inner, part| Map::from_iter([((*part).to_owned(), Value::Object(inner))]))
}

/// Why a text is not valid TOML, and in which line; nothing for TOML whose tables, lists and keys nest at most 80 deep.
#[must_use]
pub fn toml_flaw(text: &str) -> Option<String> {
    let error = DeTable::parse(text).err()?;
    let line = error.span().map_or_else(String::new, |span| format!(" (at line {})", line_at(text, span.start)));
    Some(format!("{}{line}", error.message()))
}

/// The line of a dotted key in a text that is TOML, or else of the nearest table around it.
#[must_use]
pub fn toml_line(text: &str, key: &str) -> Option<usize> {
    let layer = Layer::parse("", text).ok()?;
    ancestors(key).find_map(|key| layer.lines.get(key).copied())
}

fn syntax(source: &str, text: &str, error: &toml::de::Error) -> ScenarioError {
    let line = error.span().map(|span| line_at(text, span.start));
    let origin = Origin { source: source.to_owned(), line };
    Problem::new("", format!("not valid TOML: {}", error.message())).of(Code::Syntax).at(origin)
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}

/// Turns parsed TOML into JSON values and notes the line of every key.
struct Reader<'a> {
    source: &'a str,
    /// Where the lines of the text end.
    ends: Vec<usize>,
    lines: BTreeMap<String, usize>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(offset, _)| offset).collect();
        Self { source, ends, lines: BTreeMap::new() }
    }

    /// The line of an offset in the text, from one.
    fn line(&self, offset: usize) -> usize {
        1 + self.ends.partition_point(|&end| end < offset)
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>) -> Result<Map<String, Value>, ScenarioError> {
        let mut values = Map::new();
        for (name, value) in table {
            let key = join(prefix, name.get_ref());
            self.lines.insert(key.clone(), self.line(name.span().start));
            values.insert(name.get_ref().to_string(), self.value(&key, value)?);
        }
        Ok(values)
    }

    fn value(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Value, ScenarioError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(Value::String(text.to_string())),
            DeValue::Boolean(flag) => Ok(Value::Bool(*flag)),
            DeValue::Table(table) => Ok(Value::Object(self.table(key, table)?)),
            DeValue::Array(items) => {
                items.iter().enumerate().map(|(index, item)| self.item(key, index, item)).collect()
            }
            DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
                .map(Value::from)
                .map_err(|_| self.refused(key, digits.as_str(), "a whole number from -2^63 to 2^63 - 1")),
            DeValue::Float(number) => number
                .as_str()
                .parse()
                .ok()
                .and_then(serde_json::Number::from_f64)
                .map(Value::Number)
                .ok_or_else(|| self.refused(key, number.as_str(), "a finite number")),
            DeValue::Datetime(date) => Err(self.refused(key, &date.to_string(), "no dates")),
        }
    }

    /// An item of a list: a table has a key and a line of its own.
    fn item(&mut self, key: &str, index: usize, item: &Spanned<DeValue<'_>>) -> Result<Value, ScenarioError> {
        if !matches!(item.get_ref(), DeValue::Table(_)) {
            return self.value(key, item);
        }
        let own = nth(key, index);
        self.lines.insert(own.clone(), self.line(item.span().start));
        self.value(&own, item)
    }

    fn refused(&self, key: &str, found: &str, expected: &str) -> ScenarioError {
        let origin = Origin { source: self.source.to_owned(), line: self.lines.get(key).copied() };
        Problem::mismatch(key, expected, found).at(origin)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_remembers_the_line_of_every_key() {
        let layer = Layer::parse("s.toml", "seed = 3\n[node]\npreset = \"p\"\n\n[node.l1]\nways = 4\n").unwrap();
        assert_eq!(Value::Object(layer.values), json!({"seed": 3, "node": {"preset": "p", "l1": {"ways": 4}}}));
        assert_eq!((layer.lines["node.preset"], layer.lines["node.l1.ways"]), (3, 6));
    }

    #[test]
    fn what_is_not_toml_is_refused_with_its_line() {
        let error = Layer::parse("s.toml", "seed = 3\nname = \n").unwrap_err();
        assert_eq!(error.origin.to_string(), "s.toml:2");
        assert!(error.message.starts_with("not valid TOML"), "{error}");
    }

    #[test]
    fn keys_without_end_are_no_toml() {
        assert_eq!(toml_flaw("large = 99999999999999999999\na.b = 12:00:00"), None);
        assert!(toml_flaw("a = 1\nb = \n").unwrap().ends_with("(at line 2)"));
        for open in ["a.", "[", "{a="] {
            assert!(toml_flaw(&format!("x = 1\na = {}", open.repeat(200_000))).is_some());
        }
        assert!(toml_flaw(&format!("{}b = 1", "a.".repeat(200_000))).unwrap().contains("recursion"));
    }

    #[test]
    fn an_override_is_toml_or_a_bare_string() {
        let value = |text: &str| Value::Object(Layer::set(text).unwrap().values);
        assert_eq!(value("a.b=600GB/s"), json!({"a": {"b": "600GB/s"}}));
        assert_eq!(value("a=12"), json!({"a": 12}));
        assert_eq!(value("a = 0.5"), json!({"a": 0.5}));
        assert_eq!(value("a=\"12\""), json!({"a": "12"}));
        assert_eq!(value("a={b = true}"), json!({"a": {"b": true}}));
        assert_eq!(value("a.\"b.2\".c=1"), json!({"a": {"b.2": {"c": 1}}}));
        assert_eq!(Layer::set("seed").unwrap_err().to_string(), "--set seed: expected key=value");
        assert!(Layer::set("a..b=1").is_err() && Layer::set("=1").is_err());
    }

    #[test]
    fn numbers_no_scenario_can_hold_are_refused() {
        for bad in ["a=inf", "a=99999999999999999999", "a=2024-01-01"] {
            assert!(Layer::set(bad).is_err(), "{bad}");
        }
    }
}
