//! Layers laid over one another, the later ones winning.

use std::collections::BTreeMap;

use octavo_registry::{DIGEST, is_place};
use serde_json::{Map, Value};

use crate::Origin;
use crate::error::Problem;
use crate::layer::{Layer, ancestors, join, lookup, nth, take};
use crate::workloads::spell_out_name;

/// Keys that say what a table is; options of another thing do not apply to it.
const TAGS: [&str; 2] = ["name", "model"];
/// Keys that stay when a table becomes something else: they apply to every workload.
const KEPT: [&str; 2] = ["scale", "seed"];
/// Tables that may be written as their name alone: `placement = "grit"`.
const NAMED: [&str; 11] = [
    "memory.placement",
    "memory.prefetch",
    "memory.system.placement",
    "memory.system.prefetch",
    "memory.eviction",
    "memory.demotion",
    "memory.sharing",
    "memory.guard",
    "memory.allocator",
    "memory.sizing",
    "workload",
];
/// The same in each job.
const NAMED_OF_JOBS: [&str; 3] = ["memory.placement", "memory.prefetch", "memory.eviction"];

/// The values of all layers and where each came from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merged {
    pub values: Map<String, Value>,
    origins: BTreeMap<String, Origin>,
    main: String,
    /// The file that contains the node, if it is in a separate one.
    node: Option<String>,
    /// Settings for jobs that do not exist, or not yet.
    strays: Vec<Stray>,
}

/// A layer's settings for a job, by its name.
#[derive(Clone, Debug)]
struct Stray {
    name: String,
    said: Value,
    written: Written,
}

/// Where a layer was written, and the line of each of its keys.
#[derive(Clone, Debug)]
struct Written {
    source: String,
    lines: BTreeMap<String, usize>,
}

impl Written {
    fn origin(&self, key: &str) -> Origin {
        let line = ancestors(key).find_map(|key| self.lines.get(key).copied());
        Origin { source: self.source.clone(), line }
    }
}

impl Merged {
    /// All `layers`, the first one lowest; problems with values from no layer are reported as problems of `main`.
    pub fn of<'a>(main: &str, layers: impl IntoIterator<Item = &'a Layer>) -> Self {
        let mut merged = Self { main: main.to_owned(), ..Self::default() };
        layers.into_iter().for_each(|layer| merged.add(layer.clone()));
        merged
    }

    /// Adds `layer` on top of the present values.
    fn add(&mut self, mut layer: Layer) {
        spell_out_names(&mut layer.values);
        let Layer { source, mut values, lines, chosen: _, file } = layer;
        if file {
            self.node = Some(source.clone());
        }
        let written = Written { source, lines };
        let by_name = match values.get("job") {
            Some(Value::Object(_)) => values.shift_remove("job"),
            _ => None,
        };
        overlay("", &mut self.values, values, &mut |key| _ = self.origins.insert(key.to_owned(), written.origin(key)));
        for (name, said) in by_name.iter().filter_map(Value::as_object).flatten() {
            self.add_to_job(Stray { name: name.clone(), said: said.clone(), written: written.clone() });
        }
    }

    /// Adds the settings for a job, or keeps them until there is one with that name. A value that is not a table
    /// replaces the job, so that it is refused there.
    fn add_to_job(&mut self, stray: Stray) {
        let Stray { name, said, written } = &stray;
        let by_name = format!("job.{name}");
        let Some((index, job)) = find_job(&mut self.values, name) else {
            self.origins.insert(by_name.clone(), written.origin(&by_name));
            return self.strays.push(stray);
        };
        let place = nth("job", index);
        let origin = |key: &str| written.origin(&key.replacen(&place, &by_name, 1));
        let mut note = |key: &str| _ = self.origins.insert(key.to_owned(), origin(key));
        match (job, said) {
            (Value::Object(job), Value::Object(table)) => overlay(&place, job, table.clone(), &mut note),
            (job, said) => {
                note(&place);
                *job = said.clone();
            }
        }
    }

    /// Where the value at `key` was written is known.
    pub fn note(&mut self, key: &str, origin: Origin) {
        self.origins.insert(key.to_owned(), origin);
    }

    /// Adds settings for jobs that did not exist yet (`job.NAME.share`) to those that exist now.
    pub fn adopt_strays(&mut self) {
        let strays = std::mem::take(&mut self.strays);
        strays.into_iter().for_each(|stray| self.add_to_job(stray));
    }

    /// The first name of a job that something is said about and that there is not.
    pub fn stray_job(&self) -> Option<&str> {
        self.strays.first().map(|stray| stray.name.as_str())
    }

    /// Removes and returns the value at a dotted key.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        take(&mut self.values, key)
    }

    /// The value at a dotted key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        lookup(&self.values, key)
    }

    /// Where the value at `key` was written, or else the nearest table around it.
    pub fn origin(&self, key: &str) -> Origin {
        let found = ancestors(key).find_map(|key| self.origins.get(key).cloned());
        found.unwrap_or_else(|| Origin::whole(&self.main))
    }

    /// Says where a problem is. A missing value is missing in the scenario, or in the file that holds its node, not in
    /// the preset around it.
    pub fn locate(&self, problem: Problem) -> crate::ScenarioError {
        let origin = match (self.get(&problem.key), &self.node) {
            (Some(_), _) => self.origin(&problem.key),
            (None, Some(file)) if problem.key.starts_with("node.") => Origin::whole(file),
            (None, _) if problem.key.starts_with("job") => self.origin(&problem.key),
            (None, _) => Origin::whole(&self.main),
        };
        problem.at(origin)
    }
}

