"""The story of a recorded program: which allocations there were, and which launches used them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

from octavo.advice import recording
from octavo.advice.fit.sequence import Change, Piece, Step, Story
from octavo.advice.moments import History
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from octavo.advice.recording import Recording
    from octavo.advice.systems import SystemConstants

_KINDS: Mapping[str, Literal["explicit", "managed"]] = {"device": "explicit", "managed": "managed"}
_WHOLE = 0.99
"""Share from which on the host has all of an allocation; chosen, of 32 sampled pages."""
_ASSUMED = "launches are taken to write what they use, unless the host saw it unchanged afterwards"
_ALL = "launches are taken to touch all of what they use, unless less than all left the host for them"
_ELSEWHERE = "times are taken to be recorded where it fits"
_NO_STEPS = "the recording says nothing of launches (profile format 1): only what is allocated is known"


def story(path: Path, constants: SystemConstants) -> tuple[Story, Recording]:
    """The story, and the recording that it is told by.

    Raises:
        AdviceError: the recording cannot be read, is damaged, or has no memory of the device.

    """
    found = recording.recording(path, constants)
    try:
        return _Told(recording.read(path), found).story(path.name), found
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, ArithmeticError) as error:
        raise AdviceError(
            f"{path}: damaged: {type(error).__name__} {error}", "record it again", code="damaged", file=path
        ) from None


class _Told:
    """A profile, by pieces: the allocations of device and managed memory, in order."""

    def __init__(self, profile: Mapping[str, Any], found: Recording) -> None:
        self._profile = profile
        self._names = dict(_names(found))
        self._piece = {number: piece for piece, number in enumerate(sorted(self._names))}
        self._history = History(profile) if profile.get("steps") else None

    def story(self, name: str) -> Story:
        allocations, steps = self._profile["allocations"], list(self._steps())
        pieces = [
            Piece(self._names[number], int(allocations[number]["bytes"]), _KINDS[allocations[number]["kind"]])
            for number in self._piece
        ]
        notes = [_ASSUMED, _ALL, _ELSEWHERE] if steps else [_NO_STEPS]
        seconds = self._profile["time_ns"] * 1e-9 if "time_ns" in self._profile else None
        told = (*notes, *recording.unseen(self._profile))
        return Story(name, tuple(pieces), tuple(self._changes()), tuple(steps), seconds, told)

    def _changes(self) -> list[Change]:
        """Allocations and frees in order; at the same time, who frees comes first."""
        found = []
        for number, piece in self._piece.items():
            row = self._profile["allocations"][number]
            found.append((row["allocated_ns"], Change(piece, freed=False, launch=row.get("launches_before") or 0)))
            if row.get("freed_ns") is not None:
                found.append((row["freed_ns"], Change(piece, freed=True, launch=row.get("launches_at_end") or 0)))
        found.sort(key=lambda pair: (pair[0], not pair[1].freed))
        return [Change(one.piece, one.freed, one.launch, ns * 1e-9) for ns, one in found]

    def _steps(self) -> Iterator[Step]:
        launches = 0
        for step in self._profile.get("steps", ()):
            if step["step"] == "launch":
                yield self._launch(step, launches)
                launches += 1
            elif step["step"] in ("touched", "copied", "filled"):
                yield from getattr(self, f"_{step['step']}")(step, launches)

    def _launch(self, step: Mapping[str, Any], launches: int) -> Step:
        numbers = [number for number in step["buffers"] if number in self._piece]
        uses = frozenset(self._piece[number] for number in numbers)
        writes = frozenset(self._piece[number] for number in numbers if not self._only_read(number))
        share = {self._piece[number]: share for number in numbers if (share := self._share(number)) < 1.0}
        seconds = self._warm(step["kernel"], step["ns"])
        name = str(self._profile["kernels"][step["kernel"]]["name"] or "kernel")
        return Step(name, on_device=True, uses=uses, writes=writes, launch=launches, seconds=seconds, share=share)

    def _warm(self, kernel: int, ns: int | None) -> float:
        """What a launch takes without faults: as others of its kernel, or as long as it took."""
        took = (ns or 0) * 1e-9
        return min(took, self._history.warm.get(kernel, took)) if self._history else took

    def _only_read(self, number: int) -> bool:
        seen = self._history.allocations.get(number) if self._history else None
        touched = [trip for trip in seen.trips if trip.touched] if seen else []
        return bool(touched) and not any(trip.written for trip in touched)

    def _share(self, number: int) -> float:
        """The share that launches touch, where all of it was on the host before."""
        seen = self._history.allocations.get(number) if self._history else None
        return max((trip.left for trip in seen.trips if trip.host >= _WHOLE), default=0.0) or 1.0 if seen else 1.0

    def _touched(self, step: Mapping[str, Any], launches: int) -> Iterator[Step]:
        if (piece := self._piece.get(step["allocation"])) is not None:
            part = not step["written"] or step["share"] < _WHOLE
            yield _by_host("host", piece, launches, reads=part, writes=step["written"])

    def _copied(self, step: Mapping[str, Any], launches: int) -> Iterator[Step]:
        to, source = (self._piece.get(step[end]) for end in ("to", "from"))
        if to is not None and source is not None:
            whole = frozenset([to] if step["bytes"] >= self._size(step["to"]) else [])
            uses, writes = frozenset([to, source]), frozenset([to])
            yield Step("copy", on_device=True, uses=uses, writes=writes, fills=whole, launch=launches)
        elif to is not None:
            part = step["bytes"] < self._size(step["to"])
            yield _by_host("copy", to, launches, reads=part, writes=True)
        elif source is not None:
            yield _by_host("copy", source, launches, reads=True, writes=False)

    def _filled(self, step: Mapping[str, Any], launches: int) -> Iterator[Step]:
        if (piece := self._piece.get(step["allocation"])) is not None:
            only = frozenset([piece])
            whole = only if step["bytes"] >= self._size(step["allocation"]) else frozenset()
            yield Step("fill", on_device=True, uses=only, writes=only, fills=whole, launch=launches)

    def _size(self, number: int) -> int:
        return int(self._profile["allocations"][number]["bytes"])


def _by_host(name: str, piece: int, launches: int, *, reads: bool, writes: bool) -> Step:
    only, nobody = frozenset([piece]), frozenset[int]()
    return Step(name, reads=only if reads else nobody, replaces=only if writes else nobody, launch=launches)


def _names(found: Recording) -> Iterator[tuple[int, str]]:
    """A name for each allocation: its buffer's, and which of its allocations it is where there are several."""
    for buffer, rows in zip(found.buffers, found.rows, strict=True):
        count = Counter[str]()
        for row in rows:
            count[buffer.name] += 1
            name = buffer.name if len(rows) == 1 else f"{buffer.name} ({count[buffer.name]})"
            yield row["number"], name
