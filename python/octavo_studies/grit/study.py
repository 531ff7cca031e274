"""Shared by all parts of the reproduction: the kernels, the settings of a run, where results go."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from octavo.report.published import KERNELS, LABELS
from octavo.runs.comparison import SAVED, experiment_folder
from octavo.runs.experiment import Experiment, Outcome, Variant
from octavo.scenarios import lost
from octavo.scenarios.scenario import DEFAULT_NODE, Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from octavo.runs.execute import Progress


@dataclass(frozen=True)
class Study:
    """How a part of the reproduction is run."""

    output: Path | None = None
    """Folder of the results; one below `runs/`, named after what is run, if left out."""
    overrides: tuple[str, ...] = ()
    """Changes to every scenario (`key=value`): scale, seed and what `--set` says."""
    workloads: tuple[str, ...] = ()
    """Kernels, by name or by the publication's abbreviation; all eight if empty."""
    node: str = DEFAULT_NODE
    workers: int | None = None
    force: bool = False
    watch: Callable[[Progress], None] | None = None

    @property
    def kernels(self) -> list[str]:
        """Labels of the kernels that run."""
        return [LABELS.get(name, name) for name in self.workloads or KERNELS]

    def experiment(self, variants: Sequence[Variant]) -> Experiment:
        """The kernels under variants; timelines are not kept, as no table here is made of them."""
        first = self.kernels[0]
        base = Recipe.from_names(KERNELS.get(first, first), node=self.node).with_overrides(
            ["record.events=false", *self.overrides]
        )
        lost.refuse_varied(base, self.overrides, [variant.overrides for variant in variants], "the study")
        return Experiment(base, self.kernels, variants, KERNELS)

    @contextmanager
    def run(self, name: str, experiment: Experiment) -> Iterator[tuple[Path, Outcome]]:
        """Run what is not finished yet; gives the folder, too, which is ours meanwhile. Errors as `Experiment.run`."""
        root = self.output or Path("runs") / f"grit-{name}-{experiment.digest}"
        with experiment_folder(root, experiment.digest, force=self.force, draws=True, writes=SAVED):
            yield root, experiment.run(root, workers=self.workers, force=self.force, watch=self.watch)


def placement(name: str) -> Variant:
    """A placement strategy as a variant."""
    return Variant(name, (f"memory.placement={name}",))
