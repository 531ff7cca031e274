//! Compares values with a JSON schema and explains in plain words what does not fit.
//!
//! Deserialisation would reject the same values, but stops at the first tagged table and cannot suggest what was meant.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use octavo_registry::{nearest, one_of};
use octavo_units::{Bandwidth, Bytes, Cycles, Frequency, Time, UnitError};

use crate::error::Problem;
use crate::layer::{join, nth};

/// The schema of `T` with every part written out in place.
pub(crate) fn inline_schema<T: JsonSchema>() -> Value {
    let generator: SchemaGenerator =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

/// Checks `value`, found at `key`, against an inline schema.
pub(crate) fn check(key: &str, value: &Value, schema: &Value) -> Result<(), Problem> {
    if let Some(alternatives) = alternatives(schema) {
        return check_alternatives(key, value, alternatives);
    }
    if let (Value::Object(table), Some(each)) = (value, entries(schema)) {
        return table.iter().try_for_each(|(name, value)| check(&join(key, name), value, each));
    }
    match (value, schema.get("properties").and_then(Value::as_object)) {
        (Value::Object(table), Some(properties)) => return check_table(key, table, properties, schema),
        (_, Some(_)) => return Err(mismatch(key, value, "a table")),
        _ => {}
    }
    check_type(key, value, schema)?;
    if let (Value::Array(items), Some(each)) = (value, schema.get("items")) {
        return items.iter().enumerate().try_for_each(|(index, item)| check(&nth(key, index), item, each));
    }
    check_choice(key, value, schema)?;
    check_quantity(key, value, schema)
}

fn check_table(
    key: &str,
    table: &Map<String, Value>,
    properties: &Map<String, Value>,
    schema: &Value,
) -> Result<(), Problem> {
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
        || schema.get("unevaluatedProperties") == Some(&Value::Bool(false));
    // A misspelled key comes before what is wrong or missing elsewhere, as it is often the cause.
    if let Some(name) = table.keys().find(|name| closed && !properties.contains_key(*name)) {
        return Err(unknown(&join(key, name), name, properties));
    }
    for (name, value) in table {
        properties.get(name).map_or(Ok(()), |property| check(&join(key, name), value, property))?;
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    match required.into_iter().find(|name| !table.contains_key(*name)) {
        Some(name) => Err(missing(key, name, table, properties)),
        None => Ok(()),
    }
}

/// A key that a table lacks, or the one that was written for it, where keys are free.
fn missing(key: &str, name: &str, table: &Map<String, Value>, properties: &Map<String, Value>) -> Problem {
    let free = table.keys().map(String::as_str).filter(|other| !properties.contains_key(*other));
    if let Some(written) = nearest(name, free) {
        return Problem::unknown_key(join(key, written), "unknown key").meant(written, [name]);
    }
    Problem::new(join(key, name), format!("missing; expected {}", wanted(properties.get(name))))
}

/// The type of all values in a table whose keys are free.
fn entries(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|each| each.is_object() && schema.get("properties").is_none())
}

fn unknown(key: &str, name: &str, properties: &Map<String, Value>) -> Problem {
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    let expected = one_of(name, &known, "octavo schema");
    Problem::unknown_key(key, format!("unknown key, expected {expected}")).meant(name, known)
}

fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array)
}

/// A choice of words, an optional value, or tables distinguished by a tag.
fn check_alternatives(key: &str, value: &Value, alternatives: &[Value]) -> Result<(), Problem> {
    let words: Vec<&str> = alternatives.iter().flat_map(words_of).collect();
    if words.len() >= alternatives.len() {
        return check_words(key, value, &words);
    }
    let tag = alternatives.iter().find_map(tag_of);
    let Some(tag) = tag else {
        let fitting =
            alternatives.iter().filter(|schema| schema["type"] != "null").map(|schema| check(key, value, schema));
        return fitting.reduce(Result::or).unwrap_or(Ok(()));
    };
    let Some(table) = value.as_object() else { return Err(mismatch(key, value, &format!("a table with `{tag}`"))) };
    let names: Vec<&str> = alternatives.iter().flat_map(|schema| words_of(&schema["properties"][&tag])).collect();
    let tag_key = join(key, &tag);
    let Some(found) = table.get(&tag) else {
        return Err(Problem::new(tag_key, format!("missing; expected one of {}", names.join(", "))));
    };
    check_words(&tag_key, found, &names)?;
    let chosen = alternatives
        .iter()
        .find(|schema| words_of(&schema["properties"][&tag]).contains(&found.as_str().unwrap_or("")));
    chosen.map_or(Ok(()), |schema| check(key, value, schema))
}

