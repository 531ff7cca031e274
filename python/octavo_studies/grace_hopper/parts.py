"""The parts of the study by name, and which of them a study runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.files.notes import note
from octavo_studies.grace_hopper import over_time, oversubscription, remedies, sizes, speeds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo_studies.grace_hopper.part import Part
    from octavo_studies.grace_hopper.study import Study

PARTS = {
    part.name: part
    for part in (
        speeds.relative,
        speeds.tried,
        over_time.srad,
        sizes.pages,
        sizes.qubits,
        oversubscription.sweep,
        oversubscription.rescue,
        oversubscription.throughput,
        remedies.tried,
        over_time.memory,
    )
}


def chosen(study: Study, named: Iterable[str]) -> dict[str, Part]:
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
