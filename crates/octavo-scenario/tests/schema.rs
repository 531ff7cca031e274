//! The schema for editors: no part is repeated, and it means the same as the one without references.

use octavo_scenario::{schema, schema_spelled_out};
use serde_json::Value;

#[test]
fn references_lead_to_what_stood_in_their_place() {
    let mut short = schema();
    let definitions = short.as_object_mut().unwrap().shift_remove("$defs").unwrap();
    expand(&mut short, &definitions);
    let mut long = schema_spelled_out();
    leave_out_formats(&mut long);
    assert!(short == long);
}

#[test]
fn no_definition_is_idle_and_all_are_small_together() {
    let text = schema().to_string();
    assert!(text.len() < 170_000, "{} bytes", text.len());
    for name in schema()["$defs"].as_object().unwrap().keys() {
        let uses = text.matches(&format!("\"#/$defs/{name}\"")).count();
        assert!(uses > 0, "{name} is idle");
    }
}

/// Replaces each reference by its definition; the place's own words come first.
fn expand(part: &mut Value, definitions: &Value) {
    if let Some(name) = part.get("$ref").and_then(Value::as_str) {
        let mut whole = definitions[name.strip_prefix("#/$defs/").unwrap()].clone();
        let own = part.as_object().unwrap().iter().filter(|(key, _)| *key != "$ref");
        whole.as_object_mut().unwrap().extend(own.map(|(key, value)| (key.clone(), value.clone())));
        *part = whole;
    }
    match part {
        Value::Object(parts) => parts.values_mut().for_each(|part| expand(part, definitions)),
        Value::Array(parts) => parts.iter_mut().for_each(|part| expand(part, definitions)),
        _ => {}
    }
}

/// Sizes of numbers, which are in no standard of formats.
fn leave_out_formats(part: &mut Value) {
    match part {
        Value::Object(parts) => {
            if parts.get("format").is_some_and(Value::is_string) {
                parts.shift_remove("format");
            }
            parts.values_mut().for_each(leave_out_formats);
        }
        Value::Array(parts) => parts.iter_mut().for_each(leave_out_formats),
        _ => {}
    }
}
