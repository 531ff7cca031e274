"""Facts about the time of a run, from its tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.explain.occupancy import occupied
from octavo.explain.stalls import Stalled, of_kernels
from octavo.explain.waits import Wait, waits
from octavo.quantities import bytes_of, count
from octavo.runs import events, measures
from octavo.scenarios.about import briefs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.runs.result import RunResult

_NUMBERED_GPUS = 16
"""The host's further memories have the numbers after this many GPUs in `events`, or after all of them if there are
more."""


@dataclass(frozen=True)
class Facts:
    """Numbers that are in the tables or follow from them."""

    time_ps: int
    lines: int
    faults: int
    """Faults that the driver served."""
    phases: Mapping[str, float]
    """The share of each phase of a whole program in the time of the run; empty for launches alone."""
    shares: Mapping[str, float]
    """Share of each cause in the time of accesses, largest first; only shares above 0."""
    driver: float | None
    """The share of the kernels' time in which GPUs' requests keep the driver's servers busy; None for batches."""
    links: Mapping[str, float]
    """The share of the run in which each direction of a link is busy, largest first."""
    occupied: Mapping[str, float]
    """The share of the GPUs' memory, page-table walkers and remote lines in flight that is in use while kernels run."""
    buffers: list[dict[str, Any]]
    """`allocation`, `faults`, `share` of all, `moved` pages, `times` each of its pages moved; most faults first."""
    waits: list[Wait] = field(default_factory=list)
    """The parts of faults' waits in their order, the whole last; empty if there were no faults."""
    wakes_in_vain: int = 0
    """Wake-ups after which every waiting access faulted again."""
    late_retries: int = 0
    """Accesses that were retried later than their wake-up arrived."""
    late_ps: float = 0.0
    """Their delay, on average."""
    without_room: int = 0
    """Pages that took up no room on GPUs whose memory has a limit (`ideal`)."""
    kernels: list[Stalled] = field(default_factory=list)
    """What kernels spend their time with, longest first; empty where no wavefronts are followed."""
    node: str = ""
    """The node, its memory system and whether it was validated, for pictures."""

    @property
    def in_kernels(self) -> float:
        """The share of the run in which kernels run: all of it for launches alone."""
        return self.phases.get("kernels", 1.0)


def facts(result: RunResult) -> Facts:
    """Collect the facts of a simulated run, which must have a time.

    Raises:
        OutputError: it has no scenario, as profiles of real programs have none.

    """
    node = result.scenario.values["node"]
    summary = result.summary
    time = max(int(summary["time_ps"]), 1)
    point = measures.row("", "", result)
    kernels = max(point.get("kernels_ps") or time, 1)
    shares = {cause: share for cause, share in measures.shares(point).items() if share}
    links = {row["link"]: row["busy_ps"] / time for row in result.rows("links")}
    return Facts(
        time_ps=time,
        lines=point["lines"],
        faults=point["faults"],
        phases={phase: time_ps / time for phase, time_ps in _phases(point).items()},
        shares=_falling(shares),
        driver=_driver(result, node["driver"]["service"], kernels),
        links=_falling(links),
        occupied=occupied(node, summary, kernels),
        buffers=_buffers(result),
        waits=waits(result),
        **_retries(result.totals["accesses"]),
        without_room=_without_room(summary),
        kernels=of_kernels(result),
        node=briefs([result.scenario.values]),
    )


def _without_room(summary: Mapping[str, Any]) -> int:
    limited = summary.get("capacity_bytes") is not None
    return summary["manager"].get("pages_without_room", 0) if limited else 0


def _retries(accesses: Mapping[str, int]) -> dict[str, Any]:
    late = accesses.get("deferred_retries", 0)
    return {
        "wakes_in_vain": accesses.get("wakes_in_vain", 0),
        "late_retries": late,
        "late_ps": accesses.get("deferred_retry_ps", 0) / max(late, 1),
    }


def _falling(values: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(values.items(), key=lambda item: -item[1]))


def _phases(point: dict[str, Any]) -> dict[str, int]:
    return measures.phases(point) if point.get("kernels_ps") is not None else {}


def _driver(result: RunResult, service: Mapping[str, Any], time: int) -> float | None:
    """A pool serves each request for the same time on one of its servers; GPUs make theirs while kernels run."""
    if service.get("model") != "pool":
        return None
    requests = result.table("allocations").select(pl.sum("read_fault", "write_fault", "counter")).row(0)
    busy: float = sum(requests) * count(service["service"], "ps") / int(service["servers"])
    return busy / time


def _buffers(result: RunResult) -> list[dict[str, Any]]:
    page = bytes_of(result.scenario.values["memory"]["page_size"])
    table = result.table("allocations")
    faults = pl.col("read_fault") + pl.col("write_fault")
    moved = sum((pl.col(kind) for kind in _moves(table)), start=pl.lit(0, pl.UInt64))
    found = table.select("allocation", "bytes", faults=faults, moved=moved).sort(
        "faults", "moved", descending=True, maintain_order=True
    )
    total = max(int(found["faults"].sum()), 1)
    return [
        {
            "allocation": row["allocation"],
            "faults": row["faults"],
            "share": row["faults"] / total,
            "moved": row["moved"],
            "times": row["moved"] / max(-(-row["bytes"] // page), 1),
        }
        for row in found.to_dicts()
    ]


def _moves(table: pl.DataFrame) -> list[str]:
    return [kind for kind in ("migration", "duplication", "write_collapse", "prefetch") if kind in table.columns]


def pairs(result: RunResult) -> list[dict[str, Any]]:
    """`from`, `to`, `pages`, and `share` of all moved pages, largest first; empty for a run that recorded no events."""
    if "events" not in result.tables:
        return []
    table = result.table("events")
    events.check(table)
    copied = table.filter(pl.col("kind").cast(pl.String).is_in(events.COPIES))
    found = (
        copied.group_by("from", "to")
        .agg(pl.col("pages").sum())
        .sort("pages", "from", "to", descending=[True, False, False])
    )
    total = max(int(found["pages"].sum()), 1)
    gpus = max(result.scenario.values["node"]["gpus"], _NUMBERED_GPUS)
    return [
        {
            "from": _name(row["from"], gpus),
            "to": _name(row["to"], gpus),
            "pages": row["pages"],
            "share": row["pages"] / total,
        }
        for row in found.to_dicts()
    ]


def _name(number: int, gpus: int) -> str:
    if number == 0:
        return "host"
    return f"gpu{number - 1}" if number <= gpus else f"host{number - gpus}"
