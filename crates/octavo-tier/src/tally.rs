//! How often the driver was called, and how long that took.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a tier did of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Calls that succeeded.
    pub calls: u64,
    /// Bytes that they were about.
    pub bytes: u64,
    /// Seconds that they took.
    pub seconds: f64,
}

/// Costs by kind.
pub type Costs = BTreeMap<&'static str, Cost>;

/// Adds one.
pub(crate) fn add(costs: &mut Costs, kind: &'static str, bytes: u64, nanoseconds: u64) {
    let cost = costs.entry(kind).or_default();
    cost.calls += 1;
    cost.bytes += bytes;
    cost.seconds += nanoseconds as f64 * 1e-9;
}