/// The property that distinguishes tagged tables: the one with a single permitted word.
fn tag_of(schema: &Value) -> Option<String> {
    let properties = schema.get("properties")?.as_object()?;
    properties.iter().find(|(_, property)| words_of(property).len() == 1).map(|(name, _)| name.clone())
}

fn words_of(schema: &Value) -> Vec<&str> {
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    listed.chain(schema.get("const")).filter_map(Value::as_str).collect()
}

fn check_words(key: &str, value: &Value, words: &[&str]) -> Result<(), Problem> {
    match value.as_str() {
        Some(found) if words.contains(&found) => Ok(()),
        Some(found) => {
            Err(mismatch(key, value, &format!("one of {}", words.join(", "))).meant(found, words.iter().copied()))
        }
        None => Err(mismatch(key, value, &format!("one of {}", words.join(", ")))),
    }
}

fn check_choice(key: &str, value: &Value, schema: &Value) -> Result<(), Problem> {
    let words = words_of(schema);
    if words.is_empty() { Ok(()) } else { check_words(key, value, &words) }
}

fn check_type(key: &str, value: &Value, schema: &Value) -> Result<(), Problem> {
    let permitted: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    let fits = |name: &&str| match *name {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    };
    if !permitted.iter().any(fits) {
        return Err(mismatch(key, value, &wanted(Some(schema))));
    }
    let beyond = |limit: Option<f64>, is: fn(&f64, &f64) -> bool| {
        value.as_f64().zip(limit).is_some_and(|(found, limit)| is(&found, &limit))
    };
    let below = beyond(schema.get("minimum").and_then(Value::as_f64), f64::lt);
    let above = beyond(most(schema).and_then(|most| most.as_f64()), f64::gt);
    if below || above { Err(mismatch(key, value, &wanted(Some(schema)))) } else { Ok(()) }
}

/// The largest number that fits: schemas leave out what follows from the size of a number.
fn most(schema: &Value) -> Option<Value> {
    let of_format = match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => Some(u32::MAX.into()),
        Some("int32") => Some(i32::MAX.into()),
        _ => None,
    };
    schema.get("maximum").cloned().or(of_format)
}

fn check_quantity(key: &str, value: &Value, schema: &Value) -> Result<(), Problem> {
    let (Some(text), Some(quantity)) = (value.as_str(), quantity(schema)) else { return Ok(()) };
    match quantity(text) {
        Ok(()) => Ok(()),
        Err(error) => Err(Problem::new(key, error.to_string())),
    }
}

type Parse = fn(&str) -> Result<(), UnitError>;

/// The parser of the quantity that `schema` describes, recognised by its pattern.
fn quantity(schema: &Value) -> Option<Parse> {
    static PARSERS: LazyLock<[(Value, Parse); 5]> = LazyLock::new(|| {
        [
            (inline_schema::<Bandwidth>(), |text| text.parse::<Bandwidth>().map(drop)),
            (inline_schema::<Bytes>(), |text| text.parse::<Bytes>().map(drop)),
            (inline_schema::<Cycles>(), |text| text.parse::<Cycles>().map(drop)),
            (inline_schema::<Frequency>(), |text| text.parse::<Frequency>().map(drop)),
            (inline_schema::<Time>(), |text| text.parse::<Time>().map(drop)),
        ]
    });
    let pattern = schema.get("pattern")?;
    PARSERS.iter().find(|(known, _)| known.get("pattern") == Some(pattern)).map(|&(_, parse)| parse)
}

/// What a schema accepts, in words.
fn wanted(schema: Option<&Value>) -> String {
    let Some(schema) = schema else { return "a value".to_owned() };
    if let Some(parse) = quantity(schema) {
        return parse("").map_or_else(|error| error.expected.to_owned(), |()| "a quantity".to_owned());
    }
    let words: Vec<&str> = match alternatives(schema) {
        Some(alternatives) => alternatives.iter().flat_map(words_of).collect(),
        None => words_of(schema),
    };
    if !words.is_empty() {
        return format!("one of {}", words.join(", "));
    }
    let described = match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("boolean") => "true or false",
        Some("string") => "text",
        Some("array") => "a list",
        _ => "a table",
    };
    let limit = |bound: Option<Value>, word: &str| bound.map(|bound| format!(" {word} {bound}")).unwrap_or_default();
    format!("{described}{}{}", limit(schema.get("minimum").cloned(), "from"), limit(most(schema), "to"))
}

