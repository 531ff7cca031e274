"""Times of a run by phases: context, allocation, CPU initialisation, computation, results, de-allocation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from octavo.runs.result import RunResult

APART = ("allocation", "host_initialisation", "deallocation")
"""Phases that the engine names as the study does."""
NAMES = ("allocation_ps", "host_initialisation_ps", "computation_ps", "results_ps", "deallocation_ps")
"""Measures of `times`; with `context_ps`, they are the whole time."""
_RESULTS = "read results"
"""Name of the host phase in which it reads the outputs, after the last launch."""
_CONTEXT = 132_000_000_000
"""Picoseconds in which a program makes its context on a GPU: a first launch in a process without one, over a later one,
takes 131 and 133 ms (medians of three runs of two programs on an RTX 4070 Laptop: AcademySoftwareFoundation/openqmc,
pull request 111). None is published for GH200. The publication times whole programs; nodes leave it out.
"""


def context(result: RunResult) -> int:
    """Picoseconds of the context: as much shorter as the input is smaller, so that phases keep their proportions."""
    return round(_CONTEXT * float(result.scenario.values["workload"]["scale"]))


def times(result: RunResult) -> dict[str, int]:
    """Picoseconds of each phase; computation is all that is no other: copies, launches, the host's part in between.

    The run has no context: its time is added.
    """
    summary = result.totals
    table = result.table("phases")
    after = table.filter(pl.col("name") == _RESULTS)
    found = {f"{name}_ps": int(summary["phases"][f"{name}_ps"]) for name in APART}
    found["results_ps"] = int((after["ended_ps"] - after["began_ps"]).sum())
    found["computation_ps"] = int(summary["time_ps"]) - sum(found.values())
    made = context(result)
    return {**found, "context_ps": made, "time_ps": int(summary["time_ps"]) + made}


def moved(result: RunResult) -> dict[str, int]:
    """Bytes over the link between CPU and GPU by direction, faults, lines that the GPU accessed at the CPU."""
    links = {row["link"]: row for row in result.table("links").to_dicts()}
    causes = ("migration", "prefetch", "eviction", "duplication", "write_collapse")

    def over(link: str, names: tuple[str, ...]) -> int:
        return sum(int(links[link][name]) for name in names) if link in links else 0

    accesses, manager = result.summary["accesses"], result.summary["manager"]
    return {
        "migrated_in_bytes": over("host->gpu0", causes),
        "migrated_out_bytes": over("gpu0->host", causes),
        "copied_bytes": over("host->gpu0", ("copies",)) + over("gpu0->host", ("copies",)),
        "remote_lines": int(accesses["remote_host_lines"]),
        "faults": int(manager["far_faults"]) + int(manager["protection_faults"]),
        "evicted_pages": int(manager["evictions_written"]) + int(manager["evictions_dropped"]),
    }


def first_launch(result: RunResult) -> int:
    """Picoseconds of the first launch, which writes the data of programs that the GPU initialises."""
    kernels = result.table("kernels")
    return int(kernels["ended_ps"][0] - kernels["began_ps"][0])
