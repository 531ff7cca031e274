//! Errors.

use octavo_gpu::GpuError;

/// Why a tier does not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TierError {
    /// The driver, or that there is none.
    #[error(transparent)]
    Driver(#[from] GpuError),
    /// A setting that cannot be used.
    #[error("{key}: expected {expected}, found {found}")]
    Setting {
        /// Which.
        key: &'static str,
        /// What can be used.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A buffer, or an address, that is not there.
    #[error("no buffer {0}: it was freed, or is not this tier's")]
    UnknownBuffer(String),
    /// A device that is not the tier's.
    #[error("no device {asked}: the tier has {found:?}")]
    UnknownDevice {
        /// The requested number.
        asked: usize,
        /// Those of the tier.
        found: Vec<usize>,
    },
    /// Bytes outside a buffer.
    #[error("bytes {from} to {to} of `{name}`, which has {bytes}")]
    Outside {
        /// The buffer.
        name: String,
        /// The first.
        from: u64,
        /// Behind the last.
        to: u64,
        /// How many there are.
        bytes: u64,
    },
    /// What a launch uses is more than a device has room for.
    #[error("the launch uses {needed} pieces on device {device}, which has room for {room}: {largest}")]
    NoRoomForLaunch {
        /// Where it should run.
        device: usize,
        /// Pieces of its buffers.
        needed: u64,
        /// Pieces of the device.
        room: u64,
        /// Buffers and their pieces, the largest first.
        largest: String,
    },
    /// A buffer is more than the host could take when devices yield.
    #[error(
        "`{name}` has {needed} pieces, and the host has room for {room} more: all must fit there when devices yield"
    )]
    NoRoomOnHost {
        /// The buffer.
        name: String,
        /// Its pieces.
        needed: u64,
        /// Pieces of the host that nothing will need.
        room: u64,
    },
    /// Some of a device's memory could not be given back.
    #[error("device {device} still holds {held} pieces, {kept} were to stay: {why}; yield again")]
    NotYielded {
        /// Which.
        device: usize,
        /// What it holds.
        held: u64,
        /// What it should hold.
        kept: u64,
        /// What the driver said.
        why: String,
    },
    /// Pieces did not come to a device, though there is room.
    #[error("`{name}` is not on device {device}: {why}")]
    NotThere {
        /// The buffer.
        name: String,
        /// Where it should be.
        device: usize,
        /// What the driver said.
        why: String,
    },
    /// The tier gave everything back.
    #[error("the tier is closed")]
    Closed,
    /// The driver refused so long that nothing moves any more.
    #[error("the tier stopped: {0}; contents can still be read")]
    Stopped(String),
}
