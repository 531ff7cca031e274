//! Why a program cannot be.

use std::ops::Range;

use octavo_manager::Kind;

/// Why a program cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// Two buffers share bytes, or are not in the order of their addresses.
    #[error("buffer `{name}` begins at {base:#x}, expected at least {expected:#x}, where the one before it ends")]
    Overlap {
        /// The second of the two.
        name: String,
        /// Its first byte.
        base: u64,
        /// Where the first one ends.
        expected: u64,
    },
    /// One action is wrong.
    #[error("action {action} ({name}): {fault}")]
    Action {
        /// Its place in the list, from zero.
        action: usize,
        /// What it does.
        name: &'static str,
        /// Its problem.
        fault: ActionFault,
    },
    /// Actions wait for each other in a circle.
    #[error(
        "action {action} ({name}) waits for itself, directly or through others; expected an order without a circle"
    )]
    Circle {
        /// The first action of the circle, or behind it.
        action: usize,
        /// What it does.
        name: &'static str,
    },
}

/// The problem of an action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionFault {
    /// An action names a buffer that is not in the list.
    #[error("there is no buffer {found}, expected less than {expected}")]
    NoBuffer {
        /// What it names.
        found: u32,
        /// Number of buffers.
        expected: usize,
    },
    /// An action waits for an action that is not in the list.
    #[error("it waits for action {found}, expected less than {expected}")]
    NoAction {
        /// What it waits for.
        found: u32,
        /// Number of actions.
        expected: usize,
    },
    /// It runs a launch that the workload does not have.
    #[error("there is no launch {found}, expected less than {expected}")]
    NoLaunch {
        /// What it names.
        found: u32,
        /// Launches of the workload.
        expected: u32,
    },
    /// It names no bytes, or bytes beyond the buffer's end.
    #[error("bytes {} to {} of `{name}`, expected at least one of its {bytes}", .found.start, .found.end)]
    NoBytes {
        /// Name of the buffer.
        name: String,
        /// What it names.
        found: Range<u64>,
        /// Size of the buffer.
        bytes: u64,
    },
    /// A copy has more or fewer bytes on one side.
    #[error("{from} bytes are copied to {to}, expected as many")]
    Unequal {
        /// Bytes of the source.
        from: u64,
        /// Bytes of the destination.
        to: u64,
    },
    /// A copy copies bytes onto themselves.
    #[error("bytes of `{name}` are copied onto some of themselves, expected two parts that do not overlap")]
    OntoItself {
        /// Name of the buffer.
        name: String,
    },
    /// Buffers of this kind do not allow this.
    #[error("`{name}` is {kind} memory, expected {expected}")]
    Kind {
        /// Name of the buffer.
        name: String,
        /// What it is.
        kind: Kind,
        /// What would do.
        expected: &'static str,
    },
    /// A phase of the host has no threads, or a sweep names one that it does not have.
    #[error("thread {found} of a phase with {threads} threads")]
    NoThread {
        /// The number that a sweep names, zero for the first.
        found: u32,
        /// Threads of the phase.
        threads: u32,
    },
    /// Accesses of a sweep have no bytes, or begin before the one before has ended.
    #[error("accesses of {width} bytes every {stride}, expected at least one byte, and no more than the distance")]
    Stride {
        /// Bytes of an access.
        width: u64,
        /// Distance between accesses.
        stride: u64,
    },
    /// The buffer is not there when the action runs, or may not be.
    #[error("it does not wait for the allocation of `{name}`")]
    NotAllocated {
        /// Name of the buffer.
        name: String,
    },
    /// The buffer exists already.
    #[error("`{name}` is allocated by action {first} already")]
    AllocatedTwice {
        /// Name of the buffer.
        name: String,
        /// The other allocation.
        first: usize,
    },
    /// The buffer is freed by another action as well.
    #[error("`{name}` is freed by action {first} already")]
    FreedTwice {
        /// Name of the buffer.
        name: String,
        /// The other free.
        first: usize,
    },
    /// The buffer is gone when the action runs, or may be.
    #[error("`{name}` is freed by action {free}, which does not wait for this one")]
    UsedAfterFree {
        /// Name of the buffer.
        name: String,
        /// The action that frees it.
        free: usize,
    },
}
