//! The presets that come with Octavo.

use std::sync::LazyLock;

use crate::error::Problem;
use crate::layer::Layer;

/// Names and texts of one kind of preset.
type Presets = &'static [(&'static str, &'static str)];

const NODES: Presets = &[
    ("grit-2gpu", include_str!("../../../presets/nodes/grit-2gpu.toml")),
    ("grit-4gpu", include_str!("../../../presets/nodes/grit-4gpu.toml")),
    ("grit-8gpu", include_str!("../../../presets/nodes/grit-8gpu.toml")),
    ("grit-16gpu", include_str!("../../../presets/nodes/grit-16gpu.toml")),
    ("r9nano", include_str!("../../../presets/nodes/r9nano.toml")),
    ("r9nano-4", include_str!("../../../presets/nodes/r9nano-4.toml")),
    ("cuda-sm60", include_str!("../../../presets/nodes/cuda-sm60.toml")),
    ("cuda-sm70", include_str!("../../../presets/nodes/cuda-sm70.toml")),
    ("cuda-sm80", include_str!("../../../presets/nodes/cuda-sm80.toml")),
    ("cuda-sm90", include_str!("../../../presets/nodes/cuda-sm90.toml")),
    ("mosaic-30sm", include_str!("../../../presets/nodes/mosaic-30sm.toml")),
    ("mosaic-30sm-published-simulator", include_str!("../../../presets/nodes/mosaic-30sm-published-simulator.toml")),
    ("dgx-v100-4", include_str!("../../../presets/nodes/dgx-v100-4.toml")),
    ("hgx-h100-8", include_str!("../../../presets/nodes/hgx-h100-8.toml")),
    ("b200-8", include_str!("../../../presets/nodes/b200-8.toml")),
    ("h200-nvl", include_str!("../../../presets/nodes/h200-nvl.toml")),
    ("gh200", include_str!("../../../presets/nodes/gh200.toml")),
    ("gh200-numa", include_str!("../../../presets/nodes/gh200-numa.toml")),
    ("gh200-cdmm", include_str!("../../../presets/nodes/gh200-cdmm.toml")),
    ("gb200", include_str!("../../../presets/nodes/gb200.toml")),
    ("gb200-nvl72", include_str!("../../../presets/nodes/gb200-nvl72.toml")),
    ("gb300", include_str!("../../../presets/nodes/gb300.toml")),
    ("gb10", include_str!("../../../presets/nodes/gb10.toml")),
    ("x86-h100-hmm", include_str!("../../../presets/nodes/x86-h100-hmm.toml")),
    ("mi300a", include_str!("../../../presets/nodes/mi300a.toml")),
    ("mi300a-4", include_str!("../../../presets/nodes/mi300a-4.toml")),
    ("strix-halo", include_str!("../../../presets/nodes/strix-halo.toml")),
    ("x86-p100-pcie3", include_str!("../../../presets/nodes/x86-p100-pcie3.toml")),
    ("power8-p100", include_str!("../../../presets/nodes/power8-p100.toml")),
    ("gtx1080ti-uvmsmart", include_str!("../../../presets/nodes/gtx1080ti-uvmsmart.toml")),
];
const DRIVERS: Presets = &[
    ("paper", include_str!("../../../presets/drivers/paper.toml")),
    ("hardware", include_str!("../../../presets/drivers/hardware.toml")),
    ("stock-driver", include_str!("../../../presets/drivers/stock-driver.toml")),
    ("uvmsmart", include_str!("../../../presets/drivers/uvmsmart.toml")),
    ("demand-paging", include_str!("../../../presets/drivers/demand-paging.toml")),
];
const HOSTS: Presets = &[
    (DEFAULT_HOST, include_str!("../../../presets/hosts/x86-server.toml")),
    ("grace", include_str!("../../../presets/hosts/grace.toml")),
    ("gb10", include_str!("../../../presets/hosts/gb10.toml")),
    ("mi300a", include_str!("../../../presets/hosts/mi300a.toml")),
    ("strix-halo", include_str!("../../../presets/hosts/strix-halo.toml")),
    ("power8", include_str!("../../../presets/hosts/power8.toml")),
];
const MEMORIES: Presets = &[
    ("plain", include_str!("../../../presets/memory/plain.toml")),
    ("stock-driver", include_str!("../../../presets/memory/stock-driver.toml")),
    ("uvmsmart", include_str!("../../../presets/memory/uvmsmart.toml")),
    ("grace-hopper", include_str!("../../../presets/memory/grace-hopper.toml")),
    ("one-memory", include_str!("../../../presets/memory/one-memory.toml")),
];
/// The node of a scenario that names none, as on the command line.
pub(crate) const DEFAULT_NODE: &str = "grit-4gpu";
/// The host of a node that names none.
pub(crate) const DEFAULT_HOST: &str = "x86-server";
const DEFAULTS: &str = include_str!("../../../presets/defaults.toml");
const INSTANT: &str = include_str!("../../../presets/instant.toml");

