//! Tables and totals agree with the catalogue of columns and the summary's schema.

use octavo_sim::{InstantSummary, Summary};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use super::{Books, Law};

pub fn columns(books: &Books) -> Law {
    books.tables.iter().try_for_each(|table| table.as_described(books.in_time()))
}

pub fn totals(books: &Books) -> Law {
    let schema = if books.in_time() { schema_of::<Summary>() } else { schema_of::<InstantSummary>() };
    told("", &books.summary, &schema)
}

/// Whether every key of a table, and of the tables in it, is a property of its schema, and every required key is
/// present.
fn told(at: &str, value: &Value, schema: &Value) -> Law {
    if let (Some(list), Some(each)) = (value.as_array(), schema.get("items")) {
        return list.iter().try_for_each(|value| told(at, value, each));
    }
    let (Some(table), Some(properties)) = (value.as_object(), schema.get("properties")) else { return Ok(()) };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|key| !table.contains_key(*key)) {
        return Err(format!("`{at}` lacks `{missing}`"));
    }
    // What strategies count beside the manager has names of their own.
    let free = at == ".manager";
    table.iter().try_for_each(|(key, value)| match properties.get(key) {
        Some(property) => told(&format!("{at}.{key}"), value, property),
        None if free => Ok(()),
        None => Err(format!("no schema tells of `{at}.{key}`")),
    })
}

fn schema_of<T: JsonSchema>() -> Value {
    let inline = SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    let generator: SchemaGenerator = inline.into_generator();
    generator.into_root_schema_for::<T>().to_value()
}
