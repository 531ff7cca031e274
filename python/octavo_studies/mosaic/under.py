"""Applications under settings that change one thing each: shared by the parts that explain averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo_studies.mosaic import systems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.runs.experiment import Variant
    from octavo_studies.engine.study import Runs
    from octavo_studies.mosaic.study import Key, Study

Overrides = tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """One thing that is changed."""

    name: str
    changes: Mapping[str, Overrides]
    """The changes to the runs of each application; applications that it does not name have no runs."""
    large: Overrides = ()
    """Further changes to runs under 2 MiB pages alone."""


def everywhere(applications: tuple[str, ...], name: str, overrides: Overrides, large: Overrides = ()) -> Setting:
    """A setting that changes the same for all applications."""
    return Setting(name, dict.fromkeys(applications, overrides), large)


@dataclass(frozen=True)
class Times:
    """How long each application takes under each system of each setting, in picoseconds."""

    runs: Runs[Key]
    points: list[tuple[Setting, str, dict[str, int]]]
    """Setting, application, times by the name of the system."""


def times(study: Study, part: str, settings: list[Setting], compared: Mapping[str, Variant]) -> Times:
    """Run every application under every setting and system."""
    variants = {
        (setting.name, application, name): _variant(system, setting, application)
        for setting in settings
        for application in setting.changes
        for name, system in compared.items()
    }
    wanted: dict[Key, Variant] = {((application,), of.label): of for (_, application, _), of in variants.items()}
    runs = study.run(part, wanted)

    def time(setting: Setting, application: str, name: str) -> int:
        label = variants[setting.name, application, name].label
        return int(runs.results[(application,), label].summary["time_ps"])

    points = [
        (setting, application, {name: time(setting, application, name) for name in compared})
        for setting in settings
        for application in setting.changes
    ]
    return Times(runs, points)


def _variant(system: Variant, setting: Setting, application: str) -> Variant:
    overrides = setting.changes[application]
    if set(systems.LARGE.overrides) <= set(system.overrides):
        overrides += setting.large
    return systems.changed(system, setting.name, *overrides) if overrides else system
