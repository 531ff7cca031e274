//! The JSON schema of scenario files, for editors.

use octavo_manager::{ALLOCATORS, DEMOTIONS, EVICTIONS, GUARDS, PLACEMENTS, PREFETCHERS, SHARINGS, SIZINGS};
use octavo_registry::Registry;
use serde_json::{Map, Value, json};

use crate::check::inline_schema;
use crate::definitions::share;
use crate::workloads::MIX;
use crate::{Scenario, WORKLOADS, presets};

/// JSON schema of a scenario file: values that a preset or a default provides may be left out. Parts that several
/// places share are written once, below `$defs`.
#[must_use]
pub fn schema() -> Value {
    share(spelled_out())
}

/// The same without references: every part in its place.
#[must_use]
pub fn spelled_out() -> Value {
    let mut schema = inline_schema::<Scenario>();
    schema["title"] = json!("Octavo scenario");
    let mut node = schema["properties"]["node"].take();
    make_optional(&mut node);
    add_preset(&mut node, presets::node_names().collect());
    node["properties"]["memory_preset"] = json!({
        "description": "The preset of the memory system that a scenario has which names none.",
        "enum": presets::memory_names().collect::<Vec<_>>(),
    });
    add_preset(&mut node["properties"]["driver"], presets::driver_names().collect());
    add_preset(&mut node["properties"]["host"], presets::host_names().collect());
    let workload = schema["properties"]["workload"].take();
    let memory = &mut schema["properties"]["memory"];
    for (key, choice) in [
        ("placement", strategy(&PLACEMENTS)),
        ("prefetch", strategy(&PREFETCHERS)),
        ("system.placement", strategy(&PLACEMENTS)),
        ("system.prefetch", strategy(&PREFETCHERS)),
        ("eviction", strategy(&EVICTIONS)),
        ("demotion", strategy(&DEMOTIONS)),
        ("sharing", strategy(&SHARINGS)),
        ("guard", strategy(&GUARDS)),
        ("allocator", choice(&ALLOCATORS)),
        ("sizing", choice(&SIZINGS)),
    ] {
        let property = key.split('.').fold(&mut *memory, |table, key| &mut table["properties"][key]);
        let description = property["description"].take();
        *property = described(choice, description);
    }
    add_preset(memory, presets::memory_names().collect());
    schema["properties"]["record"]["required"] = json!([]);
    let mut program = workload_choice(&workload);
    let job = &mut schema["properties"]["job"]["items"]["properties"];
    job["workload"] = program.clone();
    let own = [
        ("placement", strategy(&PLACEMENTS)),
        ("prefetch", strategy(&PREFETCHERS)),
        ("eviction", strategy(&EVICTIONS)),
    ];
    for (key, choice) in own {
        let description = job["memory"]["properties"][key]["description"].take();
        job["memory"]["properties"][key] = described(choice, description);
    }
    program["oneOf"]
        .as_array_mut()
        .into_iter()
        .for_each(|alternatives| alternatives.extend(several_programs(&workload)));
    schema["properties"]["workload"] = program;
    schema["properties"]["node"] = node;
    schema["required"] = json!([]);
    schema["anyOf"] = json!([{ "required": ["workload"] }, { "required": ["job"] }]);
    schema
}

/// An abbreviation for several programs, each of which becomes a job; and settings for all jobs.
fn several_programs(common: &Value) -> [Value; 3] {
    let short = json!({
        "type": "string",
        "pattern": r"\+",
        "description": "Several programs, a job for each: `hs+gups`.",
    });
    let (scale, seed) = (&common["properties"]["scale"], &common["properties"]["seed"]);
    let table = json!({
        "type": "object",
        "description": "Several programs, a job for each: names of workloads, or tables of a name and its options.",
        "properties": {
            "name": { "const": MIX },
            "applications": { "type": "array", "items": { "type": ["string", "object"] }, "minItems": 1 },
            "scale": scale,
            "seed": seed,
        },
        "required": ["name", "applications"],
        "additionalProperties": false,
    });
    let of_all = json!({
        "type": "object",
        "description": "Values for all jobs that do not set them.",
        "properties": { "scale": scale, "seed": seed },
        "additionalProperties": false,
    });
    [short, table, of_all]
}

