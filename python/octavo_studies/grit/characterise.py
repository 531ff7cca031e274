"""Sharing of pages under each dispatch, beside the published characterisation: GRIT's partition.

Nothing here is about speed. Shares of pages and accesses are counted from the kernels' streams; how many pages lose
their replicas to a store, and get new ones, is seen in runs under duplication.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo import api
from octavo.quantities import bytes_of
from octavo.runs import pictures
from octavo.runs.experiment import Variant
from octavo_studies.grit.dispatches import DISPATCHERS, Dispatcher
from octavo_studies.grit.partition_statements import STATEMENTS, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from octavo.runs.result import RunResult
    from octavo_studies.engine import Found
    from octavo_studies.grit.study import Study

DUPLICATION = (
    "memory.placement=duplication",
    "node.capacity.footprint_percent=0",
    "record.events=true",
    "record.interval=0ns",
)
"""Runs in which a replica is given up for a store alone: memory has no limit."""
_COLLAPSES = ("write_collapse", "discard")


def characterise(
    study: Study, collapse_scale: float | None = None, dispatchers: Sequence[Dispatcher] = DISPATCHERS
) -> Found:
    """Count and run, and leave tables and pictures; errors as `Experiment.run`.

    Points have one row for each kernel and dispatch: see `counted` and `collapsed`. `statements` has each statement
    about a kernel here: what is found under each dispatch, and under which it holds. `held` says how many of them hold
    under each dispatch. `buffers` has one row for each kernel, dispatch and buffer.

    `collapse_scale` is the scale of the runs; the study's own if left out. Counts are always made at the study's.
    """
    smaller = () if collapse_scale is None else (f"workload.scale={collapse_scale}",)
    streams = study.experiment([Variant(one.label, (one.override,)) for one in dispatchers]).scenarios
    runs, _ = study.compare(
        "partition", [Variant(one.label, (*DUPLICATION, one.override, *smaller)) for one in dispatchers]
    )
    with ThreadPoolExecutor(study.workers) as pool:
        inspected = dict(zip(streams, pool.map(api.inspect_workload, streams.values()), strict=True))
    counts = {key: shares_of(found["total"]) for key, found in inspected.items()}
    rows = [
        {"kernel": kernel, "dispatch": dispatch, **counts[kernel, dispatch], **collapsed(result)}
        for (kernel, dispatch), result in runs.results.items()
    ]
    points = pl.DataFrame(rows, infer_schema_length=None)
    judged = [_judge(one, points) for one in STATEMENTS if one.kernel in points["kernel"].to_list()]
    labels = points["dispatch"].unique(maintain_order=True)
    held = {label: sum(label in row["holds"] for row in judged) for label in labels}
    buffers = pl.DataFrame([row for key, found in inspected.items() for row in _buffers(*key, found["buffers"])])
    document = {"statements": judged, "held": held, "buffers": buffers, "points": points}
    return runs.found("Partition", points, document, _draw)


def _buffers(kernel: str, dispatch: str, buffers: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Pages and stores of each buffer, and those that several GPUs access."""
    for buffer in buffers:
        shared, private = buffer["shared"], buffer["private"]
        named = {"kernel": kernel, "dispatch": dispatch, "buffer": buffer["name"]}
        pages = {"pages": shared["pages"] + private["pages"], "shared_pages": shared["pages"]}
        yield {**named, **pages, "stores": buffer["stores"], "shared_stores": shared["stores"]}


def shares_of(total: Mapping[str, Any]) -> dict[str, float | None]:
    """Shares of pages, of accesses before any cache, and of what happens to shared pages, from counts of a workload.

    `pages` are those accessed, `pairs` adds up how many GPUs access each. Shares of pages are of all; every other share
    says something of the shared pages, and is None without any.
    """
    shared, written = total["shared"], total["shared_read_write"]
    pages = shared["pages"] + total["private"]["pages"]

    def of_shared(part: int, whole: int = shared["pages"]) -> float | None:
        return _share(part, whole) if shared["pages"] else None

    return {
        "pages": pages,
        "pairs": sum(count * group["pages"] for count, group in enumerate(total["by_gpus"], 1)),
        "shared_pages": _share(shared["pages"], pages),
        **{f"by_{count}": _share(group["pages"], pages) for count, group in enumerate(total["by_gpus"], 1)},
        "shared_accesses": of_shared(shared["accesses"], total["accesses"]),
        "written_pages": of_shared(written["pages"]),
        "written_accesses": of_shared(written["accesses"], shared["accesses"]),
        "stores": of_shared(shared["stores"], shared["accesses"]),
        "in_turn": of_shared(sum(group["pages"] for group in total["in_turn"])),
        "two_in_turn": of_shared(sum(group["pages"] for group in total["in_turn"][1:2])),
        "phased": of_shared(total["phased"]["pages"]),
    }


def collapsed(result: RunResult) -> dict[str, float]:
    """Shares of the pages that lose replicas to a store, that are duplicated again then, and that several GPUs had.

    The last tells what is counted otherwise, too, but knows what a run decided.
    """
    return collapses(result.table("events"), bytes_of(result.scenario.values["memory"]["page_size"]))


def collapses(events: pl.DataFrame, page_bytes: int) -> dict[str, float]:
    """The same from the events of a run under duplication without limit of memory."""
    kinds = pl.col("kind").cast(pl.String)
    moved = (
        events.filter(kinds.is_in([*_COLLAPSES, "duplication", "migration"]))
        .with_row_index("order")
        .with_columns(kinds, page=pl.int_ranges(0, pl.col("pages")))
        .explode("page")
        .with_columns(page=pl.col("address") // page_bytes + pl.col("page").cast(pl.UInt64))
    )
    lost = moved.filter(kinds.is_in(_COLLAPSES)).group_by("page").agg(first=pl.col("order").min())
    again = (
        moved.filter(kinds == "duplication")
        .join(lost, on="page")
        .filter(pl.col("order") > pl.col("first"))
        .select(pl.col("page").n_unique())
        .item()
    )
    arrived = moved.filter(kinds != "discard").group_by("page").agg(gpus=pl.col("to").n_unique())
    pages, several = moved["page"].n_unique(), arrived.filter(pl.col("gpus") > 1).height
    return {
        "collapsed": _share(lost.height, pages),
        "duplicated_again": _share(again, pages),
        "shared_in_run": _share(several, pages),
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _judge(statement: Statement, points: pl.DataFrame) -> dict[str, Any]:
    here = points.filter(pl.col("kernel") == statement.kernel)
    found = dict(zip(here["dispatch"], here[statement.measure], strict=True))
    return {
        "kernel": statement.kernel,
        "statement": statement.text,
        "measure": statement.measure,
        "found": found,
        "holds": [label for label, value in found.items() if statement.holds(value)],
    }


PICTURES = {
    "shared_pages": "Share of pages that several GPUs access",
    "shared_accesses": "Share of accesses that go to shared pages",
    "duplicated_again": "Share of pages that collapse and are duplicated again",
}


def _draw(found: Found) -> None:
    for name, title in PICTURES.items():
        table = found.points.pivot(on="dispatch", index="kernel", values=name, maintain_order=True)
        rows = [[float("nan") if value is None else round(value, 3) for value in row[1:]] for row in table.rows()]
        axes = ("kernel", "dispatch of work-groups")
        path = found.root / f"{name}.png"
        pictures.heat_map(path, rows, table["kernel"].to_list(), table.columns[1:], axes, title, 0.0)
