"""The parts of the study by name, and which of them a study runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.files.notes import note
from octavo_studies.grace_hopper import (
    iterations,
    kinds,
    levels,
    memory,
    oversubscription,
    pages,
    qubits,
    remedies,
    variants,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo_studies.grace_hopper.described import Described
    from octavo_studies.grace_hopper.study import Study

PARTS = {
    described.name: described
    for described in (
        kinds.relative,
        variants.tried,
        iterations.srad,
        pages.sizes,
        qubits.sizes,
        oversubscription.sweep,
        oversubscription.rescue,
        levels.throughput,
        remedies.tried,
        memory.over_time,
    )
}


def chosen(study: Study, named: Iterable[str]) -> dict[str, Described]:
    """The parts that were named; all that have runs in the study if none was, with a note of each other one.

    Raises:
        ScenarioError: a part that was named has no runs.

    """
    asked = list(named)
    lacks = {name: why for name in asked or PARTS if (why := PARTS[name].lack(study))}
    for name, why in lacks.items():
        if asked:
            PARTS[name].check(study)
        note(f"part `{name}` is skipped: {why}")
    return {name: PARTS[name] for name in asked or PARTS if name not in lacks}
