//! A resolved scenario's facts about its node: which values have no source, and which of them are the scenario's own.

use std::collections::BTreeSet;

use octavo_node::NodeConfig;
use serde_json::{Map, Value, json};

use crate::layer::{Layer, leaves, lookup};

const ABOUT: &str = "node.about";
/// Below the node: keys that name or describe it, and change nothing.
const NO_CHANGE: [&str; 2] = ["about", "preset"];

/// Writes it into the values of all layers: those `below`, and those that the scenario is `written` in.
pub(crate) fn spell_out(values: &mut Map<String, Value>, below: &[Layer], written: &[Layer], own: &[&Layer]) {
    let chosen = chosen(below.iter().chain(written), values);
    let is_known = ["name", "compared"].iter().any(|key| lookup(values, &format!("{ABOUT}.{key}")).is_some());
    let changed = if is_known { changed(values, below, own) } else { BTreeSet::new() };
    let Some(node) = values.get_mut("node").and_then(Value::as_object_mut) else { return };
    let about = node.entry("about").or_insert_with(|| json!({}));
    let Some(table) = about.as_object_mut() else { return };
    for (key, found) in [("chosen", chosen), ("changed", changed)] {
        table.shift_remove(key);
        if !found.is_empty() {
            table.insert(key.to_owned(), found.into_iter().collect());
        }
    }
    if table.is_empty() {
        node.shift_remove("about");
    }
}

/// Removes the chosen values that a resolved scenario leaves out, as they are the defaults.
pub(crate) fn leave_out_defaults(node: &mut NodeConfig) {
    let values = serde_json::to_value(&*node).unwrap_or_default();
    let (Some(about), Some(values)) = (&mut node.about, values.as_object()) else { return };
    about.chosen.retain(|key| lookup(values, key).is_some());
}

/// Keys of the node whose values come from layers that mark them as values without a source.
fn chosen<'a>(layers: impl Iterator<Item = &'a Layer>, values: &Map<String, Value>) -> BTreeSet<String> {
    let mut chosen = BTreeSet::new();
    for layer in layers {
        for key in of_node(layer) {
            if layer.chosen.contains(&format!("node.{key}")) {
                chosen.insert(key)
            } else {
                chosen.remove(&key)
            };
        }
    }
    chosen.retain(|key| lookup(values, &format!("node.{key}")).is_some());
    chosen
}

/// Keys of the node that the scenario's `own` layers set in the node that it names, if their values differ.
fn changed(values: &Map<String, Value>, below: &[Layer], own: &[&Layer]) -> BTreeSet<String> {
    let before = lookup(values, &format!("{ABOUT}.changed")).and_then(Value::as_array).into_iter().flatten();
    let own = own.iter().flat_map(|layer| of_node(layer));
    let own = own.filter(|key| !NO_CHANGE.iter().any(|part| key.split('.').next() == Some(part)));
    let own = own.filter(|key| {
        let key = format!("node.{key}");
        let said = below.iter().rev().find_map(|layer| lookup(&layer.values, &key));
        said.map_or_else(|| !lookup(values, &key).is_some_and(is_nothing), |said| lookup(values, &key) != Some(said))
    });
    before.filter_map(Value::as_str).map(str::to_owned).chain(own).collect()
}

/// Whether a value is 0 of something, or false: a node leaves such values out.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with('0') && !text.contains(|letter| matches!(letter, '1'..='9')),
        other => other.as_f64() == Some(0.0) || other == &Value::Bool(false),
    }
}

/// Keys of the values that a layer gives below the node.
fn of_node(layer: &Layer) -> Vec<String> {
    layer.values.get("node").and_then(Value::as_object).map_or_else(Vec::new, |node| leaves("", node))
}
