//! How far results on a node can be trusted: what they were compared with, and which of its values have no source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts about a node that accompany its results. It decides nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AboutConfig {
    /// The name in results: the preset's name, or the one that a file gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What results on it were compared with; left out if with nothing. A node that extends it does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<String>,
    /// Where the comparison is: a page and its heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub see: Option<String>,
    /// Features of the real machine that decide results and are not simulated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_modelled: Vec<String>,
    /// Keys of the node whose values have no source, according to the comments `[chosen]` of presets and files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Keys of the node that the scenario itself changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}
