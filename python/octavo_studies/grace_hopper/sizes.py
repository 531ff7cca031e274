"""By the size of system pages, access counters off: every program, and quantum volume by its qubits.

The publication takes 30 to 34 qubits; here the largest is the study's scale, and the others have fewer.
"""

from __future__ import annotations

from math import floor, log2
from typing import TYPE_CHECKING

import polars as pl

from octavo_studies.engine import Found, Row, Runs, each, series
from octavo_studies.grace_hopper import phases, systems
from octavo_studies.grace_hopper.part import Part, milliseconds, shown
from octavo_studies.grace_hopper.programs import PROGRAMS
from octavo_studies.grace_hopper.study import WITHOUT_COPIES

if TYPE_CHECKING:
    from octavo.runs.result import RunResult
    from octavo_studies.grace_hopper.study import Key, Study

SIZES = (systems.SMALL, systems.LARGE)
QUANTUM = "quantum-volume"
PUBLISHED_QUBITS = 30
"""At scale 1."""
LEAST_QUBITS = 6
FEWER, FEWEST = (6, 4, 2, 0), (4, 2, 0)
"""How many qubits less than the largest; chosen."""


def _row(key: Key, result: RunResult) -> Row:
    measured = {**phases.times(result), **phases.moved(result), "initialise_ps": phases.first_launch(result)}
    return {"program": key[0], "kind": key[1], "pages": key[2], **measured}


def _draw(found: Found, _runs: Runs[Key]) -> None:
    named = found.points.with_columns(pl.format("{} ({})", "program", "kind").alias("program"))
    for name in ("allocation", "computation", "deallocation"):
        path, title = found.root / f"{name}.png", f"{name.capitalize()} by system page size"
        table = named.with_columns(pl.col(f"{name}_ps").truediv(1e9))
        series.bars(path, table, "program", "pages", f"{name}_ps", xlabel="ms", title=title)


pages = Part(
    "page-sizes",
    title=lambda _: "By the size of system pages, access counters off",
    wanted=lambda study: {
        (program, kind, size): (*study.counters(kind, on=False), *systems.page(size))
        for program in study.programs
        for kind in study.uncopied
        for size in SIZES
    },
    rows=each(_row),
    tables=shown(
        "program",
        "kind",
        "pages",
        *map(milliseconds, ("allocation", "host_initialisation", "computation", "deallocation")),
    ),
    draw=_draw,
    kinds=WITHOUT_COPIES,
)
"""Every program under system and managed memory with small and large pages."""


def _qubits(study: Study) -> list[int]:
    """Ascending; the last is what the study's scale gives."""
    most = max(LEAST_QUBITS, PUBLISHED_QUBITS + floor(log2(study.scale * PROGRAMS[QUANTUM].share)))
    less = FEWEST if study.fewer else FEWER
    return sorted({max(LEAST_QUBITS, most - fewer) for fewer in less})


def _row_of_qubits(key: Key, result: RunResult) -> Row:
    times, first = phases.times(result), phases.first_launch(result)
    named = {"kind": key[1], "pages": key[2], "qubits": int(key[3])}
    gates = {"initialise_ps": first, "gates_ps": times["computation_ps"] - first}
    return {**named, **times, **phases.moved(result), **gates}


def _draw_qubits(found: Found, _runs: Runs[Key]) -> None:
    for name, title in (("initialise", "initialisation"), ("gates", "gates")):
        path, how = found.root / f"{name}.png", {"title": f"Quantum volume: {title} in ms", "per": 1e9}
        series.lines(path, found.points, ("kind", "pages"), "qubits", f"{name}_ps", ("qubits", "ms"), **how)


qubits = Part(
    "qubits",
    title=lambda _: "Quantum volume by qubits and system page size, access counters off",
    wanted=lambda study: {
        (QUANTUM, kind, size, str(qubits)): (
            *study.counters(kind, on=False),
            *systems.page(size),
            f"workload.qubits={qubits}",
        )
        for kind in study.uncopied
        for size in SIZES
        for qubits in _qubits(study)
    },
    rows=each(_row_of_qubits),
    tables=shown("kind", "pages", "qubits", milliseconds("initialise", "initialisation"), milliseconds("gates")),
    draw=_draw_qubits,
    programs=(QUANTUM,),
    kinds=WITHOUT_COPIES,
)
"""Quantum volume in both kinds without copies, with small and large pages: initialisation and gates apart."""
