"""Whether a program fits, as data and in sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from octavo.plain import amount, seconds
from octavo.verbs import Verb

if TYPE_CHECKING:
    from octavo.advice.fit.costs import Costs
    from octavo.advice.fit.footprint import Refused
    from octavo.advice.fit.sequence import Point, Story
    from octavo.advice.fit.weigh import Weighed
    from octavo.advice.recording import Recording
    from octavo.runs.room import Room
    from octavo.scenarios.about import About

Verdict: TypeAlias = Literal["fits", "slows", "fails"]
Name: TypeAlias = Literal["paging", "moves", "streaming", "strips"]
NAMES: dict[Name, str] = {
    "paging": "paging on demand",
    "moves": "moves as planned",
    "streaming": "streamed by hand",
    "strips": "in strips, one after another",
}
"""Ways to run in too little memory."""
_EVEN = 1.005
"""The ratio of times from which on the answer says "slower"; chosen, it only decides words."""


@dataclass(frozen=True)
class Way:
    """A way to run in too little memory, and what the whole program takes then."""

    name: Name
    seconds: float
    low: float
    high: float
    how: Literal["simulated", "modelled"]


@dataclass(frozen=True)
class Holds:
    """PyTorch's caching allocator, run through what a program asked it for."""

    bytes: int
    """Bytes of its segments at most, in memory without end."""
    fails: tuple[str, int] | None
    """For whom and how many bytes it finds no place in the memory of the GPU."""

    @property
    def sentence(self) -> str:
        """For people."""
        said = f"PyTorch's caching allocator (default settings) holds at most {amount(self.bytes)} for it"
        if self.fails is None:
            return f"{said}."
        name, size = self.fails
        return (
            f"{said}: in this memory it finds no place for {amount(size)} of {name}. "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True needs less."
        )


