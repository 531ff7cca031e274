//! Kinds of memory that a program can request, and its advice about their use.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::ids::MemoryId;
use crate::contract::masks::ProcessorMask;

/// What an allocation is. `managed` and `system` memory moves; `device` and `pinned` memory lies where it is from its
/// allocation on, and no access faults on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `cudaMallocManaged`: the chosen memory system decides where its pages live.
    #[default]
    Managed,
    /// `malloc`: the operating system's memory, which GPUs fault on as well.
    System,
    /// `cudaMalloc`: GPU memory.
    Device,
    /// `cudaMallocHost`: host memory that GPUs access where it is.
    Pinned,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Managed, Self::System, Self::Device, Self::Pinned];

    /// The name that users type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::System => "system",
            Self::Device => "device",
            Self::Pinned => "pinned",
        }
    }

    /// Whether the host's cores can touch it.
    #[must_use]
    pub const fn on_host(self) -> bool {
        !matches!(self, Self::Device)
    }

    /// Whether pages stay where they were allocated for as long as they exist: no access faults on them, nothing moves
    /// or evicts them, and every processor that reaches them maps them from the beginning.
    #[must_use]
    pub const fn stays(self) -> bool {
        matches!(self, Self::Device | Self::Pinned)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How device memory is spread over GPUs if the program names no GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Page by page, or by 2 MiB under `whole-blocks`, in turn: an allocation continues where the one before it ended.
    #[default]
    Interleaved,
    /// In equal contiguous parts, the first on the first GPU.
    Split,
}

impl Spread {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Interleaved, Self::Split];

    /// The name that users type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interleaved => "interleaved",
            Self::Split => "split",
        }
    }
}

/// A program's hint about managed memory (`cudaMemAdvise`). The default says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Advice {
    /// The memory where the pages should be.
    pub preferred: Option<MemoryId>,
    /// Processors that should be able to access the pages without a fault, wherever they are.
    pub accessed_by: ProcessorMask,
    /// Whether the pages are mostly read, so that every reader should have a copy.
    pub read_mostly: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_can_touch_all_but_device_memory() {
        let touched = Kind::ALL.into_iter().filter(|kind| kind.on_host());
        assert_eq!(touched.collect::<Vec<_>>(), [Kind::Managed, Kind::System, Kind::Pinned]);
    }

    #[test]
    fn a_kind_is_written_as_users_type_it() {
        assert_eq!(Kind::ALL.map(|kind| kind.to_string()), ["managed", "system", "device", "pinned"]);
    }
}
