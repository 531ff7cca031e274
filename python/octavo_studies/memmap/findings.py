"""Results of the study beside the publication, as tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.runs import pictures, unsourced_values
from octavo.runs.comparison import SAVED
from octavo.runs.sizes import sizes
from octavo.scenarios.about import brief
from octavo_studies.engine import Found, compared
from octavo_studies.memmap import intervals, systems
from octavo_studies.memmap.tables import geometric
from octavo_studies.publications import published

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from octavo.runs.result import RunResult
    from octavo.scenarios.about import About
    from octavo_studies.memmap.tables import Tables

_TABLES = ("structures", "intervals", "graphs", "oversubscribed", "roofline", "costs")
FILES = (*SAVED, *(f"{name}.parquet" for name in _TABLES))
"""Tables and the report."""


def of(
    root: Path,
    of_cases: Tables,
    beside: Mapping[str, pl.DataFrame],
    ran: Sequence[RunResult],
) -> Found:
    """What was found, in tables.

    - `points`, one row for each application, input and placement (`placements`: a letter a buffer, d or m): `seconds`,
      of these `allocation`, `copies`, `kernels` and `host`, `relative` to all on the device, `regret` over the fastest,
      `is_advice`;
    - `systems`, one row for each application, geometric means over its inputs: speed-ups over all on the device under
      each of `SYSTEMS`; `model_used` and `optimum_used` of all but allocation, `model_moved` and `optimum_moved` of
      copies and kernels alone, the optimum being the fastest by that part; `spread`, the slowest placement over the
      fastest; `model_over_optimum`, 1 plus the model's regret; and `means`, geometric means over applications, by
      system;
    - `intervals`, one row for each application and system, means over its inputs: milliseconds of `allocation`,
      `copies`, `kernels`, `host`, and of the `whole`;
    - `graphs`, one row for each graph that programs ran on: what it is, the least σ of a data structure, and the
      model's and the optimum's speed-ups, geometric means over the programs; `optimum_moved` as above;
    - `structures`, one row for each application, input and data structure: placements, σ and ρ estimated and
      measured, faults;
    - `oversubscribed`, one row for each of some applications that exceed memory, as its module says;
    - `roofline`, one row for each kernel of the roofline: operations a second that it reaches, and its ceiling;
    - `costs`, one row for each application and input: seconds of processor time that the model takes on this machine.
    """
    table = of_cases.systems
    means = {name: geometric(table[name]) for name in systems.SYSTEMS}
    files = {name: beside[name] if name in beside else getattr(of_cases, name) for name in _TABLES}
    document = {
        "compared": _compared(means, table),
        "means": means,
        "systems": table,
        **{name: files[name] for name in _TABLES if name != "costs"},
        "sizes": sizes(ran),
        "nodes": unsourced_values.documents(unsourced_values.by_node(ran)),
    }
    return Found(root, "Host or device for each data structure", of_cases.points, document, files)


def _compared(means: Mapping[str, float], table: pl.DataFrame) -> list[dict[str, Any]]:
    """The model's speed-ups beside the published ones."""
    reported, model, optimum = published("memmap"), systems.MODEL, systems.OPTIMUM
    return [
        compared("average speed-up of the model", means[model], reported["average_speedup"]),
        compared("largest speed-up of the model", table[model].max(), reported["largest_speedup"]),
        compared("average speed-up of the optimum", means[optimum], None),
        compared("largest speed-up of the optimum", table[optimum].max(), None),
        *(
            compared(f"average speed-up of the {system}, {words}", geometric(table[f"{system}_{part}"]), None)
            for part, words in intervals.PARTS.items()
            for system in (model, optimum)
        ),
    ]


def save(found: Found, key: str, nodes: Iterable[About]) -> None:
    """Write tables and pictures, which say below what ran, into the study's folder, which is open."""
    with pictures.below(lambda: brief(nodes)):
        _draw(found)
    found.save(key)


def _draw(found: Found) -> None:
    names = [name for name in systems.SYSTEMS if name != systems.DEVICE]
    wide = found.systems.select("application", *names).rename({name: systems.SYSTEMS[name] for name in names})
    title = "Speed over all on the device"
    pictures.bars(found.root / "speed.png", wide, xlabel="relative speed", title=title, line_at=1.0)
    boxes = {
        str(name[0]): rows["relative"].to_list()
        for name, rows in found.points.group_by("application", maintain_order=True)
    }
    pictures.boxes(
        found.root / "sensitivity.png",
        boxes,
        ylabel="time over all on the device",
        title="Times of all placements",
        line_at=1.0,
    )
    groups = found.roofline.group_by("placement", "sigma", "rho", maintain_order=True)
    series = {
        f"{placement}, {'σ' if placement == 'device' else 'ρ'} {sigma if placement == 'device' else rho:g}{what}": (
            rows["alpha"].to_list(),
            (rows[column] / 1e9).to_list(),
        )
        for (placement, sigma, rho), rows in groups
        for column, what in (("reached", ""), ("ceiling", ": ceiling"))
    }
    labels = ("operations a byte", "Gop/s")
    pictures.lines(found.root / "roofline.png", series, labels, title="Kernels below their ceilings")
