//! Writes slices, arrows and counters as a native Perfetto trace, one packet after another.

use std::io::{self, Write};

use prost::Message;

use crate::observe::spans::packet::{
    Annotation, BEGIN, BY_RANK, COUNTER, Counter, END, Interned, NEEDS_STATE, Name, Packet, STATE_CLEARED, Trace,
    Track, TrackEvent,
};

/// All packets are of one writer.
const SEQUENCE: u32 = 1;
const PICOSECONDS: u64 = 1000;

/// Names of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Word {
    ReadFault,
    WriteFault,
    Service,
    CounterService,
    Batch,
    Wake,
    Metadata,
    Message,
    Drain,
    Invalidate,
    Protect,
    Copy,
    Map,
    Coalesce,
    Splinter,
    Compact,
    Migration,
    RemoteMap,
    Duplication,
    WriteCollapse,
    Eviction,
    Prefetch,
    Populate,
    WriteBack,
    Staging,
}

impl Word {
    const NAMES: [&str; 25] = [
        "read fault",
        "write fault",
        "service",
        "counter service",
        "batch",
        "wake",
        "metadata",
        "message",
        "drain",
        "invalidate",
        "protect",
        "copy",
        "map",
        "coalesce",
        "splinter",
        "compact",
        "migration",
        "remote map",
        "duplication",
        "write collapse",
        "eviction",
        "prefetch",
        "populate",
        "write-back",
        "staging",
    ];
}

/// Annotations of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Note {
    /// The beginning and the end of the slice, to the picosecond.
    BeganPs,
    EndedPs,
    Address,
    Pages,
    Bytes,
    Requests,
}

impl Note {
    const NAMES: [&str; 6] = ["began_ps", "ended_ps", "address", "pages", "bytes", "requests"];
}

pub(crate) type Notes<'a> = &'a [(Note, u64)];

/// A trace that is being written. The first error is kept, and nothing more is written after it.
pub(crate) struct Writer<'a> {
    out: &'a mut dyn Write,
    failed: Option<io::Error>,
    tracks: u64,
    /// The end of the last slice.
    latest: u64,
    buffer: Vec<u8>,
}

impl<'a> Writer<'a> {
    pub fn new(out: &'a mut dyn Write) -> Self {
        let mut writer = Self { out, failed: None, tracks: 0, latest: 0, buffer: Vec::new() };
        let interned = Interned { events: numbered(&Word::NAMES), annotations: numbered(&Note::NAMES) };
        writer.packet(Packet { interned: Some(interned), sequence_flags: STATE_CLEARED, ..Packet::default() });
        writer
    }

    /// The error, if any.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }

    /// A track of slices, or one that only holds other tracks; its number.
    pub fn track(&mut self, parent: Option<u64>, name: &str) -> u64 {
        self.describe(parent, name, None)
    }

    /// A track of a counter; its number.
    pub fn counter(&mut self, parent: u64, name: &str, unit: u32, unit_name: &str) -> u64 {
        self.describe(Some(parent), name, Some(Counter { unit, unit_name: unit_name.to_owned() }))
    }

    fn describe(&mut self, parent: Option<u64>, name: &str, counter: Option<Counter>) -> u64 {
        self.tracks += 1;
        let (uuid, rank) = (self.tracks, self.tracks as i32);
        let track = Track { uuid, name: name.to_owned(), parent, counter, child_ordering: BY_RANK, rank: Some(rank) };
        self.packet(Packet { track: Some(track), ..Packet::default() });
        uuid
    }

    /// A slice from beginning to end.
    pub fn slice(&mut self, track: u64, word: Word, (began, ended): (u64, u64), notes: Notes<'_>, flows: &[u64]) {
        self.begin(track, word, began, notes, flows);
        self.end(track, ended);
    }

    /// A slice with a separate name, from beginning to end.
    pub fn named(&mut self, track: u64, name: &str, (began, ended): (u64, u64)) {
        let mut event = event(track, BEGIN, &[(Note::BeganPs, began)]);
        event.name = Some(name.to_owned());
        self.event(began, event);
        self.end(track, ended);
    }

    /// A slice begins; arrows lead to it from the slices before with the same flows.
    pub fn begin(&mut self, track: u64, word: Word, time: u64, notes: Notes<'_>, flows: &[u64]) {
        let mut event = event(track, BEGIN, &[(Note::BeganPs, time)]);
        event.annotations.extend(notes.iter().copied().map(annotation));
        event.name_number = Some(word as u64 + 1);
        event.flows.extend_from_slice(flows);
        self.event(time, event);
    }

    /// A slice that is the last of a flow, from beginning to end.
    pub fn last_of_flow(&mut self, track: u64, word: Word, (began, ended): (u64, u64), flow: u64) {
        let mut event = event(track, BEGIN, &[(Note::BeganPs, began)]);
        event.name_number = Some(word as u64 + 1);
        event.last_of_flows.push(flow);
        self.event(began, event);
        self.end(track, ended);
    }

    /// The innermost open slice ends, and the run with it: not before any slice inside it.
    pub fn end_with_run(&mut self, track: u64, time: u64) {
        self.end(track, self.latest.max(time));
    }

    /// The innermost open slice ends.
    pub fn end(&mut self, track: u64, time: u64) {
        self.latest = self.latest.max(time);
        self.event(time, event(track, END, &[(Note::EndedPs, time)]));
    }

    /// A counter has this value from `time` on.
    pub fn count(&mut self, track: u64, time: u64, value: u64) {
        let mut event = event(track, COUNTER, &[]);
        event.counter_value = Some(value.cast_signed());
        self.event(time, event);
    }

    /// The same for fractions.
    pub fn rate(&mut self, track: u64, time: u64, value: f64) {
        let mut event = event(track, COUNTER, &[]);
        event.double_counter_value = Some(value);
        self.event(time, event);
    }

    fn event(&mut self, time: u64, event: TrackEvent) {
        let packet = Packet {
            timestamp: Some(time / PICOSECONDS),
            event: Some(event),
            sequence_flags: NEEDS_STATE,
            ..Packet::default()
        };
        self.packet(packet);
    }

    fn packet(&mut self, mut packet: Packet) {
        packet.sequence = SEQUENCE;
        self.buffer.clear();
        Trace { packets: vec![packet] }.encode(&mut self.buffer).expect("a vector grows");
        if self.failed.is_none() {
            self.failed = self.out.write_all(&self.buffer).err();
        }
    }
}

fn event(track: u64, kind: u32, notes: Notes<'_>) -> TrackEvent {
    TrackEvent { track, kind, annotations: notes.iter().copied().map(annotation).collect(), ..TrackEvent::default() }
}

fn annotation((note, value): (Note, u64)) -> Annotation {
    Annotation { name_number: note as u64 + 1, value: Some(value) }
}

/// Numbers of names begin with 1.
fn numbered(names: &[&str]) -> Vec<Name> {
    (1..).zip(names).map(|(number, name)| Name { number, name: (*name).to_owned() }).collect()
}
