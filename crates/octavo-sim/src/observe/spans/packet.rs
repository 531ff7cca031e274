//! The part of Perfetto's trace format that a timeline needs: messages and field numbers of `TracePacket`.
//!
//! Source: <https://perfetto.dev/docs/reference/trace-packet-proto>. A trace is a sequence of packets, each behind its
//! field number (1) and length.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Packet {
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// The writer of the packet; names are interned for each writer.
    #[prost(uint32, tag = "10")]
    pub sequence: u32,
    #[prost(message, optional, tag = "11")]
    pub event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub interned: Option<Interned>,
    #[prost(uint32, tag = "13")]
    pub sequence_flags: u32,
    #[prost(message, optional, tag = "60")]
    pub track: Option<Track>,
}

/// Names are interned from here on.
pub(super) const STATE_CLEARED: u32 = 1;
/// Interned names are used.
pub(super) const NEEDS_STATE: u32 = 2;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Track {
    #[prost(uint64, tag = "1")]
    pub uuid: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(uint64, optional, tag = "5")]
    pub parent: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub counter: Option<Counter>,
    #[prost(uint32, tag = "11")]
    pub child_ordering: u32,
    #[prost(int32, optional, tag = "12")]
    pub rank: Option<i32>,
}

/// Children of a track are ordered by their ranks.
pub(super) const BY_RANK: u32 = 3;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Counter {
    #[prost(uint32, tag = "3")]
    pub unit: u32,
    #[prost(string, tag = "6")]
    pub unit_name: String,
}

/// The unit has a separate name.
pub(super) const NAMED_UNIT: u32 = 0;
/// Bytes.
pub(super) const BYTES: u32 = 3;

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub annotations: Vec<Annotation>,
    #[prost(uint32, tag = "9")]
    pub kind: u32,
    #[prost(uint64, optional, tag = "10")]
    pub name_number: Option<u64>,
    #[prost(uint64, tag = "11")]
    pub track: u64,
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    #[prost(double, optional, tag = "44")]
    pub double_counter_value: Option<f64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flows: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub last_of_flows: Vec<u64>,
}

/// A slice begins.
pub(super) const BEGIN: u32 = 1;
/// The innermost open slice of the track ends.
pub(super) const END: u32 = 2;
/// A counter has a value from now on.
pub(super) const COUNTER: u32 = 4;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Annotation {
    #[prost(uint64, tag = "1")]
    pub name_number: u64,
    #[prost(uint64, optional, tag = "3")]
    pub value: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Interned {
    #[prost(message, repeated, tag = "2")]
    pub events: Vec<Name>,
    #[prost(message, repeated, tag = "3")]
    pub annotations: Vec<Name>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Name {
    #[prost(uint64, tag = "1")]
    pub number: u64,
    #[prost(string, tag = "2")]
    pub name: String,
}

/// A packet in the format of a trace.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub packets: Vec<Packet>,
}