/// The job of that name and its place.
fn find_job<'a>(values: &'a mut Map<String, Value>, name: &str) -> Option<(usize, &'a mut Value)> {
    let jobs = values.get_mut("job")?.as_array_mut()?;
    let named = |job: &Value| job.get("name").and_then(Value::as_str) == Some(name);
    let index = jobs.iter().position(named)?;
    Some((index, &mut jobs[index]))
}

fn spell_out_names(values: &mut Map<String, Value>) {
    NAMED.iter().for_each(|key| spell_out_choice(values, key));
    let jobs: Vec<&mut Value> = match values.get_mut("job") {
        Some(Value::Array(jobs)) => jobs.iter_mut().collect(),
        Some(Value::Object(by_name)) => by_name.values_mut().collect(),
        _ => Vec::new(),
    };
    for job in jobs.into_iter().filter_map(Value::as_object_mut) {
        NAMED_OF_JOBS.iter().for_each(|key| spell_out_choice(job, key));
    }
    if let Some(workload) = values.get_mut("workload").and_then(Value::as_object_mut) {
        spell_out_name(workload);
    }
}

fn spell_out_choice(values: &mut Map<String, Value>, key: &str) {
    let mut parts = key.split('.');
    let first = parts.next().and_then(|part| values.get_mut(part));
    let slot = parts.fold(first, |slot, part| slot?.as_object_mut()?.get_mut(part));
    if let Some(slot) = slot.filter(|slot| slot.is_string()) {
        *slot = Value::Object(named(slot.take()));
    }
}

/// A choice of which only the name was written. The file at a place is read in its present state; an earlier digest is
/// dropped.
fn named(name: Value) -> Map<String, Value> {
    let place = name.as_str().is_some_and(is_place);
    let digest = place.then(|| (DIGEST.to_owned(), Value::Null));
    [("name".to_owned(), name)].into_iter().chain(digest).collect()
}

fn overlay(prefix: &str, below: &mut Map<String, Value>, above: Map<String, Value>, note: &mut dyn FnMut(&str)) {
    if !prefix.is_empty() && TAGS.iter().any(|tag| differs(below.get(*tag), above.get(*tag))) {
        below.retain(|key, _| KEPT.contains(&key.as_str()));
    }
    for (name, value) in above {
        let key = join(prefix, &name);
        note(&key);
        match (below.get_mut(&name), value) {
            (Some(Value::Object(lower)), Value::Object(upper)) => overlay(&key, lower, upper, note),
            (_, Value::Object(upper)) => {
                let mut fresh = Map::new();
                overlay(&key, &mut fresh, upper, note);
                below.insert(name, Value::Object(fresh));
            }
            (_, value) => {
                note_items(&key, &value, note);
                below.insert(name, value);
            }
        }
    }
}

/// Notes the settings in the tables of a list.
fn note_items(key: &str, value: &Value, note: &mut dyn FnMut(&str)) {
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        if let Value::Object(table) = item {
            let own = nth(key, index);
            note(&own);
            overlay(&own, &mut Map::new(), table.clone(), note);
        }
    }
}

fn differs(below: Option<&Value>, above: Option<&Value>) -> bool {
    matches!((below, above), (Some(below), Some(above)) if below != above)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(layers: &[(&str, &str)]) -> Merged {
        let layers: Vec<Layer> = layers.iter().map(|(source, text)| Layer::parse(source, text).unwrap()).collect();
        Merged::of("s.toml", &layers)
    }

    #[test]
    fn later_layers_win_key_by_key_and_origins_follow() {
        let merged = merged(&[("preset p", "[node.l1]\nways = 4\nsize = \"1KiB\""), ("s.toml", "node.l1.ways = 8")]);
        assert_eq!(merged.get("node.l1"), Some(&json!({"ways": 8, "size": "1KiB"})));
        assert_eq!(merged.origin("node.l1.ways").to_string(), "s.toml:1");
        assert_eq!(merged.origin("node.l1.size").to_string(), "preset p:3");
    }

    #[test]
    fn a_table_that_becomes_something_else_drops_the_options_of_what_it_was() {
        let merged = merged(&[
            (
                "a",
                "memory.placement = { name = \"grit\", fault_threshold = 8 }\nworkload = { name = \"fir\", scale = 0.5, taps = 8 }",
            ),
            ("b", "memory.placement = \"on-touch\"\nworkload = \"bitonicsort\""),
        ]);
        assert_eq!(merged.get("memory.placement"), Some(&json!({"name": "on-touch"})));
        assert_eq!(merged.get("workload"), Some(&json!({"name": "bitonicsort", "scale": 0.5})));
    }

    #[test]
    fn a_table_that_stays_what_it_is_keeps_its_options() {
        let merged =
            merged(&[("a", "memory.placement = { name = \"grit\", x = 8 }"), ("b", "memory.placement = \"grit\"")]);
        assert_eq!(merged.get("memory.placement"), Some(&json!({"name": "grit", "x": 8})));
    }

    #[test]
    fn what_is_missing_is_missing_in_the_scenario() {
        let merged = merged(&[("preset p", "node.gpus = 4")]);
        assert_eq!(merged.locate(Problem::new("node.clock", "missing")).origin.to_string(), "s.toml");
    }
}
