//! One row of `actions.parquet`.

use octavo_manager::{Kind, Spread};

/// Stands for no processor.
pub const NOBODY: u8 = u8::MAX;

/// The kind of an allocation of a whole program: the columns `kind` and `spread` of `allocations.parquet`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// What it is.
    pub kind: Kind,
    /// Its distribution over several GPUs, if it is device memory for which the program names no GPU.
    pub spread: Spread,
}

/// What an action does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActionKind {
    /// An allocation comes into being.
    Allocate,
    /// The host's threads compute.
    Host,
    /// Bytes are copied to, from or within GPU memory.
    Copy,
    /// Pages are brought to the memory of a processor.
    Prefetch,
    /// What is in pages is no longer needed.
    Discard,
    /// Something is said about pages.
    Advise,
    /// A kernel runs.
    Launch,
    /// An allocation is given back.
    Free,
    /// The host waits.
    #[default]
    Synchronise,
}

impl ActionKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Allocate,
        Self::Host,
        Self::Copy,
        Self::Prefetch,
        Self::Discard,
        Self::Advise,
        Self::Launch,
        Self::Free,
        Self::Synchronise,
    ];

    /// The name in the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allocate => "allocate",
            Self::Host => "host",
            Self::Copy => "copy",
            Self::Prefetch => "prefetch",
            Self::Discard => "discard",
            Self::Advise => "advise",
            Self::Launch => "launch",
            Self::Free => "free",
            Self::Synchronise => "synchronise",
        }
    }

    /// The kind that the format spells `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One row of `actions.parquet`; its number is its position. Columns that a kind does not need are 0 or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionRow {
    /// What it does.
    pub kind: ActionKind,
    /// Numbers of the actions it waits for.
    pub after: Vec<u32>,
    /// First byte of the range that is allocated, freed, prefetched, discarded or advised, or of a copy's destination.
    pub address: u64,
    /// How many bytes.
    pub bytes: u64,
    /// First byte of where a copy comes from.
    pub source: u64,
    /// The destination of a prefetch, or the preferred place of advised pages: 0 is the host, GPUs count from 1;
    /// [`NOBODY`] for advice that prefers none.
    pub processor: u8,
    /// The processors that should be able to access advised pages without a fault, ascending.
    pub accessed_by: Vec<u8>,
    /// Whether advised pages are mostly read.
    pub read_mostly: bool,
    /// Number of the launch.
    pub launch: u32,
    /// Rows of the allocations that the launch may touch.
    pub allocations: Vec<u32>,
    /// The name of a phase of the host in tables.
    pub name: String,
    /// Threads of a phase of the host.
    pub threads: u32,
    /// The ranges that they touch, in order.
    pub sweeps: Vec<SweepRow>,
}

/// Accesses of the same width at the same distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepRow {
    /// First byte.
    pub address: u64,
    /// Bytes from the first to the end of the touched range.
    pub bytes: u64,
    /// Whether the accesses are stores; they are loads otherwise.
    pub writes: bool,
    /// Bytes of one access.
    pub width: u64,
    /// Bytes from the beginning of one access to the beginning of the next.
    pub stride: u64,
    /// The only thread that makes them, from 1; 0 for all, in contiguous shares.
    pub thread: u32,
}
