"""A run's page map as text for a web page: tiles for the overview, and the events of single pages.

Everything is compressed in separate pieces, so that a browser unpacks only what it shows. If the events do not fit, the
middle of the longest histories is left out, and counted.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.report.history import PLANES
from octavo.report.tiles import LAYERS, TILE_COLUMNS, TILE_ROWS, Painter, in_bytes, levels

if TYPE_CHECKING:
    from octavo.report.history import Footprint, History

_TILES_SHARE = 0.4
"""The share of the room that tiles beyond the first level may take."""
_CHUNK_EVENTS = 1 << 14
"""The approximate number of events in a chunk."""
_CHUNK_PAGES = 512
_GUESS = 4
"""Compressed bytes of an event, as a first guess; the second attempt knows better."""
_COLUMNS = ("kind", "source", "target", *PLANES)


@dataclass(frozen=True)
class Packed:
    """What the page gets."""

    about: dict[str, Any]
    """Where each piece is in the text, and what was left out."""
    text: str
    """The pieces: deflated, then Base64, one after another."""


class _Pieces:
    """Text that grows by compressed pieces."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0

    def add(self, raw: bytes) -> tuple[int, int]:
        """The position of a piece: offset and length."""
        text = base64.b64encode(zlib.compress(raw, 6)).decode("ascii")
        self.parts.append(text)
        place = (self.length, len(text))
        self.length += len(text)
        return place


def pack(past: History, footprint: Footprint, room: int) -> Packed:
    """Pack a history into about `room` characters of text."""
    pieces, painter = _Pieces(), Painter(past)
    found: list[dict[str, Any]] = []
    for level in levels(past.pages):
        before, count = pieces.length, len(pieces.parts)
        places = [[*tile[:2], *pieces.add(tile[2])] for tile in painter.tiles(level)]
        if found and pieces.length > room * _TILES_SHARE:
            del pieces.parts[count:]
            pieces.length = before
            break
        found.append({**level, "tiles": places})
    chunks = _fit(past, room - pieces.length)
    pages_a_chunk, cap, kept = chunks.pages, chunks.cap, chunks.kept
    chunk_places = [(pieces.length + offset, length) for offset, length in chunks.places]
    about = {
        "pages": past.pages,
        "page_bytes": footprint.page_bytes,
        "processors": past.processors,
        "span": past.span,
        "tick_ps": past.tick_ps,
        "allocations": footprint.allocations,
        "tile": [TILE_ROWS, TILE_COLUMNS],
        "layers": LAYERS,
        "levels": found,
        "chunk_pages": pages_a_chunk,
        "chunks": chunk_places,
        "events": int(past.counts.sum()),
        "events_kept": kept,
        "kept_of_a_page": cap,
        "pages_cut": 0 if cap is None else int((past.counts > cap).sum()),
    }
    return Packed(about, "".join([*pieces.parts, *chunks.parts]))


@dataclass(frozen=True)
class _Chunks:
    pages: int
    """Pages of each chunk."""
    cap: int | None
    """The most events that are kept of a page; `None` if all are."""
    kept: int
    places: list[tuple[int, int]]
    parts: list[str]


def _fit(past: History, room: int) -> _Chunks:
    """All events, or for each page as many as fit."""
    counts = past.counts
    total = int(counts.sum())
    bytes_an_event = float(_GUESS)
    while True:
        wanted = int(room / bytes_an_event)
        cap = None if total <= wanted else _cap(counts, wanted)
        chunks = _chunks(past, cap)
        length = sum(place[1] for place in chunks.places)
        if length <= room or cap == 0:
            return chunks
        bytes_an_event = max(length / max(chunks.kept, 1), bytes_an_event) * 1.05


def _cap(counts: pl.Series, wanted: int) -> int:
    """The most events that a page may keep so that all pages together keep at most `wanted`."""
    low, high = 0, max(counts, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if counts.clip(upper_bound=middle).sum() <= wanted:
            low = middle
        else:
            high = middle - 1
    return low


def _chunks(past: History, cap: int | None) -> _Chunks:
    counts = past.counts
    kept = counts if cap is None else counts.clip(upper_bound=cap)
    average = max(int(kept.sum()) / max(past.pages, 1), 1.0)
    pages = 1 << int(log2(min(max(_CHUNK_EVENTS / average, 1), _CHUNK_PAGES)))
    by_page = [*_split(counts), *_split(kept)]
    by_event = _columns(past, cap)
    ends = [0, *kept.cum_sum()[pages - 1 :: pages].to_list(), int(kept.sum())]
    pieces = _Pieces()
    places = []
    for number, first in enumerate(range(0, past.pages, pages)):
        of_pages = (text[first : first + pages] for text in by_page)
        of_events = (text[ends[number] : ends[number + 1]] for text in by_event)
        places.append(pieces.add(b"".join([*of_pages, *of_events])))
    return _Chunks(pages, cap, int(kept.sum()), places, pieces.parts)


def _columns(past: History, cap: int | None) -> list[bytes]:
    """The kept events: times as differences within each page, and the other columns.

    Of a page with more than `cap` events, the first and the last half of `cap` are kept.
    """
    rows = past.events
    if cap is not None:
        nth = pl.int_range(pl.len(), dtype=pl.Int64) - past.starts.gather(rows["page"])
        tail = past.counts.gather(rows["page"]) - cap // 2
        rows = rows.filter((nth < cap - cap // 2) | (nth >= tail))
    time = pl.col("time").cast(pl.Int64)
    same = pl.col("page") == pl.col("page").shift(1, fill_value=-1)
    past_time = pl.when(same).then(time.shift(1)).otherwise(0)
    return [*_split(rows.select(time - past_time).to_series()), *(in_bytes(rows[name]) for name in _COLUMNS)]


def _split(values: pl.Series) -> list[bytes]:
    """32-bit numbers as four columns of bytes: the high bytes are mostly zero and compress well."""
    return [in_bytes((values // (1 << 8 * weight) % 256).cast(pl.UInt8)) for weight in range(4)]
