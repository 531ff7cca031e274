"""Applications under settings that change one thing each: shared by the parts that explain averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo_studies.mosaic import systems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from octavo.runs.experiment import Variant
    from octavo.runs.result import RunResult
    from octavo_studies.engine import Row
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

    def of(self, system: Variant, application: str) -> Variant:
        """A system with these changes."""
        overrides = self.changes[application]
        if set(systems.LARGE.overrides) <= set(system.overrides):
            overrides += self.large
        return systems.changed(system, self.name, *overrides) if overrides else system


def everywhere(applications: tuple[str, ...], name: str, overrides: Overrides, large: Overrides = ()) -> Setting:
    """A setting that changes the same for all applications."""
    return Setting(name, dict.fromkeys(applications, overrides), large)


def runs(
    settings: Callable[[Study], Sequence[Setting]], compared: Mapping[str, Variant]
) -> Callable[[Study], dict[Key, Variant]]:
    """Every application under every setting and system."""
    return lambda study: {
        ((application,), of.label): of
        for setting in settings(study)
        for application in setting.changes
        for of in (setting.of(system, application) for system in compared.values())
    }


def rows(
    settings: Callable[[Study], Sequence[Setting]],
    compared: Mapping[str, Variant],
    measures: Callable[[Mapping[str, int]], Row],
) -> Callable[[Study, Mapping[Key, RunResult]], Iterator[Row]]:
    """Rows of a setting and an application, with measures made of picoseconds by the name of the system."""

    def found(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
        for setting in settings(study):
            for application in setting.changes:
                labels = {name: setting.of(system, application).label for name, system in compared.items()}
                times = {name: int(results[(application,), label].summary["time_ps"]) for name, label in labels.items()}
                yield {"setting": setting.name, "application": application, **measures(times)}

    return found