/// Names of the node presets.
pub fn node_names() -> impl Iterator<Item = &'static str> {
    NODES.iter().map(|(name, _)| *name)
}

/// Names of the driver presets.
pub fn driver_names() -> impl Iterator<Item = &'static str> {
    DRIVERS.iter().map(|(name, _)| *name)
}

/// Names of the host presets.
pub fn host_names() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().map(|(name, _)| *name)
}

/// Names of the memory presets.
pub fn memory_names() -> impl Iterator<Item = &'static str> {
    MEMORIES.iter().map(|(name, _)| *name)
}

/// Text of a node preset, with the sources of its numbers as comments.
#[must_use]
pub fn node_text(name: &str) -> Option<&'static str> {
    find(NODES, name)
}

/// Text of a memory preset, with the sources of its choices as comments.
#[must_use]
pub fn memory_text(name: &str) -> Option<&'static str> {
    find(MEMORIES, name)
}

/// The defaults of a scenario.
pub(crate) fn defaults() -> Layer {
    static READ: LazyLock<Layer> = LazyLock::new(|| embedded("defaults", DEFAULTS));
    READ.clone()
}

/// The different defaults of a scenario without time.
pub(crate) fn instant() -> Layer {
    embedded("defaults of executor.kind `instant`", INSTANT)
}

/// A node preset, below `node`, including what it extends.
pub(crate) fn node(name: &str) -> Option<Layer> {
    Some(embedded(&format!("preset {name}"), node_text(name)?).below("node"))
}

/// A driver preset, below `node.driver`.
pub(crate) fn driver(name: &str) -> Result<Layer, Problem> {
    let text = find(DRIVERS, name).ok_or_else(|| unknown("node.driver.preset", name, DRIVERS))?;
    Ok(embedded(&format!("driver preset {name}"), text).below("node.driver"))
}

/// A host preset, below `node.host`.
pub(crate) fn host(name: &str) -> Result<Layer, Problem> {
    let text = find(HOSTS, name).ok_or_else(|| unknown("node.host.preset", name, HOSTS))?;
    Ok(embedded(&format!("host preset {name}"), text).below("node.host"))
}

/// A memory preset, below `memory`.
pub(crate) fn memory(name: &str) -> Result<Layer, Problem> {
    let text = memory_text(name).ok_or_else(|| unknown("memory.preset", name, MEMORIES))?;
    Ok(embedded(&format!("memory preset {name}"), text).below("memory"))
}

fn find(presets: Presets, name: &str) -> Option<&'static str> {
    presets.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn embedded(source: &str, text: &str) -> Layer {
    Layer::parse(source, text).expect("presets are valid TOML")
}

fn unknown(key: &str, name: &str, presets: Presets) -> Problem {
    let known: Vec<&str> = presets.iter().map(|(known, _)| *known).collect();
    let message = format!("unknown preset `{name}`, expected one of {}", known.join(", "));
    Problem::new(key, message).meant(name, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_node_says_where_it_comes_from() {
        for (name, text) in NODES.iter().chain(DRIVERS).chain(HOSTS).chain(MEMORIES) {
            for line in text.lines().filter(|line| line.starts_with(char::is_alphabetic)) {
                let silent = ["extends", "preset", "model", "compared", "see", "not_modelled"]
                    .iter()
                    .any(|key| line.starts_with(key));
                assert!(silent || line.contains("# ["), "{name}: no source: {line}");
            }
        }
    }
}
