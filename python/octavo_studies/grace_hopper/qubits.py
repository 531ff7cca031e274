"""Quantum volume by the number of qubits and the size of system pages: initialisation and gates apart, counters off.

The publication takes 30 to 34 qubits; here the largest is the study's scale, and the others have fewer.
"""

from __future__ import annotations

from math import floor, log2
from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.grace_hopper import phases, systems
from octavo_studies.grace_hopper.described import part
from octavo_studies.grace_hopper.programs import PROGRAMS
from octavo_studies.grace_hopper.study import WITHOUT_COPIES

if TYPE_CHECKING:
    from pathlib import Path

    from octavo_studies.grace_hopper.study import Key, Part, Study

TITLE = "Quantum volume by qubits and system page size, access counters off"
PROGRAM = "quantum-volume"
PUBLISHED_QUBITS = 30
"""At scale 1."""
LEAST_QUBITS = 6
FEWER, FEWEST = (6, 4, 2, 0), (4, 2, 0)
"""How many qubits less than the largest; chosen."""


@part("qubits", programs=(PROGRAM,), kinds=WITHOUT_COPIES)
def sizes(study: Study) -> Part:
    """Both kinds without copies, with small and large pages."""
    kinds = [kind for kind in study.kinds if kind in WITHOUT_COPIES]
    wanted: dict[Key, tuple[str, ...]] = {
        (PROGRAM, kind, size, str(qubits)): (
            *systems.counters(study.coherent, kind, on=False),
            *systems.page(size),
            f"workload.qubits={qubits}",
        )
        for kind in kinds
        for size in (systems.SMALL, systems.LARGE)
        for qubits in _qubits(study)
    }
    runs = study.run("qubits", wanted)
    rows = []
    for (_, kind, size, qubits), result in runs.results.items():
        times, first = phases.times(result), phases.first_launch(result)
        rows.append(
            {"kind": kind, "pages": size, "qubits": int(qubits), **times, **phases.moved(result)}
            | {"initialise_ps": first, "gates_ps": times["computation_ps"] - first}
        )
    points = pl.DataFrame(rows)
    names = {"initialise_ps": "initialisation in ms", "gates_ps": "gates in ms"}
    shown = points.select(
        "kind", "pages", "qubits", *(pl.col(name).truediv(1e9).alias(title) for name, title in names.items())
    )

    def draw(root: Path) -> None:
        for name, title in names.items():
            series = {
                f"{kind}, {size}": (found["qubits"].to_list(), (found[name] / 1e9).to_list())
                for kind in kinds
                for size in (systems.SMALL, systems.LARGE)
                for found in [points.filter(kind=kind, pages=size)]
            }
            picture = root / f"{name.removesuffix('_ps')}.png"
            pictures.lines(picture, series, ("qubits", "ms"), title=f"Quantum volume: {title}")

    return runs.part(TITLE, points, shown, draw)


def _qubits(study: Study) -> list[int]:
    """Ascending; the last is what the study's scale gives."""
    most = max(LEAST_QUBITS, PUBLISHED_QUBITS + floor(log2(study.scale * PROGRAMS[PROGRAM].share)))
    less = FEWEST if study.fewer else FEWER
    return sorted({max(LEAST_QUBITS, most - fewer) for fewer in less})
