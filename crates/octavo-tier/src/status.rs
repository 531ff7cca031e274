//! Where everything is, and what it cost.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::tally::Costs;

/// The state of a tier, in pieces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Bytes of a piece.
    pub piece: u64,
    /// The devices, in the order in which they were given.
    pub devices: Vec<DeviceStatus>,
    /// The host.
    pub host: HostStatus,
    /// What is allocated, oldest first.
    pub buffers: Vec<BufferStatus>,
    /// Calls of the driver and what they took, by kind.
    pub calls: Costs,
    /// Calls that the driver refused.
    pub refused: u64,
    /// What the manager counted.
    pub counts: Counts,
}

/// A device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceStatus {
    /// Its number.
    pub device: usize,
    /// Pieces that it may hold.
    pub room: u32,
    /// Pieces of memory that the tier has there.
    pub owned: u32,
    /// Pieces that hold something.
    pub held: u32,
}

/// The host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HostStatus {
    /// Pieces of memory.
    pub owned: u32,
    /// Pieces that hold something.
    pub held: u32,
}

/// A buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BufferStatus {
    /// Its number.
    pub buffer: u64,
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its device.
    pub device: usize,
    /// Pieces by where they are: `device 0`, `host`, `nowhere` for those that nobody has used. A piece that a neighbour
    /// keeps is there, and perhaps on the host as well.
    pub pieces: BTreeMap<String, u32>,
    /// Pieces that its device can access now.
    pub mapped: u32,
}

/// What the manager counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Pieces that came to a device that needed them.
    pub came: u64,
    /// Pieces that left for the host.
    pub to_host: u64,
    /// Pieces that left for a neighbour.
    pub to_neighbour: u64,
}
