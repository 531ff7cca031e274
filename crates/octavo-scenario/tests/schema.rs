//! The schema in the repository is the one the code generates.

use octavo_scenario::schema;
use serde::Serialize;

#[test]
fn the_schema_in_the_repository_is_fresh() {
    let fresh = lines();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/scenario.schema.json");
    if std::env::var_os("OCTAVO_WRITE_SCHEMA").is_some() {
        std::fs::write(path, &fresh).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == fresh, "schema/scenario.schema.json is stale: refresh it with `make schema`");
}

/// A line for each key and value, so that differences show, and no indentation, which would be two fifths of the file.
fn lines() -> String {
    let mut text = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b"");
    schema().serialize(&mut serde_json::Serializer::with_formatter(&mut text, format)).unwrap();
    text.push(b'\n');
    String::from_utf8(text).unwrap()
}