/// Names that [`octavo_registry::is_place`] takes for places of Python classes.
const PLACE: &str = r"(^[^:]+\.py$)|(^.+:[A-Za-z_][\w.<>]*$)";
/// The same of workloads, which a plus sign would make several programs.
const WORKLOAD_PLACE: &str = r"(^[^:+]+\.py$)|(^[^+]+:[A-Za-z_][\w.<>]*$)";

/// Like [`choice`], or a Python class in either form, with options of its own.
fn strategy<P, C: ?Sized>(registry: &Registry<P, C>) -> Value {
    let mut schema = choice(registry);
    add_place(&mut schema, PLACE, "my_policy.py");
    schema
}

/// Lets a Python class, such as that of `example`, stand beside the names of a choice.
fn add_place(schema: &mut Value, pattern: &str, example: &str) {
    let place = json!({
        "type": "string",
        "pattern": pattern,
        "description": format!("A Python class: `{example}`, or `{example}:Mine` where the file has several."),
    });
    let table = json!({
        "type": "object",
        "description": "A Python class and the options it declares.",
        "properties": {
            "name": place,
            "digest": {
                "type": ["string", "null"],
                "description": "Digest of its source, so that results of another class are not reused. Default: computed.",
            },
        },
        "required": ["name"],
    });
    schema["oneOf"]
        .as_array_mut()
        .into_iter()
        .for_each(|alternatives| alternatives.extend([place.clone(), table.clone()]));
}

/// `"name"`, or a table with a name and that entry's options.
fn choice<P, C: ?Sized>(registry: &Registry<P, C>) -> Value {
    let names: Vec<&str> = registry.names().collect();
    let mut alternatives = vec![json!({ "type": "string", "enum": names })];
    alternatives.extend(
        registry.entries.iter().map(|entry| named(entry.name, entry.summary, entry.source, &options(entry.schema))),
    );
    json!({ "oneOf": alternatives })
}

/// The workloads; size and seed stand next to the options of each.
fn workload_choice(common: &Value) -> Value {
    let mut schema = choice(&WORKLOADS);
    add_place(&mut schema, WORKLOAD_PLACE, "my_workload.py");
    let tables = schema["oneOf"].as_array_mut().into_iter().flatten().filter(|each| each["type"] == "object");
    for alternative in tables {
        for key in ["scale", "seed"] {
            alternative["properties"][key] = common["properties"][key].clone();
        }
    }
    described(schema, common["description"].clone())
}

fn named(name: &str, summary: &str, source: &str, options: &Map<String, Value>) -> Value {
    let mut properties = Map::from_iter([("name".to_owned(), json!({ "const": name }))]);
    properties.extend(options.clone());
    json!({
        "type": "object",
        "description": format!("{summary} ({source})"),
        "properties": properties,
        "required": ["name"],
        "additionalProperties": false,
    })
}

/// The properties of an entry's options, with every part written out in place.
pub(crate) fn options(schema: fn() -> schemars::Schema) -> Map<String, Value> {
    let schema = schema().to_value();
    let definitions = schema.get("$defs").cloned().unwrap_or_default();
    let mut properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    properties.values_mut().for_each(|property| write_out(property, &definitions));
    properties
}

fn write_out(schema: &mut Value, definitions: &Value) {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/")) {
        let mut written = definitions[name].clone();
        if let (Value::Object(written), Value::Object(own)) = (&mut written, &*schema) {
            written
                .extend(own.iter().filter(|(key, _)| *key != "$ref").map(|(key, value)| (key.clone(), value.clone())));
        }
        *schema = written;
    }
    match schema {
        Value::Object(parts) => parts.values_mut().for_each(|part| write_out(part, definitions)),
        Value::Array(parts) => parts.iter_mut().for_each(|part| write_out(part, definitions)),
        _ => {}
    }
}

/// Lets every table leave out values that a preset provides.
fn make_optional(schema: &mut Value) {
    match schema {
        Value::Object(parts) => {
            parts.shift_remove("required");
            parts.values_mut().for_each(make_optional);
        }
        Value::Array(parts) => parts.iter_mut().for_each(make_optional),
        _ => {}
    }
}

fn add_preset(schema: &mut Value, names: Vec<&str>) {
    schema["properties"]["preset"] = json!({ "description": "Values to start from.", "enum": names });
}

fn described(mut schema: Value, description: Value) -> Value {
    schema["description"] = description;
    schema
}
