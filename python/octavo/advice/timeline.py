"""What happened to the buffers of a recorded program, in order, and what is advised: marks for a picture.

A recording has the times of launches, and the order of everything else. What happened between two launches is spread
evenly over the time between them. Before the first launch no time is known: as much is drawn as that launch took.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from octavo import plain
from octavo.advice import placement_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.advice.moments import Moves
    from octavo.advice.proposal import Plan
    from octavo.advice.recording import Recording

FILE = "timeline.json"
"""Its name in a folder of advice."""
_MOST = 2000
"""Marks of what happened, beyond which the rest of the program is left out; our choice: a page stays fast."""
_ROWS = 12
"""Buffers that have rows of their own, the largest ones; our choice."""
LAUNCH, TO_DEVICE, TO_HOST = "launch", "copied to the device", "copied to the host"
FAULTS, FILLED, WROTE, READ = "came by faults", "filled", "the host wrote", "the host read"
BRING, BRING_BACK, STORE = "advised: to the device", "advised: to the host", "advised: copied by the host"
_MS = 1e-6
"""Milliseconds in a nanosecond."""


@dataclass(frozen=True)
class _Mark:
    """Something at a moment, or for a while."""

    buffer: int
    what: str
    begin: float
    end: float
    about: str

    def to_dict(self, label: str) -> dict[str, Any]:
        return {"label": label, "what": self.what, "from": self.begin, "to": self.end, "about": self.about}


@dataclass
class _Past:
    """The steps so far."""

    kernels: Sequence[Mapping[str, Any]]
    buffers: Mapping[int, int]
    """The buffer of each allocation."""
    stored: frozenset[int]
    """Buffers whose copies the host is to make."""
    moves: Sequence[Moves | None]
    """When each buffer is to move."""
    marks: list[_Mark] = field(default_factory=list)
    launches: int = 0
    now: float = 0.0
    """When the last launch ended, in ms."""
    waiting: list[Mapping[str, Any]] = field(default_factory=list)
    """What happened since."""
    used: dict[int, float] = field(default_factory=dict)
    """When each allocation was used first since the last wait, and between the two waits before."""
    came: dict[int, float] = field(default_factory=dict)
    elsewhere: set[int] = field(default_factory=set)
    """Allocations that the host has touched, or nobody yet."""

    @property
    def full(self) -> bool:
        """Whether the rest of the program is left out."""
        return len(self.marks) >= _MOST

    def launch(self, step: Mapping[str, Any]) -> None:
        """A launch with a known time."""
        took = step["ns"] * _MS
        since = took if step["gap_ns"] is None else max(step["gap_ns"] * _MS, 0.0)
        self.between(since)
        if self.full:
            return
        begin, self.now = self.now + since, self.now + since + took
        kernel = self.kernels[step["kernel"]]
        about = (
            f"{kernel['name'] or 'a kernel'}, launch {self.launches + 1}, {kernel['blocks']:,} x "
            f"{kernel['threads_per_block']:,} threads, {plain.seconds(took * 1e-3)}"
        )
        self.launches += 1
        for number in [number for number in step["buffers"] if number in self.buffers]:
            self._bring(number, begin)
            self.used.setdefault(number, begin)
        for buffer in sorted({self.buffers[number] for number in step["buffers"] if number in self.buffers}):
            self._add(_Mark(buffer, LAUNCH, begin, self.now, about))
        for buffer, moves in enumerate(self.moves):
            if moves is not None and self.launches in moves.to_host_after:
                self._mark(buffer, BRING_BACK, self.now, f"after launch {self.launches}")

    def _bring(self, number: int, begin: float) -> None:
        buffer = self.buffers[number]
        if number in self.elsewhere and self.moves[buffer] is not None:
            self._mark(buffer, BRING, begin, f"before launch {self.launches}")
        self.elsewhere.discard(number)

    def between(self, since: float) -> None:
        """All that has happened since the last launch, over the time up to the next."""
        for place, step in enumerate(self.waiting):
            self._happened(step, self.now + since * (place + 1) / (len(self.waiting) + 1))
        self.waiting.clear()

    def _happened(self, step: Mapping[str, Any], when: float) -> None:
        kind = step["step"]
        if kind == "copied":
            self._copied(step, when)
        elif kind == "wait":
            self.came, self.used = self.used, {}
        elif step["allocation"] not in self.buffers:
            return
        elif kind == "filled":
            self._mark(self.buffers[step["allocation"]], FILLED, when, plain.size(step["bytes"]))
        elif kind == "touched":
            moves = self.moves[self.buffers[step["allocation"]]]
            if moves is None or not moves.read_mostly:
                self.elsewhere.add(step["allocation"])
            what = WROTE if step["written"] else READ
            self._mark(self.buffers[step["allocation"]], what, when, f"{step['share']:.0%} of its pages")
        elif kind == "left" and step["share"]:
            began = self.came.get(step["allocation"], when)
            self._mark(self.buffers[step["allocation"]], FAULTS, began, f"{step['share']:.0%} of its pages")

    def _copied(self, step: Mapping[str, Any], when: float) -> None:
        for number, what in ((step["to"], TO_DEVICE), (step["from"], TO_HOST)):
            if number not in self.buffers:
                continue
            buffer = self.buffers[number]
            self._mark(buffer, what, when, plain.size(step["bytes"]))
            if buffer in self.stored and step.get("waited"):
                self._mark(buffer, STORE, when, plain.size(step["bytes"]))

    def _mark(self, buffer: int, what: str, when: float, about: str) -> None:
        self._add(_Mark(buffer, what, when, when, about))

    def _add(self, mark: _Mark) -> None:
        if not self.full:
            self.marks.append(mark)


def document(recording: Recording, plan: Plan) -> dict[str, Any] | None:
    """Marks by buffer, the largest first, each in order; none if no launch has a known time.

    `launches` are those of the marks, `of` all that were recorded: none of them if what came before fills the picture.
    """
    profile = recording.profile
    buffers = {row["number"]: buffer for buffer, rows in enumerate(recording.rows) for row in rows}
    moves = [
        moves if advised.placement == "prefetched" else None
        for advised, moves in zip(plan.buffers, recording.moves, strict=True)
    ]
    stored = frozenset(number for number, each in enumerate(plan.buffers) if placement_file.copied_by_host(each))
    past = _Past(profile.get("kernels", ()), buffers, stored, moves, elsewhere=set(buffers))
    steps = profile.get("steps", ())
    first = next((step for step in steps if step["step"] == "launch"), None)
    if first is None or first["ns"] is None:
        return None
    for step in steps:
        if step["step"] != "launch":
            past.waiting.append(step)
        elif step["ns"] is None or past.full:
            break
        else:
            past.launch(step)
    else:
        past.between(past.now / max(past.launches, 1))
    rows = _rows(plan)
    marks = sorted(past.marks, key=lambda mark: (rows[mark.buffer][0], mark.begin))
    of = sum(step["step"] == "launch" for step in steps)
    return {"marks": [mark.to_dict(rows[mark.buffer][1]) for mark in marks], "launches": past.launches, "of": of}


def _rows(plan: Plan) -> dict[int, tuple[int, str]]:
    """The row of each buffer, and its label: the smallest buffers share the last one."""
    sizes = sorted(range(len(plan.buffers)), key=lambda number: (-plan.buffers[number].buffer.size, number))
    alone = sizes if len(sizes) <= _ROWS else sizes[: _ROWS - 1]
    rows = {}
    for row, number in enumerate(alone):
        buffer = plan.buffers[number].buffer
        rows[number] = (row, f"{buffer.name} ({plain.size(buffer.size)})")
    others = sizes[len(alone) :]
    return rows | {number: (len(alone), f"{len(others)} smaller buffers") for number in others}
