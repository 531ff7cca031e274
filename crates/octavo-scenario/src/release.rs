//! The values that the release of the driver selects, if nothing else does.

use octavo_node::{GpuMemory, Release};
use serde_json::{Map, Value};

use crate::layer::{Layer, RELEASE, lookup};

/// Spells out values that changed with releases of the driver and are not set. A release that is none is refused later.
pub(crate) fn spell_out(scenario: &mut Map<String, Value>) {
    write_as_text(scenario);
    let said = lookup(scenario, RELEASE).and_then(Value::as_str).map(str::to_owned);
    let Some(release) = said.and_then(|text| Release::try_from(text).ok()) else { return };
    if let Some(alone) = release.manages_alone() {
        let memory = if alone { GpuMemory::Cdmm } else { GpuMemory::Numa };
        fill(scenario, &["node", "coherence"], "gpu_memory", serde_json::json!(memory));
    }
    if let Some(discards) = release.discards() {
        fill(scenario, &["node", "driver"], "discard", discards.into());
    }
    let guard = lookup(scenario, "memory.guard.name").and_then(Value::as_str);
    if let Some(adapts) = release.adapts_lapse().filter(|_| guard == Some("stock-driver")) {
        fill(scenario, &["memory", "guard"], "adaptive_lapse", adapts.into());
    }
}

/// Keys that a release selects.
const SELECTED: [&str; 3] = ["node.driver.discard", "node.coherence.gpu_memory", "memory.guard.adaptive_lapse"];

/// Lets a release that a later layer names select values again that an earlier layer with a release of its own spells
/// out.
pub(crate) fn replace_selected(written: &mut [Layer]) {
    let says = |layer: &Layer| lookup(&layer.values, RELEASE).is_some();
    let Some(last) = written.iter().rposition(says) else { return };
    for layer in written[..last].iter_mut().filter(|layer| says(layer)) {
        SELECTED.iter().for_each(|key| drop(layer.take(key)));
    }
}

/// A branch alone is a number in TOML.
fn write_as_text(scenario: &mut Map<String, Value>) {
    let driver = table(scenario, &["node", "driver"]);
    if let Some(release) = driver.and_then(|driver| driver.get_mut("release")).filter(|release| release.is_u64()) {
        *release = Value::String(release.to_string());
    }
}

fn fill(scenario: &mut Map<String, Value>, path: &[&str], key: &str, value: Value) {
    if let Some(table) = table(scenario, path)
        && !table.contains_key(key)
    {
        table.insert(key.to_owned(), value);
    }
}

fn table<'a>(scenario: &'a mut Map<String, Value>, path: &[&str]) -> Option<&'a mut Map<String, Value>> {
    path.iter().try_fold(scenario, |table, name| table.get_mut(*name)?.as_object_mut())
}
