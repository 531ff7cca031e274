"""Whether a program at scale 1 fits beside the page cache, where cores and GPUs have one memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from octavo.quantities import bytes_of

if TYPE_CHECKING:
    from octavo.runs.pressure import Pressure
    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

Verdict: TypeAlias = Literal["fits", "slows", "fails"]
SEE = "docs/fits.md#beside-the-page-cache"
"""The page with the reasons, and the reports that they come from."""
_SMALL_PAGES = "system"
"""The kind of program whose memory needs no blocks of 2 MiB."""


@dataclass(frozen=True)
class Room:
    """Memory in bytes, of all GPUs together and at scale 1."""

    needed: int
    """What the program allocates."""
    memory: int
    """All that there is."""
    cached: int
    """The part that the page cache occupies."""
    ready: int
    """Bytes that can be allocated at once: the free ones, or the part of them in blocks of 2 MiB."""

    @property
    def verdict(self) -> Verdict:
        """Whether allocations are served at once, have to wait for memory of files, or cannot be served."""
        if self.needed <= self.ready:
            return "fits"
        return "slows" if self.needed <= self.memory else "fails"

    @property
    def sentence(self) -> str:
        """What happens, and why."""
        short = _gigabytes(self.needed - self.ready)
        why = {
            "fits": f"{_gigabytes(self.ready)} can be allocated at once",
            "slows": f"the kernel has to take back or put together {short} first, and an allocation may fail meanwhile",
            "fails": f"there are {_gigabytes(self.memory)} in all, and a real host may hang instead of refusing",
        }
        verdict = self.verdict
        return f"at scale 1 it {verdict}: it needs {_gigabytes(self.needed)}; {why[verdict]} ({SEE})."

    def to_dict(self) -> dict[str, Any]:
        """The document for JSON: the bytes, the verdict and where its reasons are explained."""
        return {**vars(self), "verdict": self.verdict, "see": SEE}


def room(result: RunResult, pressure: Pressure) -> Room | None:
    """Say whether the program fits; None if the node has no `host.page_cache`, or its memory no limit.

    Raises:
        OutputError: the result cannot be read.

    """
    if pressure.whole is None or pressure.whole_capacity is None:
        return None
    return beside(result.scenario, pressure.whole, pressure.whole_capacity * pressure.gpus)


def beside(scenario: Scenario, needed: int, memory: int) -> Room | None:
    """The same for so many bytes, and memory of which the page cache has its part; None without `host.page_cache`."""
    cache = scenario.values["node"]["host"].get("page_cache")
    if cache is None:
        return None
    cached = min(bytes_of(cache["bytes"]), memory)
    free = memory - cached
    ready = free if scenario.kind == _SMALL_PAGES else free * int(cache["free_blocks_percent"]) // 100
    return Room(needed, memory, cached, ready)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.3g} GB"
