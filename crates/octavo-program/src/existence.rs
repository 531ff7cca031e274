//! When the memory of a program exists of which only the launches run, and when its data arrive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When pages get their frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Frames {
    /// Page by page, when they are touched first or brought.
    #[default]
    Touch,
    /// All at once, when the program allocates them.
    Allocation,
}

/// When the data of pages arrive in the GPU's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    /// By faults.
    #[default]
    Fault,
    /// All at once, over the bus, before the first launch.
    Launch,
    /// They are there from allocation on, at no cost.
    Allocation,
}

/// Both, for all buffers of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Existence {
    /// When its pages get their frames.
    pub frames: Frames,
    /// When their data arrive.
    pub data: Data,
}
