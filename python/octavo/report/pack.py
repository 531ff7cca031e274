"""A run's page map as text that a page can carry: tiles from afar, and the events of single pages.

Everything is cut into pieces that are compressed one by one, so that a browser unpacks only what it shows. What does
not fit the room that is given is left out from the middle of the longest histories, and counted.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo.report.history import PLANES
from octavo.report.tiles import LAYERS, TILE_COLUMNS, TILE_ROWS, Painter, levels

if TYPE_CHECKING:
    import numpy.typing as npt

    from octavo.report.history import Footprint, History, Numbers

_TILES_SHARE = 0.4
"""Share of the room that tiles beyond the first level may take."""
_CHUNK_EVENTS = 1 << 14
"""Events of a chunk, about."""
_CHUNK_PAGES = 512
_GUESS = 4
"""Compressed bytes of an event, to begin with; the second attempt knows better."""
_COLUMNS = ("kind", "source", "target", *PLANES)


@dataclass(frozen=True)
class Packed:
    """What the page gets."""

    about: dict[str, Any]
    """Where every piece lies in the text, and what was left out."""
    text: str
    """The pieces: deflated, then Base64, one after another."""


class _Pieces:
    """Text that grows by compressed pieces."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0

    def add(self, raw: bytes) -> tuple[int, int]:
        """Where the piece lies: offset and length."""
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
    """Events that are kept of a page at most; `None` if all are."""
    kept: int
    places: list[tuple[int, int]]
    parts: list[str]


def _fit(past: History, room: int) -> _Chunks:
    """All events, or as many of each page as fit."""
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


def _cap(counts: Numbers, wanted: int) -> int:
    """The most events a page may keep so that all pages keep no more than `wanted`."""
    low, high = 0, int(counts.max())
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(counts, middle).sum()) <= wanted:
            low = middle
        else:
            high = middle - 1
    return low


def _chunks(past: History, cap: int | None) -> _Chunks:
    counts = past.counts
    kept = counts if cap is None else np.minimum(counts, cap)
    average = max(int(kept.sum()) / max(past.pages, 1), 1.0)
    pages = 1 << int(np.log2(np.clip(_CHUNK_EVENTS / average, 1, _CHUNK_PAGES)))
    pieces = _Pieces()
    places = [
        pieces.add(_chunk(past, first, min(first + pages, past.pages), cap)) for first in range(0, past.pages, pages)
    ]
    return _Chunks(pages, cap, int(kept.sum()), places, pieces.parts)


def _chunk(past: History, first: int, end: int, cap: int | None) -> bytes:
    """Events of some pages: all and kept ones of each page, times as differences within the page, and the columns.

    Of a page that has more than `cap`, the first and the last half of that are kept.
    """
    counts = past.counts[first:end]
    low, high = int(past.starts[first]), int(past.ends[end - 1])
    starts = np.repeat(past.starts[first:end] - low, counts)
    nth = np.arange(high - low) - starts
    if cap is None:
        chosen = np.arange(high - low)
    else:
        tail = np.repeat(counts, counts) - cap // 2
        chosen = np.flatnonzero((nth < cap - cap // 2) | (nth >= tail))
    kept = counts if cap is None else np.minimum(counts, cap)
    time = past.time[low:high][chosen].astype(np.int64)
    before = np.concatenate([[0], time[:-1]]) if len(time) else time
    heads = (np.cumsum(kept) - kept)[kept > 0]
    before[heads] = 0
    columns = [getattr(past, name) if name in ("kind", "source", "target") else past.planes[name] for name in _COLUMNS]
    return b"".join(
        [
            _split(counts),
            _split(kept),
            _split(time - before),
            *(column[low:high][chosen].tobytes() for column in columns),
        ]
    )


def _split(values: npt.NDArray[Any]) -> bytes:
    """32-bit numbers with their bytes sorted by weight: the high ones are mostly zero and compress to nothing."""
    return values.astype("<u4").view(np.uint8).reshape(-1, 4).T.tobytes()
