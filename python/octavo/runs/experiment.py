"""Experiments: the same workloads under several variants of a scenario."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from octavo.errors import ScenarioError
from octavo.runs import measures
from octavo.runs.execute import Point, Progress, execute
from octavo.scenarios.scenario import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Recipe

RUNS = "runs"


@dataclass(frozen=True)
class Variant:
    """A name for reports and the overrides (`key=value`) that make it."""

    label: str
    overrides: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """The results of an experiment and one row of measures for each."""

    results: dict[tuple[str, str], RunResult]
    """By workload and variant."""
    points: pl.DataFrame
    """One row for each workload and variant: see `octavo.runs.measures.row`."""


class Experiment:
    """Every workload under every variant; the first variant of all is what others are compared with."""

    def __init__(
        self,
        base: Recipe,
        workloads: Sequence[str],
        variants: Sequence[Variant],
        called: Mapping[str, str] | None = None,
    ) -> None:
        """Resolve every scenario, so that what cannot be used is found before anything runs.

        `called` has the workloads that are labelled otherwise than they are called: their names, by label.

        Raises:
            ScenarioError: a workload or a variant cannot be used, or two variants have the same label.

        """
        for kind, names in (("workload", workloads), ("variant", [variant.label for variant in variants])):
            _refuse_repeats(kind, names)
        named = {workload: (called or {}).get(workload, workload) for workload in workloads}
        self.scenarios = {
            (workload, variant.label): base.with_overrides([f"workload.name={name}", *variant.overrides]).resolve()
            for workload, name in named.items()
            for variant in variants
        }

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that tell experiments apart."""
        return digest(self.scenarios.values())

    def run(
        self,
        root: Path,
        *,
        jobs: int | None = None,
        force: bool = False,
        watch: Callable[[Progress], None] | None = None,
    ) -> Outcome:
        """Run what is not finished yet, each point in a folder of its own below `root`; errors as `execute`."""
        points = [
            Point(f"{workload} {variant}", scenario, root / RUNS / slug(workload) / slug(variant))
            for (workload, variant), scenario in self.scenarios.items()
        ]
        results = dict(zip(self.scenarios, execute(points, jobs=jobs, force=force, watch=watch), strict=True))
        rows = [measures.row(workload, variant, result) for (workload, variant), result in results.items()]
        return Outcome(results, pl.DataFrame(rows, infer_schema_length=None))


def slug(label: str) -> str:
    """A label as a file name."""
    return re.sub(r"[^\w.+-]+", "-", label).strip("-")


def _refuse_repeats(kind: str, names: Sequence[str]) -> None:
    if not names:
        raise ScenarioError(f"no {kind} to run")
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ScenarioError(f"{kind} `{name}` is named twice")
