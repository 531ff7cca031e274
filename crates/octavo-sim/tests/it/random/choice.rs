//! A strategy with some of its options, drawn from the registries.

use octavo_registry::{Entry, Registry};
use serde_json::Value;

use super::draw::Draw;

/// Any of a registry, as TOML writes it.
pub fn any<P, C: ?Sized>(registry: &Registry<P, C>, draw: &mut Draw) -> String {
    let entry = registry.entries[draw.below(registry.entries.len())];
    with_options(entry, draw)
}

fn with_options<P, C: ?Sized>(entry: &Entry<P, C>, draw: &mut Draw) -> String {
    let schema = (entry.schema)().to_value();
    let mut text = format!("{{ name = '{}'", entry.name);
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        if draw.chance(25)
            && let Some(value) = value(property, &schema["$defs"], draw)
        {
            text += &format!(", {key} = {value}");
        }
    }
    text + " }"
}

/// A value of an option; nothing where the schema says too little to draw one.
fn value(property: &Value, definitions: &Value, draw: &mut Draw) -> Option<String> {
    let reference = property["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
    if let Some(name) = reference {
        return value(&definitions[name], definitions, draw);
    }
    let words: Vec<&str> = words(property);
    if !words.is_empty() {
        return Some(format!("'{}'", draw.one(&words)));
    }
    match property["type"].as_str()? {
        "boolean" => Some(draw.one(&["true", "false"]).to_owned()),
        "integer" => Some(draw.one(&[1, 2, 3, 4, 8, 16, 40, 64]).to_string()),
        "string" => quantity(property["pattern"].as_str()?, draw).map(|quantity| format!("'{quantity}'")),
        _ => None,
    }
}

/// The values of a choice of words.
fn words(property: &Value) -> Vec<&str> {
    let listed = property["enum"].as_array().into_iter().flatten();
    let alternatives = property["oneOf"].as_array().into_iter().flatten().map(|one| &one["const"]);
    listed.chain(alternatives).filter_map(Value::as_str).collect()
}

/// A quantity of the unit that a pattern asks for.
fn quantity(pattern: &str, draw: &mut Draw) -> Option<&'static str> {
    if pattern.contains("B$") {
        return Some(draw.one(&["0B", "4KiB", "64KiB", "128KiB", "2MiB"]));
    }
    pattern.contains("ns|").then(|| draw.one(&["0ns", "1us", "50us", "500us", "150ms"]))
}
