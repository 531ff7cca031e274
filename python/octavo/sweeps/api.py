"""`octavo.sweep`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from octavo import checks
from octavo.arguments import named
from octavo.errors import ScenarioError
from octavo.runs.pictures import requests as pictures_asked
from octavo.runs.progress import told
from octavo.scenarios.scenario import overrides_of
from octavo.sweeps import picture
from octavo.sweeps.run import Sweep
from octavo.sweeps.search import DEFAULT_TRIALS, Goal
from octavo.sweeps.spec import read, with_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from octavo.arguments import PictureFormat
    from octavo.runs.execute import Progress
    from octavo.runs.pictures.requests import Asked
    from octavo.scenarios.config import Config


@named
def sweep(  # noqa: PLR0913 - as many as the command has options
    source: str | Path | Mapping[str, Any],
    *,
    best: str | None = None,
    trials: int | None = None,
    direction: Literal["minimize", "maximize"] | None = None,
    seed: int | None = None,
    overrides: Config | Mapping[str, object] | None = None,
    replicates: int = 1,
    output: str | Path | None = None,
    pictures: Sequence[PictureFormat] | PictureFormat | None = None,
    picture_width: float | None = None,
    workers: int | None = None,
    on: str | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | bool | None = None,
) -> pl.DataFrame:
    """Run a scenario under many values of some of its keys, or search for the best of them.

    Args:
        source: a sweep file, or a dictionary of the same form: `scenario` (a path or a dictionary) and `grid`, `zip`
            and `random`, each with lists of values by dotted key.
        best: a measure, such as `time_ps`: search for its best value instead of trying every point (needs
            `octavo[search]`).
        trials: number of points that the search tries; by default `random.points` of the file, or 32.
        direction: `minimize` (the default) or `maximize`.
        seed: seed of random axes and of the search; by default the file's, or 0.
        overrides: changes to the scenario by dotted key.
        replicates: how often each point runs with different choices of what its scenario leaves open. With two or
            more, measures are medians, and `time_ps` and `best` have intervals.
        output: folder of the results; by default a temporary one, removed at the end.
        pictures: formats of the picture in `output`: `png` (the default), `svg`, `pdf`, or several of them.
        picture_width: its width in inches; by default 7.1, two columns of a paper.
        workers: number of concurrent points; by default one for each core. Results do not depend on it.
        on: `local` (processes on this machine), `ray` (a Ray cluster; needs `octavo[ray]`), or its address
            (`ray://head:10001`). Results do not depend on it.
        force: replace an existing sweep in `output`.
        watch: called about ten times a second with the progress of the sweep; `True` shows it.

    Returns:
        One row for each point: `point`, the axes by dotted key, `status` (`ok` or `failed`), `error`, `run` (the
        result's folder) and the measures; times in picoseconds. A point that fails does not stop the others.

    Raises:
        OctavoError: the sweep is invalid, its folder contains something else, or the cluster is unusable.

    Examples:
        >>> scenario = {"workload": {"name": "fir", "scale": 0.01}, "node": {"preset": "grit-4gpu"}}
        >>> table = octavo.sweep({"scenario": scenario, "grid": {"memory.placement": ["on-touch", "grit"]}})
        >>> table["status"].to_list()
        ['ok', 'ok']

    """
    checks.workers(workers)
    pictures_asked.check_kept(pictures, picture_width, kept=output is not None)
    planned = prepare(source, best, trials, direction, seed, overrides_of(overrides), replicates)
    wanted = asked(planned, pictures, picture_width)
    with told(watch) as tell:
        if output is not None:
            root = checks.path("output", output)
            return carry_out(planned, root, workers=workers, on=on, force=force, watch=tell, wanted=wanted)
        with tempfile.TemporaryDirectory(prefix="octavo-") as temporary:
            table = planned.run(Path(temporary), workers=workers, on=on, watch=tell)
    return table.drop("run")


def prepare(
    source: str | Path | Mapping[str, Any],
    best: str | None,
    trials: int | None,
    direction: str | None,
    seed: int | None,
    changes: list[str],
    replicates: int = 1,
) -> Sweep:
    """Read and check everything; errors as `sweep`."""
    spec = with_changes(read(source), changes)
    if trials is not None:
        checks.whole("trials", trials, least=1)
    if best is not None:
        return Sweep.of(
            spec, Goal(best, trials or spec.draws or DEFAULT_TRIALS, direction or "minimize"), seed, replicates
        )
    if trials is not None or direction is not None:
        raise ScenarioError("a number of trials or a direction, but no search", "say what to search for with --best")
    return Sweep.of(spec, None, seed, replicates)


def asked(planned: Sweep, formats: Sequence[str] | str | None, width: float | None) -> Asked:
    """The formats and the width of a sweep's picture.

    Raises:
        ScenarioError: it cannot be used, or such a sweep has no picture.
        ExtraError: something was asked for, and Matplotlib is not installed.

    """
    why = picture.without(planned.spec, planned.goal)
    if why is not None:
        pictures_asked.refuse(formats, width, why, "leave it out: such a sweep has no picture")
    return pictures_asked.asked(formats, width)


def carry_out(
    planned: Sweep,
    root: Path,
    *,
    workers: int | None,
    on: str | None,
    force: bool,
    watch: Callable[[Progress], None] | None,
    wanted: Asked,
) -> pl.DataFrame:
    """Run a sweep and draw its picture; errors as `sweep`."""
    return planned.run(root, workers=workers, on=on, force=force, watch=watch, drawn=wanted)
