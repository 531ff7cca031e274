//! Why there is no whole program.

use octavo_program::{ProgramError, StripsRefused};

/// Why there is no whole program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramRefused {
    /// Device memory does not fit the GPUs.
    #[error(
        "`{key}`: {found} bytes of device memory up to `{buffer}`, expected at most {expected}, which `node.capacity` \
         gives all GPUs together"
    )]
    TooLarge {
        /// Key that puts the buffer there.
        key: String,
        /// The first buffer that does not fit.
        buffer: String,
        /// Bytes of device buffers up to its end, in whole pages.
        found: u64,
        /// Bytes of all GPUs' memory.
        expected: u64,
    },
    /// The caller no longer waits for its strips.
    #[error("stopped")]
    Stopped,
    /// A strip of it does not fit either.
    #[error("{too_large}; {reason}")]
    NoStrips {
        /// What does not fit.
        too_large: Box<ProgramRefused>,
        /// Why it has no strips.
        reason: StripsRefused,
    },
    /// The workload is no recording of a whole program.
    #[error("`program.kind`: a whole program was not recorded, expected a trace with actions for `recorded`")]
    NotRecorded,
    /// A recorded program has memory of a kind that the node lacks.
    #[error(
        "`{place}program.kind`: buffer `{buffer}` of the recorded program is memory of the operating system, which GPUs \
         of this node cannot use (`node.system_memory`): expected device, managed or pinned memory, found system"
    )]
    NotOffered {
        /// The beginning of the program's keys.
        place: String,
        /// The first such buffer.
        buffer: String,
    },
    /// A phase of a recorded host has more threads than the host has cores.
    #[error("`node.host.cpu.cores`: phase `{name}` of the recorded program has {threads} threads, found {cores} cores")]
    TooManyThreads {
        /// The phase.
        name: String,
        /// Its threads.
        threads: u32,
        /// Cores of the host.
        cores: u32,
    },
    /// The workload says something of its host that cannot be.
    #[error("`program.kind`: {0}")]
    Program(#[from] ProgramError),
}
