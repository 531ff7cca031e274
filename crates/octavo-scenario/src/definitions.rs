//! Writes a part of a schema once, below `$defs`, where several places have it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::{Map, Value, json};

/// Which parts count as equal, and from what size on they get a name.
struct Rule {
    /// The keys that may stand next to a reference.
    own: &'static [&'static str],
    /// Fewest bytes of a part without that; a reference takes about 30. Chosen.
    least: usize,
}

/// First parts that are completely equal, then parts that are equal except for descriptions and defaults.
const RULES: [Rule; 2] = [Rule { own: &[], least: 60 }, Rule { own: &["description", "default"], least: 45 }];

/// Every part by its text.
type Parts = BTreeMap<String, Part>;

struct Part {
    /// The key that leads to it first.
    key: String,
    places: usize,
    /// The description at each place, unless they differ.
    own: Option<Map<String, Value>>,
    /// Its name, once it is written.
    name: Option<String>,
}

/// The same schema, in which equal parts are references to one; without formats, which no standard knows (`uint32`).
pub(crate) fn share(mut schema: Value) -> Value {
    leave_out_formats(&mut schema);
    RULES.iter().fold(schema, |schema, rule| rule.apply(schema))
}

fn leave_out_formats(schema: &mut Value) {
    schema.as_object_mut().into_iter().for_each(|schema| drop(schema.shift_remove("format")));
    inner(schema, "", &mut |part, _| leave_out_formats(part));
}

impl Rule {
    fn apply(&self, mut schema: Value) -> Value {
        let mut definitions =
            schema.get_mut("$defs").and_then(Value::as_object_mut).map(std::mem::take).unwrap_or_default();
        let mut parts = Parts::new();
        inner(&mut schema, "", &mut |part, key| self.count(part, key, &mut parts));
        for (name, body) in &mut definitions {
            inner(body, name, &mut |part, key| self.count(part, key, &mut parts));
        }
        let known: Vec<String> = definitions.keys().cloned().collect();
        let mut written = Written { rule: self, parts, definitions };
        inner(&mut schema, "", &mut |part, _| written.refer(part));
        for name in known {
            let mut body = written.definitions[&name].take();
            inner(&mut body, "", &mut |part, _| written.refer(part));
            written.definitions[&name] = body;
        }
        schema["$defs"] = Value::Object(written.definitions);
        schema
    }

    fn count(&self, part: &mut Value, key: &str, parts: &mut Parts) {
        let (text, own) = self.apart(part);
        if text.len() >= self.least && part.get("$ref").is_none() {
            match parts.entry(text) {
                Entry::Occupied(mut known) => {
                    let known = known.get_mut();
                    known.places += 1;
                    if known.own.as_ref() != Some(&own) {
                        known.own = None;
                    }
                    return;
                }
                Entry::Vacant(new) => {
                    new.insert(Part { key: key.to_owned(), places: 1, own: Some(own), name: None });
                }
            }
        }
        inner(part, key, &mut |part, key| self.count(part, key, parts));
    }

    /// The text of a part without the place's own words, and these words.
    fn apart(&self, part: &Value) -> (String, Map<String, Value>) {
        let mut bare = part.clone();
        let take = |bare: &mut Map<String, Value>| {
            let taken =
                self.own.iter().filter_map(|key| bare.shift_remove(*key).map(|value| ((*key).to_owned(), value)));
            taken.collect()
        };
        let own = bare.as_object_mut().map(take).unwrap_or_default();
        (bare.to_string(), own)
    }
}

struct Written<'a> {
    rule: &'a Rule,
    parts: Parts,
    definitions: Map<String, Value>,
}

impl Written<'_> {
    /// Puts a reference in the place of a part that is shared; looks into any other.
    fn refer(&mut self, part: &mut Value) {
        let (text, own) = self.rule.apart(part);
        let shared = self.parts.get(&text).filter(|shared| shared.places > 1);
        let Some(shared) = shared else { return inner(part, "", &mut |part, _| self.refer(part)) };
        let agreed = shared.own.is_some();
        let name = shared.name.clone().unwrap_or_else(|| self.define(&text, part));
        *part = json!({ "$ref": format!("#/$defs/{name}") });
        if !agreed {
            part.as_object_mut().into_iter().for_each(|part| part.extend(own.clone()));
        }
    }

    /// Writes a part under a name that is free.
    fn define(&mut self, text: &str, part: &Value) -> String {
        let shared = self.parts.get_mut(text).expect("it was counted");
        let plain = if shared.key.is_empty() { "part" } else { &shared.key };
        let numbered = (2..).map(|number| format!("{plain}-{number}"));
        let mut names = std::iter::once(plain.to_owned()).chain(numbered);
        let name = names.find(|name| !self.definitions.contains_key(name)).expect("there are enough numbers");
        shared.name = Some(name.clone());
        let mut body = part.clone();
        if let (None, Some(body)) = (&shared.own, body.as_object_mut()) {
            self.rule.own.iter().for_each(|key| drop(body.shift_remove(*key)));
        }
        // Its place comes before those of its own parts.
        self.definitions.insert(name.clone(), Value::Null);
        inner(&mut body, "", &mut |part, _| self.refer(part));
        self.definitions[&name] = body;
        name
    }
}

/// Visits each part of a schema that is a schema itself, with its key; for tables distinguished by their name, with
/// that name.
fn inner(schema: &mut Value, key: &str, show: &mut dyn FnMut(&mut Value, &str)) {
    for (name, part) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        show(part, name);
    }
    for list in ["oneOf", "anyOf"] {
        for part in schema.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let tag = part["properties"]["name"]["const"].as_str().map(str::to_owned);
            show(part, tag.as_deref().unwrap_or(key));
        }
    }
    for one in ["items", "additionalProperties"] {
        if let Some(part) = schema.get_mut(one).filter(|part| part.is_object()) {
            show(part, key);
        }
    }
}
