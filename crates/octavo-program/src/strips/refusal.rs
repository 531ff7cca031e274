//! Why a workload has no strips.

use crate::check::ProgramError;

/// Why a workload has no strips.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StripsRefused {
    /// A work-group cannot run alone.
    #[error(
        "launch {launch} (`{kernel}`) cannot be strip-mined: work-group {group} alone reaches {found} bytes in pieces of \
         64 KiB, expected at most {expected}, as much as GPU memory has for a strip"
    )]
    GroupTooLarge {
        /// Which launch.
        launch: u32,
        /// Its kernel.
        kernel: String,
        /// The first such work-group.
        group: u32,
        /// What it reaches.
        found: u64,
        /// What would fit.
        expected: u64,
    },
    /// Buffers share a unit of staging.
    #[error("buffer `{buffer}` begins at {base:#x} and cannot be strip-mined, expected a multiple of 64 KiB")]
    Unaligned {
        /// The first such buffer.
        buffer: String,
        /// Its first byte.
        base: u64,
    },
    /// The buffers have more lines than can be numbered.
    #[error("buffers up to byte {found} cannot be strip-mined, expected at most {most}")]
    TooLarge {
        /// Where the last buffer ends.
        found: u64,
        /// What would do.
        most: u64,
    },
    /// GPU memory holds no piece.
    #[error("GPU memory of {found} bytes is too small for strips, expected at least 64 KiB")]
    NoRoom {
        /// What there is.
        found: u64,
    },
    /// Strips are found by looking at all accesses, and there are too many.
    #[error(
        "the strips of so long a program are not looked for: launches 0 to {launch} (`{kernel}`) have more than {most} \
         operations, expected at most that many; fewer launches or a smaller `workload.scale` have fewer"
    )]
    TooMuchWork {
        /// The launch with which there are too many.
        launch: u32,
        /// Its kernel.
        kernel: String,
        /// What would do.
        most: u64,
    },
    /// The caller no longer wants them.
    #[error("the search for strips was stopped")]
    Stopped,
    /// There are too many strips for a program.
    #[error(
        "launches 0 to {launch} (`{kernel}`) need more than {most} strips and copies, expected at most that many: \
         work-groups jump about in buffers that do not fit"
    )]
    TooMany {
        /// The launch with which there are too many.
        launch: u32,
        /// Its kernel.
        kernel: String,
        /// What would do.
        most: usize,
    },
    /// The program around them cannot be.
    #[error(transparent)]
    Program(#[from] ProgramError),
}
