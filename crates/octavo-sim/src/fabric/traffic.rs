//! Purposes of the bytes on links.

use octavo_manager::Cause;

/// The purpose of bytes on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Traffic {
    /// Cache lines read or written remotely, with their requests, and stores sent on to replicas.
    Lines,
    /// Pages that move.
    Migration,
    /// Pages that are replicated: for readers, as copies on the host of pages that another GPU keeps, and in the idle
    /// memory of another GPU, to be fetched from there.
    Duplication,
    /// Pages that move because a write removed their replicas.
    WriteCollapse,
    /// Pages written back to make room.
    Eviction,
    /// Pages brought ahead of need.
    Prefetch,
    /// Faults, notifications, reports and their answers.
    Control,
    /// Copies by a program.
    Copies,
}

impl Traffic {
    pub const COUNT: usize = 8;
    pub const NAMES: [&str; Self::COUNT] =
        ["lines", "migration", "duplication", "write_collapse", "eviction", "prefetch", "control", "copies"];

    pub const fn of(cause: Cause) -> Self {
        match cause {
            Cause::Migration | Cause::RemoteMap => Self::Migration,
            Cause::Duplication | Cause::WriteBack | Cause::Staging => Self::Duplication,
            Cause::WriteCollapse => Self::WriteCollapse,
            Cause::Eviction => Self::Eviction,
            Cause::Prefetch => Self::Prefetch,
        }
    }
}
