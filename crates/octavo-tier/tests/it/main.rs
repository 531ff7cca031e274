//! Tests of the tier on the stand-in.

mod failing;
mod tiers;

use octavo_tier::{Settings, StandIn, Tier};

/// Bytes of a piece in these tests: a page of the kernel's.
pub const PIECE: u64 = 4096;

/// A tier with this many pieces on each device and on the host, and its driver.
pub fn tier(devices: &[u64], host: u64, mapped: bool) -> (Tier, StandIn) {
    let (driver, settings) = parts(devices, host, mapped);
    (Tier::over(Box::new(driver.clone()), &settings).unwrap(), driver)
}

/// The driver has room for more than the tier takes.
pub fn parts(devices: &[u64], host: u64, mapped: bool) -> (StandIn, Settings) {
    let sizes = |pieces: &[u64]| pieces.iter().map(|count| format!("{}B", count * PIECE)).collect::<Vec<_>>().join(",");
    let numbers = (0..devices.len()).map(|device| device.to_string()).collect::<Vec<_>>().join(",");
    let mapped = if mapped { "yes" } else { "no" };
    let (memory, host) = (sizes(devices), sizes(&[host]));
    let text = format!("devices={numbers} memory={memory} host={host} piece=4KiB mapped={mapped}");
    (StandIn::new(devices.len(), 64 * PIECE, PIECE).unwrap(), Settings::read(&text).unwrap())
}

/// Bytes that no two pieces have alike.
pub fn content(seed: u64, bytes: u64) -> Vec<u8> {
    (0..bytes).map(|at| ((at + 1).wrapping_mul(seed * 2 + 0x9e37_79b9) >> 11) as u8).collect()
}
