//! What a resolved scenario says of its node: whose values no source gives, and which of them are the scenario's own.

use std::collections::BTreeSet;

use octavo_node::NodeConfig;
use serde_json::{Map, Value, json};

use crate::layer::{Layer, leaves, lookup};
use crate::resolve::spells_out_node;

const ABOUT: &str = "node.about";
/// Below the node: what names it or speaks of it, and changes nothing.
const NO_CHANGE: [&str; 2] = ["about", "preset"];

/// Writes it into the values of all `layers`, of which the last are those that are `written` in the scenario.
pub(crate) fn spell_out(values: &mut Map<String, Value>, layers: &[Layer], written: &[Layer]) {
    let chosen = chosen(layers, values);
    let is_known = ["name", "compared"].iter().any(|key| lookup(values, &format!("{ABOUT}.{key}")).is_some());
    let changed = if is_known { changed(values, written) } else { BTreeSet::new() };
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

/// Takes from what is chosen the values that a spelled-out scenario leaves out, as they are the defaults.
pub(crate) fn leave_out_defaults(node: &mut NodeConfig) {
    let values = serde_json::to_value(&*node).unwrap_or_default();
    let (Some(about), Some(values)) = (&mut node.about, values.as_object()) else { return };
    about.chosen.retain(|key| lookup(values, key).is_some());
}

/// Keys of the node whose values come from layers that say that no source gives them.
fn chosen(layers: &[Layer], values: &Map<String, Value>) -> BTreeSet<String> {
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

/// Keys of the node that the scenario gives beside the node that it names.
fn changed(values: &Map<String, Value>, written: &[Layer]) -> BTreeSet<String> {
    let before = lookup(values, &format!("{ABOUT}.changed")).and_then(Value::as_array).into_iter().flatten();
    let own = written.iter().filter(|layer| !spells_out_node(layer)).flat_map(of_node);
    let own = own.filter(|key| !NO_CHANGE.iter().any(|part| key.split('.').next() == Some(part)));
    before.filter_map(Value::as_str).map(str::to_owned).chain(own).collect()
}

/// Keys of the values that a layer gives below the node.
fn of_node(layer: &Layer) -> Vec<String> {
    layer.values.get("node").and_then(Value::as_object).map_or_else(Vec::new, |node| leaves("", node))
}
