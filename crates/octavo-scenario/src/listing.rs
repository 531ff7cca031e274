//! Names that a scenario can use, for `octavo list`.

use octavo_manager::{ALLOCATORS, DEMOTIONS, EVICTIONS, GUARDS, PLACEMENTS, PREFETCHERS, SHARINGS, SIZINGS};
use octavo_registry::Registry;
use serde_json::{Value, json};

use crate::schema::options;
use crate::{WORKLOADS, presets};

/// Everything that can be named: `nodes`, `drivers`, `hosts`, `memories`, `workloads`, `placements`, `prefetchers`,
/// `evictions`, `demotions`, `sharings`, `guards`, `allocators`, `sizings`; each entry with its name, summary, source,
/// options.
#[must_use]
pub fn listing() -> Value {
    json!({
        "nodes": presets::node_names().map(|name| preset(name, presets::node_text(name))).collect::<Vec<_>>(),
        "drivers": presets::driver_names().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        "hosts": presets::host_names().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        "memories": presets::memory_names().map(|name| preset(name, presets::memory_text(name))).collect::<Vec<_>>(),
        "workloads": entries(&WORKLOADS),
        "placements": entries(&PLACEMENTS),
        "prefetchers": entries(&PREFETCHERS),
        "evictions": entries(&EVICTIONS),
        "demotions": entries(&DEMOTIONS),
        "sharings": entries(&SHARINGS),
        "guards": entries(&GUARDS),
        "allocators": entries(&ALLOCATORS),
        "sizings": entries(&SIZINGS),
    })
}

/// A preset, described by the first line of its file.
fn preset(name: &str, text: Option<&str>) -> Value {
    let text = text.unwrap_or_default();
    let summary = text.lines().next().unwrap_or_default().trim_start_matches("# ");
    json!({ "name": name, "summary": summary, "text": text })
}

fn entries<P, C: ?Sized>(registry: &Registry<P, C>) -> Vec<Value> {
    let entry = |entry: &&octavo_registry::Entry<P, C>| {
        let options: Vec<Value> = options(entry.schema).iter().map(|(name, schema)| option(name, schema)).collect();
        json!({ "name": entry.name, "summary": entry.summary, "source": entry.source, "options": options })
    };
    registry.entries.iter().map(entry).collect()
}

fn option(name: &str, schema: &Value) -> Value {
    // Lines of a doc comment end where the source's do.
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let description = schema.get("description").and_then(Value::as_str).map(one_line);
    json!({ "name": name, "default": schema.get("default").cloned().unwrap_or_default(), "description": description })
}
