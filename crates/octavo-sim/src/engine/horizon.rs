//! How far ahead of the clock the node is booked.

/// How far ahead of the clock reservations are made; work further ahead waits for an event.
pub(crate) const RESERVED_AHEAD: u64 = 2_000_000;
