"""Why one run took as long as it did."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from octavo import html
from octavo.explain import picture, words
from octavo.explain.facts import Facts, facts, pairs
from octavo.explain.what_if import Remedy, tried
from octavo.runs import pictures

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from octavo.errors import PolicyError
    from octavo.runs.execute import Progress
    from octavo.runs.pictures import Picture
    from octavo.runs.result import RunResult


@dataclass(frozen=True, repr=False)
class Explanation:
    """What bound a run, in numbers and in sentences."""

    name: str
    facts: Facts
    pairs: list[dict[str, Any]]
    """`from`, `to`, `pages`, and `share` of all moved pages, largest first; empty for a run that recorded no events."""
    remedies: list[Remedy] | None
    """The changes that were tried, largest gain first; empty if none were requested."""
    failure: PolicyError | None = None
    """Why changes failed because of a user's policy; they are no remedies."""

    @property
    def sentences(self) -> list[str]:
        """The explanation, one sentence on each line."""
        return [*words.run(self.name, self.facts), *words.pairs(self.pairs), *words.remedies(self.remedies)]

    def plot(self, *, width: float | None = None) -> Picture:
        """Draw how busy driver, memory, walkers and links are and, if changes were tried, the time of each."""
        with pictures.below(lambda: self.facts.node):
            return picture.draw(self.name, self.facts, self.remedies, width)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        found = None if self.remedies is None else [asdict(one) for one in self.remedies]
        told = {"facts": asdict(self.facts), "pairs": self.pairs, "what_if": found}
        return {"run": self.name, "sentences": self.sentences, **told}

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return f"Explanation({self.sentences[0]})"

    def _repr_html_(self) -> str:
        return "".join(html.paragraph(sentence) for sentence in self.sentences)


def explain(
    result: RunResult,
    *,
    what_if: str | Path | None = None,
    replicates: int = 1,
    workers: int | None = None,
    watch: Callable[[Progress], None] | None = None,
) -> Explanation:
    """Explain a simulated run.

    Args:
        result: the run.
        what_if: a folder in which changes of its scenario are run, each kept like any run; nothing is tried if left
            out.
        replicates: how often each change and the run itself are run, varying what the scenario leaves open. From two
            on, times are medians, and changes whose interval overlaps that of the run are ties.
        workers: runs side by side.
        watch: called about ten times a second with their progress.

    Raises:
        OutputError: the run has no time or no scenario, is damaged, or the folder cannot be written.
        InterruptedRun: Ctrl-C; finished runs are kept.

    """
    result.check_time()
    found, moved = facts(result), pairs(result)
    if what_if is None:
        return Explanation(result.name, found, moved, None)
    changes = tried(result, what_if, count=replicates, workers=workers, watch=watch)
    return Explanation(result.name, found, moved, changes.remedies, changes.failure)
