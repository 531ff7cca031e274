"""Times of a simulated program, in the phases in which programs are measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo_studies.validate.programs.times import PHASES

if TYPE_CHECKING:
    from octavo.runs.result import RunResult

_NAMES = {
    "allocation": "allocate",
    "deallocation": "free",
    "host-initialisation": "host_write",
    "host-results": "host_read",
}
_COPIES = ("copy_in", "copy_out")
"""Copies and prefetches before the first launch, and copies after the last."""


def seconds(result: RunResult) -> dict[str, float]:
    """Seconds of each phase and of what `times.JUDGED` names; from a run of a whole program.

    From the first launch to the end of the last all counts as `kernels`, whatever the host does in between.
    """
    rows = result.table("phases").sort("began_ps").to_dicts()
    launches = [row for row in rows if row["phase"] == "kernel"]
    began, ended = launches[0]["began_ps"], launches[-1]["ended_ps"]
    found = dict.fromkeys(PHASES, 0)
    for row in rows:
        if row["ended_ps"] <= began or row["began_ps"] >= ended:
            name = _NAMES.get(row["phase"]) or _COPIES[row["began_ps"] >= ended]
            found[name] += row["ended_ps"] - row["began_ps"]
    found["kernels"] = ended - began
    found["kernels_event"] = sum(row["ended_ps"] - row["began_ps"] for row in launches)
    found["kernels_run"] = int(result.table("kernels")["run_ps"].sum())
    found["total"] = result.summary["time_ps"]
    return {name: 1e-12 * value for name, value in found.items()}
