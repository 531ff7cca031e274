//! What results on a node are worth: what they were compared with, and which of its values no source gives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is said of a node beside its results. It decides nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AboutConfig {
    /// What results call it: the preset's name, or what a file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What results on it were compared with; left out if with nothing. A node that extends it does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<String>,
    /// Where the comparison is: a page and its heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub see: Option<String>,
    /// What the real machine has, decides results, and is not simulated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_modelled: Vec<String>,
    /// Keys of the node whose values no source gives, as the comments `[chosen]` of presets and files say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Keys that the scenario itself gives beside the node that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}
