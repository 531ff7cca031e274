//! The layers of a node: presets, and files that the caller reads.

use octavo_registry::one_of;
use serde_json::{Value, json};

use crate::error::Problem;
use crate::layer::{Layer, lookup, take};
use crate::{Origin, ScenarioError, presets};

/// Reads the file at a place. Takes the place as written, and the name of the file that it was written in (none for an
/// override). Gives the file's name, for messages, and its text, or says why it cannot.
pub type Reader<'a> = dyn Fn(&str, Option<&str>) -> Result<(String, String), String> + 'a;

/// Keys of a node that name the nodes that it extends.
const BASES: [&str; 2] = ["extends", "preset"];
/// Files that extend one another: a circle that names its files differently each time round ends here.
const MAX_DEPTH: usize = 16;
/// Keys that say something of one node, and nothing of those that extend it.
const OF_ONE_NODE: [&str; 3] = ["node.about.name", "node.about.compared", "node.about.see"];
const EXPECTED: &str = "a TOML file that holds a node, such as machine.toml";

/// Whether `name` says where a file lies, as no preset's name does.
pub(crate) fn is_file(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(['/', std::path::MAIN_SEPARATOR])
}

/// Where the name of a node was written.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The dotted key.
    pub key: String,
    /// Where it stands.
    pub origin: Origin,
    /// The file that it stands in, if it is one.
    pub file: Option<String>,
}

impl Named {
    fn refuse(&self, message: impl Into<String>) -> ScenarioError {
        Problem::found_below(&self.key, "", &message.into()).at(self.origin.clone())
    }
}

/// The layers of the node `name`, from the node that it extends to itself, below `node`.
pub(crate) fn layers(name: &str, named: &Named, read: &Reader<'_>) -> Result<Vec<Layer>, ScenarioError> {
    above(name, named, read, &mut Vec::new())
}

/// The layers of the node that a scenario has which says nothing of one.
pub(crate) fn of_default() -> Vec<Layer> {
    presets::node(presets::DEFAULT_NODE).map(|layer| called(layer, presets::DEFAULT_NODE)).into_iter().collect()
}

/// Like [`layers`]; `open` are the files that extend this one, outermost first.
fn above(name: &str, named: &Named, read: &Reader<'_>, open: &mut Vec<String>) -> Result<Vec<Layer>, ScenarioError> {
    let mut layer = if is_file(name) { file(name, named, read, open)? } else { preset(name, named)? };
    let mut layers = match base(&mut layer)? {
        Some((base, named)) => above(&base, &named, read, open)?,
        None => Vec::new(),
    };
    // What was compared, and is called so, is the node below alone.
    for key in OF_ONE_NODE {
        layers.iter_mut().for_each(|layer| drop(layer.take(key)));
    }
    layers.push(layer);
    Ok(layers)
}

fn preset(name: &str, named: &Named) -> Result<Layer, ScenarioError> {
    let known = || presets::node_names();
    presets::node(name).map(|layer| called(layer, name)).ok_or_else(|| {
        let names: Vec<&str> = known().collect();
        let expected = one_of(name, &names, "octavo list nodes");
        let message = format!("unknown preset `{name}`, expected {expected}, or {EXPECTED}");
        Problem::new(&named.key, message).meant(name, known()).at(named.origin.clone())
    })
}

/// The layer of a preset, with its name for results.
fn called(mut layer: Layer, name: &str) -> Layer {
    if let Some(node) = layer.values.get_mut("node").and_then(Value::as_object_mut) {
        let about = node.entry("about").or_insert_with(|| json!({}));
        about["name"] = name.into();
    }
    layer
}

/// From a file, only the table `[node]`: it may also contain a scenario, or measured values.
fn file(place: &str, named: &Named, read: &Reader<'_>, open: &mut Vec<String>) -> Result<Layer, ScenarioError> {
    let (name, text) = read(place, named.file.as_deref()).map_err(|reason| named.refuse(reason))?;
    if open.contains(&name) {
        return Err(named.refuse(format!("a node cannot extend itself: {} -> {name}", open.join(" -> "))));
    }
    if open.len() == MAX_DEPTH {
        return Err(named.refuse(format!("expected at most {MAX_DEPTH} files that extend one another")));
    }
    open.push(name.clone());
    Layer::part(&name, &text, "node")
}

/// Removes from a layer the names of the nodes that it extends.
fn base(layer: &mut Layer) -> Result<Option<(String, Named)>, ScenarioError> {
    let said = BASES.map(|key| format!("node.{key}")).into_iter().find(|key| lookup(&layer.values, key).is_some());
    let Some(key) = said else { return Ok(None) };
    let origin = Origin { source: layer.source.clone(), line: layer.lines.get(&key).copied() };
    match take(&mut layer.values, &key) {
        Some(Value::String(base)) => {
            let file = layer.file.then(|| layer.source.clone());
            Ok(Some((base, Named { key, origin, file })))
        }
        other => {
            let found = other.unwrap_or_default();
            Err(Problem::mismatch(key, format!("the name of a preset, or {EXPECTED}"), found).at(origin))
        }
    }
}
