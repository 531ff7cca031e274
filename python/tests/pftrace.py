"""A Perfetto trace as tables that SQL can ask: `track`, `slice`, `args`, `flow` and `counter`.

Decoded with the protobuf messages of the package `perfetto`. The tables are a part of those that Perfetto's trace
processor makes, under the same names, so that the same questions can be put to both.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

if TYPE_CHECKING:
    from pathlib import Path

BEGIN, END, COUNTER = (getattr(perfetto.TrackEvent, f"TYPE_{name}") for name in ("SLICE_BEGIN", "SLICE_END", "COUNTER"))

TABLES = """
create table track (id integer primary key, parent_id integer, name text);
create table slice (id integer primary key, ts integer, dur integer, depth integer, name text, track_id integer);
create table args (slice_id integer, key text, value integer);
create table flow (slice_out integer, slice_in integer);
create table counter (ts integer, value real, track_id integer);
"""


def tables(path: Path) -> sqlite3.Connection:
    """Decode a trace; what is malformed (an end without a beginning, slices that do not nest) is refused."""
    trace = perfetto.Trace.FromString(path.read_bytes())
    database = sqlite3.connect(":memory:")
    database.executescript(TABLES)
    reader = _Reader(database)
    for packet in trace.packet:
        reader.descriptions(packet)
    for packet in sorted((each for each in trace.packet if each.HasField("track_event")), key=lambda p: p.timestamp):
        reader.event(packet.timestamp, packet.track_event)
    assert not any(reader.open.values()), "a slice never ends"
    return database


class _Reader:
    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self.names: dict[int, str] = {}
        self.notes: dict[int, str] = {}
        self.open: dict[int, list[tuple[int, int]]] = {}
        self.flows: dict[int, int] = {}
        self.slices = 0

    def descriptions(self, packet: perfetto.TracePacket) -> None:
        self.names |= {name.iid: name.name for name in packet.interned_data.event_names}
        self.notes |= {name.iid: name.name for name in packet.interned_data.debug_annotation_names}
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            parent = track.parent_uuid if track.HasField("parent_uuid") else None
            self.database.execute("insert into track values (?, ?, ?)", (track.uuid, parent, track.name))

    def event(self, time: int, event: perfetto.TrackEvent) -> None:
        if event.type == COUNTER:
            value = event.counter_value if event.HasField("counter_value") else event.double_counter_value
            self.database.execute("insert into counter values (?, ?, ?)", (time, value, event.track_uuid))
        elif event.type == BEGIN:
            self._begin(time, event)
        elif event.type == END:
            number, began = self.open[event.track_uuid].pop()
            self.database.execute("update slice set dur = ? where id = ?", (time - began, number))
            self._annotate(number, event)

    def _begin(self, time: int, event: perfetto.TrackEvent) -> None:
        self.slices += 1
        number, stack = self.slices, self.open.setdefault(event.track_uuid, [])
        name = event.name or self.names[event.name_iid]
        row = (number, time, -1, len(stack), name, event.track_uuid)
        self.database.execute("insert into slice values (?, ?, ?, ?, ?, ?)", row)
        stack.append((number, time))
        self._annotate(number, event)
        for flow in (*event.flow_ids, *event.terminating_flow_ids):
            if flow in self.flows:
                self.database.execute("insert into flow values (?, ?)", (self.flows[flow], number))
            self.flows[flow] = number
        for flow in event.terminating_flow_ids:
            del self.flows[flow]

    def _annotate(self, number: int, event: perfetto.TrackEvent) -> None:
        for note in event.debug_annotations:
            row = (number, self.notes[note.name_iid], note.uint_value)
            self.database.execute("insert into args values (?, ?, ?)", row)
