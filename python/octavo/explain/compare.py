"""What makes two runs differ."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from octavo.explain import picture, stalls, words, words_of_stalls
from octavo.explain.facts import Facts, facts
from octavo.runs import pictures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.runs.pictures import Picture
    from octavo.runs.result import RunResult

_TOLD = 0.05
"""The share of the difference above which a cause is mentioned; our choice."""


@dataclass(frozen=True)
class Difference:
    """Two runs side by side."""

    names: tuple[str, str]
    facts: tuple[Facts, Facts]

    @property
    def causes(self) -> dict[str, float]:
        """Picoseconds that the second run takes longer for each cause, largest change first.

        Phases of whole programs are causes; of these, some may overlap. The time of kernels is split like the time of
        its accesses: accesses overlap, so these are parts, not waits.
        """
        first, second = (_spent(one) for one in self.facts)
        parts = {cause: second.get(cause, 0.0) - first.get(cause, 0.0) for cause in {**first, **second}}
        return dict(sorted(parts.items(), key=lambda item: -abs(item[1])))

    @property
    def stalls(self) -> dict[str, float]:
        """Picoseconds that the second run's kernels spend more with each stall, largest change first.

        Empty where a run follows no wavefronts (fidelity `page`).
        """
        first, second = self.facts
        return stalls.changes(first.kernels, second.kernels) if first.kernels and second.kernels else {}

    @property
    def buffers(self) -> list[dict[str, Any]]:
        """Faults and moved pages of each buffer in both runs, largest change of faults first."""
        first, second = ({row["allocation"]: row for row in one.buffers} for one in self.facts)
        none = {"faults": 0, "moved": 0}
        rows = [
            {
                "allocation": name,
                "faults": (first.get(name, none)["faults"], second.get(name, none)["faults"]),
                "moved": (first.get(name, none)["moved"], second.get(name, none)["moved"]),
            }
            for name in {**first, **second}
        ]
        return sorted(rows, key=lambda row: -abs(row["faults"][1] - row["faults"][0]))

    @property
    def changed(self) -> list[dict[str, Any]]:
        """The buffers whose faults or moved pages differ between the runs."""
        return [row for row in self.buffers if len(set(row["faults"])) > 1 or len(set(row["moved"])) > 1]

    @property
    def sentences(self) -> list[str]:
        """All of it, one sentence a line."""
        first, second = self.facts
        change = second.time_ps / first.time_ps - 1
        total = second.time_ps - first.time_ps
        phases = {phase: f"in {phase.replace('_', ' ')}" for phase in {**first.phases, **second.phases}}
        causes = _told(self.causes, total, {**phases, **words.SPENT})
        stalled = _told(self.stalls, total, words_of_stalls.STALLED)
        buffers = [
            f"{row['allocation']} {row['faults'][0]:,} → {row['faults'][1]:,} faults and "
            f"{row['moved'][0]:,} → {row['moved'][1]:,} pages moved"
            for row in self.changed[: words.MOST_BUFFERS]
        ]
        return [
            f"{self.names[1]} took {words.milliseconds(second.time_ps)}, {self.names[0]} "
            f"{words.milliseconds(first.time_ps)}: {words.changed(change)}.",
            *([f"The difference{_split(phases)}: {', '.join(causes)}."] if causes else []),
            *([f"The time of the kernels, split as wavefronts spend it: {', '.join(stalled)}."] if stalled else []),
            *([f"Buffer by buffer: {'; '.join(buffers)}."] if buffers else []),
        ]

    def plot(self, *, width: float | None = None) -> Picture:
        """How much longer or shorter the second takes for each cause."""
        with pictures.below(lambda: "; ".join(dict.fromkeys(each.node for each in self.facts))):
            return picture.apart(self.names, self.causes, width)

    def to_dict(self) -> dict[str, Any]:
        """Everything in a form for JSON."""
        return {
            "runs": self.names,
            "sentences": self.sentences,
            "causes_ps": self.causes,
            "stalls_ps": self.stalls,
            "buffers": self.buffers,
            "facts": [asdict(one) for one in self.facts],
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def _spent(found: Facts) -> dict[str, float]:
    """Picoseconds of each phase but kernels, and of each cause of accesses in the time of kernels."""
    phases = {phase: share * found.time_ps for phase, share in found.phases.items() if phase != "kernels"}
    kernels = found.in_kernels * found.time_ps
    return {**phases, **{cause: share * kernels for cause, share in found.shares.items()}}


def _split(phases: Mapping[str, str]) -> str:
    return (
        " by phase, and of kernels as the time of accesses is split" if phases else ", split as the time of accesses is"
    )


def _told(parts: Mapping[str, float], total: int, meaning: Mapping[str, str]) -> list[str]:
    """Each part that is a significant share of the difference, in milliseconds and words."""
    told = [(name, part) for name, part in parts.items() if total and abs(part) >= _TOLD * abs(total)]
    return [f"{part * 1e-9:+,.3f} ms {meaning[name]}".replace("-", "−", 1) for name, part in told]


def difference(first: RunResult, second: RunResult, names: tuple[str, str] | None = None) -> Difference:
    """Compare two simulated runs; `names` label them, by default the workload and its memory system.

    Raises:
        OutputError: a run has no time or no scenario, or is damaged.

    """
    for result in (first, second):
        result.check_time()
    return Difference(names or (first.name, second.name), (facts(first), facts(second)))
