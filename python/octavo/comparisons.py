"""Placements, kinds of memory or ways to share it, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo import checks
from octavo.api import folder_of, recipe, workload_name
from octavo.arguments import spelled_out
from octavo.errors import ScenarioError
from octavo.runs.baseline import check as check_baseline
from octavo.runs.comparison import Comparison, experiment_folder, files_of, save_comparison
from octavo.runs.experiment import Experiment
from octavo.runs.pictures.requests import USUAL, Asked, asked, check_kept, refuse
from octavo.runs.progress import told
from octavo.runs.slugs import slug
from octavo.scenarios import conflicts
from octavo.scenarios.scenario import overrides_of
from octavo.variants import variants_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Unpack

    from octavo.arguments import Arguments, Kind, PictureFormat
    from octavo.policies.names import Strategy
    from octavo.runs.execute import Progress
    from octavo.scenarios.scenario import Scenario


@spelled_out
def compare(  # noqa: PLR0913 - one for each thing that can be named
    source: str | Path | Scenario | None = None,
    *,
    workloads: Sequence[str | Path] | str | Path | None = None,
    placements: Sequence[Strategy] | Strategy | None = None,
    kinds: Sequence[Kind] | Kind | None = None,
    sharings: Sequence[Strategy] | Strategy | None = None,
    baseline: str | None = None,
    alone: bool = False,
    replicates: int = 1,
    output: str | Path | None = None,
    pictures: Sequence[PictureFormat] | PictureFormat | None = None,
    picture_width: float | None = None,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | bool | None = None,
    **arguments: Unpack[Arguments],
) -> Comparison:
    """Compare placements, kinds of memory of whole programs, or ways to share memory.

    Args:
        source: a workload, the folder of a trace, a TOML file or a scenario; or leave it out and name `workloads`.
        workloads: names of workloads; by default the scenario's own. Here and below, a single name may replace a list
            of one.
        placements: placement strategies by name, as Python files, or as classes of `octavo.policies`; by default
            `DEFAULT_PLACEMENTS`, or the scenario's own if there are `kinds`.
        kinds: kinds of the whole program: `explicit`, `managed`, `pinned`, `system`; or `launches`. Kinds for which
            the placement matters (`managed`, `launches`) run with each of `placements`.
        sharings: what one job may take from another: `free-for-all`, `quota` or a Python class.
        baseline: the variant that speed-ups are relative to; by default the first.
        alone: whether each job also runs with the others idle, which shows how much jobs slow each other down.
        replicates: how often each scenario runs with different choices of what it leaves open (when GPUs begin
            launches, which of several equal units comes first). With two or more, times and speed-ups are medians with
            intervals.
        output: folder of results, tables and pictures; by default a temporary one, removed with the comparison.
        pictures: formats of the pictures in `output`: `png` (the default), `svg`, `pdf`, or several of them.
        picture_width: their width in inches; by default 7.1, two columns of a paper.
        workers: number of concurrent runs; by default one for each core. Results do not depend on it.
        force: replace existing results in `output`.
        watch: called about ten times a second with the progress of the runs; `True` shows it.
        **arguments: see `octavo.arguments.Arguments`.

    Raises:
        OctavoError: a scenario cannot be used or simulated, or the folder cannot be written.

    """
    checks.workers(workers)
    check_kept(pictures, picture_width, kept=output is not None)
    planned = plan_comparison(
        source,
        workloads=workloads,
        placements=placements,
        kinds=kinds,
        sharings=sharings,
        baseline=baseline,
        alone=alone,
        replicates=replicates,
        **arguments,
    )
    wanted = planned.asked(pictures, picture_width)
    root, keep = folder_of(output)
    with told(watch) as tell:
        comparison = planned.run(
            root, workers=workers, force=force, watch=tell, report=output is not None, wanted=wanted
        )
    keep(comparison)
    return comparison


@dataclass(frozen=True)
class PlannedComparison:
    """A comparison that can run: everything that can be refused beforehand has been checked."""

    experiment: Experiment
    baseline: str | None
    name: str
    """A name for its folder; other comparisons have other names."""

    def asked(self, formats: Sequence[str] | str | None, width: float | None) -> Asked:
        """The formats and the width of its pictures.

        Raises:
            ScenarioError: it cannot be used, or there are no pictures.
            ExtraError: something was asked for, and Matplotlib is not installed.

        """
        if not self.experiment.has_time:
            refuse(formats, width, "the executor `instant` has no times, so no pictures", "leave it out, or --executor")
        return asked(formats, width)

    def run(
        self,
        root: Path,
        *,
        workers: int | None = None,
        force: bool = False,
        watch: Callable[[Progress], None] | None = None,
        report: bool = True,
        wanted: Asked = USUAL,
    ) -> Comparison:
        """Run in a folder what is not finished yet, and write table and pictures if `report` says so."""
        digest = self.experiment.digest
        files = files_of(self.experiment) if report else ()
        with experiment_folder(root, digest, force=force, writes=files):
            outcome = self.experiment.run(root, workers=workers, force=force, watch=watch)
            comparison = Comparison.of(outcome, self.baseline)
            if report:
                save_comparison(root, digest, comparison, wanted)
        return comparison

    def finished(self, root: Path) -> Comparison | None:
        """The comparison of the variants that have all their runs in a folder; None without a baseline."""
        outcome = self.experiment.finished(root)
        if outcome is None or self.baseline not in (None, *outcome.points["variant"]):
            return None
        return Comparison.of(outcome, self.baseline)


@spelled_out
def plan_comparison(
    source: str | Path | Scenario | None = None,
    *,
    workloads: Sequence[str | Path] | str | Path | None = None,
    placements: Sequence[Strategy] | Strategy | None = None,
    kinds: Sequence[Kind] | Kind | None = None,
    sharings: Sequence[Strategy] | Strategy | None = None,
    baseline: str | None = None,
    alone: bool = False,
    replicates: int = 1,
    **arguments: Unpack[Arguments],
) -> PlannedComparison:
    """Read and check everything; arguments and errors are those of `compare`."""
    variants = variants_of(*map(checks.names, ("placements", "kinds", "sharings"), (placements, kinds, sharings)))
    check_baseline(baseline, [variant.label for variant in variants])
    named = _names(checks.names("workloads", workloads), arguments.get("workload"))
    arguments["workload"] = named[0] if named else None
    base = recipe(source, **arguments)
    changes = overrides_of(arguments.get("overrides"))
    conflicts.refuse_varied(base, changes, [variant.overrides for variant in variants], "the comparison")
    experiment = Experiment(base, named, variants, alone=alone, replicates=replicates)
    if baseline is not None and not experiment.has_time:
        raise ScenarioError(
            "--baseline: the executor `instant` has no times, so no speed-ups",
            "leave out --baseline or --executor",
            code="no-time",
            key="baseline",
        )
    return PlannedComparison(
        experiment, baseline, f"compare-{slug('-'.join(experiment.workloads))}-{experiment.digest}"
    )


def _names(several: Sequence[str | Path] | None, single: str | Path | None) -> list[str] | None:
    """Workloads as a scenario names them; None if there are none."""
    named = [workload_name(single)] if several is None else [workload_name(each, "workloads") for each in several]
    return [name for name in named if name is not None] or None