@dataclass(frozen=True)
class Fit:
    """Whether a program fits into a GPU's memory, and what to do if not."""

    story: Story
    node: str
    memory: int
    """Bytes of the GPU."""
    reserve: int
    """What the driver and the context keep of it."""
    points: list[Point]
    """What is allocated after each change."""
    peak: Point
    refused: Refused | None
    """The explicit allocation that has no room."""
    beyond_host: int
    """Bytes of managed memory that neither the GPU nor the host has room for."""
    about: About
    costs: Costs
    beside: Room | None = None
    """What the page cache leaves of it, where cores and GPUs have one memory and the node says how much it has."""
    weighed: Weighed | None = None
    """The model's answer; none if it fits, or nothing is known of launches."""
    seconds: float | None = None
    """What the program takes where it fits, if that is known."""
    ways: list[Way] = field(default_factory=list)
    scale: float = 1.0
    """Of the simulations."""
    notes: tuple[str, ...] = ()
    recording: Recording | None = None
    as_recorded: bool = False
    """Whether `seconds` are what the program took when it was recorded."""
    holds: Holds | None = None
    """What the allocator below the program's allocations needs, if that is known."""
    plot = Verb()
    """Draws buffers over time, and what of them is on the GPU; `octavo.advice.fit.picture.draw`."""

    @property
    def name(self) -> str:
        """The program's."""
        return self.story.name

    @property
    def room(self) -> int:
        """Bytes that the program can have."""
        return self.memory - self.reserve

    @property
    def verdict(self) -> Verdict:
        """What happens in this memory."""
        if self.refused is not None or self.beyond_host or (self.holds is not None and self.holds.fails is not None):
            return "fails"
        if self.beside is not None and self.beside.verdict != "fits":
            return self.beside.verdict
        return "fits" if self.peak.all <= self.room else "slows"

    @property
    def best(self) -> Way | None:
        """The fastest way; the first of those that take as long."""
        return min(self.ways, key=lambda way: way.seconds, default=None)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: times in seconds, sizes in bytes."""
        return {
            "name": self.name,
            "node": self.node,
            "verdict": self.verdict,
            "memory": self.memory,
            "reserve": self.reserve,
            "usable": self.room,
            "peak": _point(self.peak),
            "footprint": [_point(point) for point in self.points],
            "refused": None if self.refused is None else asdict(self.refused),
            "beyond_host": self.beyond_host,
            "holds": None if self.holds is None else asdict(self.holds),
            "room": None if self.beside is None else self.beside.to_dict(),
            "seconds": self.seconds,
            "scale": self.scale,
            "ways": [{**asdict(way), "slowdown": self.slowdown(way)} for way in self.ways],
            "best": None if self.best is None else self.best.name,
            "streams": self._streams(),
            "moves": self._moves(),
            "pieces": [asdict(piece) for piece in self.story.pieces],
            "costs": self.costs.to_dict(),
            "notes": list(self.notes),
            "nodes": [self.about.to_dict()],
        }

    def slowdown(self, way: Way) -> float | None:
        """Times as long as where it fits."""
        return way.seconds / self.seconds if self.seconds else None

    def _streams(self) -> list[dict[str, Any]]:
        streams = [] if self.weighed is None else self.weighed.streams
        return [{**asdict(one), "piece": self.story.pieces[one.piece].name, "helps": one.helps} for one in streams]

    def _moves(self) -> list[dict[str, Any]]:
        moves = () if self.weighed is None else self.weighed.plan.moves
        return [
            {
                "before": self.story.steps[move.step].launch,
                "step": self.story.steps[move.step].name,
                "piece": self.story.pieces[move.piece].name,
                "bytes": self.story.pieces[move.piece].size,
                "way": move.way,
                "seconds": move.seconds,
            }
            for move in moves
        ]

    @property
    def sentences(self) -> list[str]:
        """The answer for people."""
        kept = f" (the driver and the context keep {amount(self.reserve)})" if self.reserve else ""
        most = f"it has at most {amount(self.peak.all)} at once ({_kinds(self.peak)})"
        told = [f"{self.name} {self.verdict} in {amount(self.memory)}{kept}: {most}{self._over()}."]
        if self.beside is not None:
            told.append(f"Beside the page cache, {self.beside.sentence}")
        if self.refused is not None:
            told.append(self._refusal(self.refused))
        if self.holds is not None:
            told.append(self.holds.sentence)
        if self.beyond_host:
            told.append(f"GPU and host together have {amount(self.beyond_host)} less than its managed memory takes.")
        return [*told, *self._slower(), *(self._by_hand() if self._loses else [])]

    def _over(self) -> str:
        over = self.peak.all - self.room
        return f", {amount(over)} too much" if over > 0 else f", {amount(-over)} to spare"

    @staticmethod
    def _refusal(refused: Refused) -> str:
        when = "" if refused.seconds is None else f", {seconds(refused.seconds)} after the start"
        return (
            f"The allocation of {amount(refused.bytes)} for {refused.piece} fails, before launch {refused.launch}"
            f"{when}: explicit memory would be {amount(refused.total)} with it, and {amount(refused.most)} at its most."
        )

    @property
    def _paging(self) -> Way | None:
        return next((way for way in self.ways if way.name == "paging"), None)

    @property
    def _loses(self) -> bool:
        """Whether paging on demand takes longer, or is no answer at all."""
        return self._paging is None or self._paging.seconds >= (self.seconds or 0.0) * _EVEN

    def _slower(self) -> list[str]:
        best, paging = self.best, self._paging
        if best is None or paging is None or not self.seconds:
            return []
        if not self._loses:
            return [f"Paging costs nothing that counts: {_times(paging.seconds / self.seconds)}."]
        said = f"It takes {seconds(self.seconds)} {'as recorded' if self.as_recorded else 'where it fits'}"
        if self.refused is not None:
            said += ", and managed memory would make it run"
        if best.name == "paging":
            return [f"{said}. Nothing is faster here than paging on demand: {_times(best.seconds / self.seconds)}."]
        return [
            f"{said}. Paging on demand loses: {_times(paging.seconds / self.seconds)}; {NAMES[best.name]}, "
            f"{_times(best.seconds / self.seconds)}."
        ]

    def _by_hand(self) -> list[str]:
        told = []
        for one in self.weighed.streams if self.weighed else ():
            name, whole = self.story.pieces[one.piece].name, amount(self.story.pieces[one.piece].size)
            launches = (
                f"{one.launches:,} launches that use it take" if one.launches > 1 else "the launch that uses it takes"
            )
            if one.helps:
                kept = f", with {amount(one.kept)} of it kept on the GPU" if one.kept else ""
                told.append(
                    f"Stream {name} ({whole}) yourself: by tiles of {amount(one.tile)}{kept}, {launches} "
                    f"{seconds(one.seconds)}; paging, {seconds(one.paging)}."
                )
            else:
                why = f"launches touch {one.share:.0%} of it" if one.share < 1 else "streaming takes no less"
                told.append(f"Leave {name} ({whole}) to paging: {why}.")
        return told


def _point(point: Point) -> dict[str, Any]:
    return {**asdict(point), "all": point.all}


def _kinds(point: Point) -> str:
    parts = (("explicit", point.explicit), ("managed", point.managed))
    return ", ".join(f"{amount(count)} {kind}" for kind, count in parts if count) or "none"


def _times(factor: float) -> str:
    return f"{factor:.2f} times as long"