fn mismatch(key: &str, value: &Value, expected: &str) -> Problem {
    Problem::mismatch(key, expected, value)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Example {
        latency: Cycles,
        share: Option<Sharing>,
        service: Service,
        extra: Option<Pool>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    #[allow(dead_code, reason = "only its schema is used")]
    enum Sharing {
        /// One a GPU.
        PerGpu,
        /// One a pair.
        PerPair,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "model", rename_all = "kebab-case")]
    #[allow(dead_code, reason = "only its schema is used")]
    enum Service {
        /// Each alone.
        Pool(Pool),
        /// Together.
        Batch { size: u32 },
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Pool {
        service: Time,
        servers: u8,
    }

    fn problem(value: Value) -> String {
        let problem = check("x", &value, &inline_schema::<Example>()).unwrap_err();
        format!(
            "{}: {}{}",
            problem.key,
            problem.message,
            problem.hint.map(|hint| format!("; {hint}")).unwrap_or_default()
        )
    }

    fn with(key: &str, value: Value) -> Value {
        let pool = json!({"model": "pool", "service": "1us", "servers": 2});
        let mut example = json!({"latency": "5cycles", "service": pool});
        example[key] = value;
        example
    }

    #[test]
    fn accepts_what_fits() {
        let schema = inline_schema::<Example>();
        assert_eq!(check("x", &with("share", json!("per-pair")), &schema), Ok(()));
        assert_eq!(check("x", &with("service", json!({"model": "batch", "size": 3})), &schema), Ok(()));
        assert_eq!(check("x", &with("extra", json!({"service": "1us", "servers": 2})), &schema), Ok(()));
    }

    #[test]
    fn names_what_is_unknown_missing_or_wrong_and_what_was_meant() {
        let unknown = problem(with("latncy", json!("1cycles")));
        assert_eq!(
            unknown,
            "x.latncy: unknown key, expected one of latency, share, service, extra; did you mean `latency`?"
        );
        let unit = problem(with("latency", json!("5ns")));
        assert_eq!(unit, "x.latency: expected a count of cycles such as 100cycles, found `5ns`");
        let bare = problem(with("latency", json!(5)));
        assert_eq!(bare, "x.latency: expected a count of cycles such as 100cycles, found 5");
        let word = problem(with("share", json!("per-gpus")));
        assert_eq!(word, "x.share: expected one of per-gpu, per-pair, found \"per-gpus\"; did you mean `per-gpu`?");
        let table = problem(with("service", json!(3)));
        assert_eq!(table, "x.service: expected a table with `model`, found 3");
    }

    #[test]
    fn a_misspelled_key_comes_before_what_is_missing_elsewhere() {
        let mut value = with("service", json!({"model": "pool"}));
        value["sarvice"] = json!(1);
        assert_eq!(
            problem(value),
            "x.sarvice: unknown key, expected one of latency, share, service, extra; did you mean `service`?"
        );
    }

    #[test]
    fn looks_into_tagged_tables() {
        let model = problem(with("service", json!({"model": "pol"})));
        assert_eq!(model, "x.service.model: expected one of pool, batch, found \"pol\"; did you mean `pool`?");
        let missing = problem(with("service", json!({"model": "pool", "service": "1us"})));
        assert_eq!(missing, "x.service.servers: missing; expected a whole number from 0 to 255");
        let unit = problem(with("service", json!({"model": "pool", "service": "1KiB", "servers": 1})));
        assert_eq!(unit, "x.service.service: expected a time such as 1.25us (ps, ns, us, ms, s), found `1KiB`");
        let large = problem(with("service", json!({"model": "pool", "service": "1us", "servers": 256})));
        assert_eq!(large, "x.service.servers: expected a whole number from 0 to 255, found 256");
        let wide = problem(with("service", json!({"model": "batch", "size": 1_u64 << 32})));
        assert_eq!(wide, "x.service.size: expected a whole number from 0 to 4294967295, found 4294967296");
        let tag = problem(with("service", json!({})));
        assert_eq!(tag, "x.service.model: missing; expected one of pool, batch");
    }
}
