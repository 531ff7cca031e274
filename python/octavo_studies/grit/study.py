"""Shared by all parts of the study: the kernels, the settings of a run, where results go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from octavo.report.publications import KERNELS, LABELS
from octavo.runs.comparison import SAVED, experiment_folder
from octavo.runs.experiment import Experiment, Variant
from octavo.scenarios import conflicts
from octavo.scenarios.scenario import DEFAULT_NODE, Recipe
from octavo_studies.engine import study as engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.runs.experiment import Outcome


REDUCED_SCALE = 1 / 16
INPUTS = {"st": ("workload.iterations=3",), "c2d": ("workload.iterations=2",)}
"""Inputs that a published remark on sharing pins, by kernel: how many pages collapse and are duplicated again. With 3
launches of ST these are half, with 20 nearly all; with two passes of C2D a third, with one none."""
OPTIONS = {"access-counter": ("memory.placement.host_pages=migrate",)}
"""Options of a uniform scheme that GRIT has for the same scheme."""


@dataclass(frozen=True)
class Study(engine.Study):
    """Kernels under variants of a memory system."""

    name: ClassVar[str] = "grit"

    workloads: tuple[str, ...] = ()
    """Kernels, by name or by the publication's abbreviation; all eight if empty."""
    node: str = DEFAULT_NODE

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
        conflicts.refuse_varied(base, self.overrides, [variant.overrides for variant in variants], "the study")
        return Experiment(base, self.kernels, variants, KERNELS, inputs=INPUTS)

    def compare(self, part: str, variants: Sequence[Variant]) -> tuple[engine.Runs[tuple[str, str]], Outcome]:
        """Run what is not finished yet; errors as `Experiment.run`. The outcome has measures of all runs."""
        experiment = self.experiment(variants)
        root = self.output or Path("runs") / f"{self.name}-{part}-{experiment.digest}"
        with experiment_folder(root, experiment.digest, force=self.force, draws=True, writes=SAVED):
            outcome = experiment.run(root, **self.how)
        return engine.Runs(root, experiment.digest, dict(outcome.results)), outcome


def placement(name: str) -> Variant:
    """A placement strategy as a variant."""
    return Variant(name, (f"memory.placement={name}", *OPTIONS.get(name, ())))
