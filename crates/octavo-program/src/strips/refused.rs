//! Why a workload has no strips.

use crate::check::ProgramError;

/// Why a workload has no strips.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StripsRefused {
    /// A work-group cannot run alone.
    #[error(
        "launch {launch} (`{kernel}`) cannot be strip-mined: work-group {group} alone reaches {found} bytes of staged \
         buffers in pieces of 64 KiB, expected at most {expected}, which is what GPU memory has beside the buffers that \
         stay there"
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
    /// Buffers share what is staged as one.
    #[error("buffer `{buffer}` begins at {base:#x} and cannot be strip-mined, expected a multiple of 64 KiB")]
    Unaligned {
        /// The first such buffer.
        buffer: String,
        /// Its first byte.
        base: u64,
    },
    /// Finding the strips of so large a program would take hours.
    #[error("{found} bytes of buffers cannot be strip-mined here, expected at most {most}")]
    TooLarge {
        /// Where the last buffer ends.
        found: u64,
        /// What would do.
        most: u64,
    },
    /// There are too many strips for a program to be.
    #[error(
        "launch {launch} (`{kernel}`) cannot be strip-mined: up to it there are more than {most} strips and copies, as \
         its work-groups jump about in buffers that do not fit; expected at most that many"
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
