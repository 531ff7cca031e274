"""Completion of values in the shell: names and keys that scenarios know."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Complete = Callable[[str], list[str]]


def names(kind: str | None = None) -> Complete:
    """A completion for names of one kind, such as `workloads`, or of any kind; after a comma, for the next name."""

    def known() -> Iterable[str]:
        from octavo.scenarios import catalogue  # noqa: PLC0415 - nothing but completion needs it

        kinds = catalogue.listing()
        return dict.fromkeys(entry["name"] for each in ([kind] if kind else kinds) for entry in kinds[each])

    return _among(known)


def targets(incomplete: str) -> list[str]:
    """Workloads by name, then folders and files that may be scenarios, traces and recorded steps."""
    return [*names("workloads")(incomplete), *_files(incomplete)]


def choices(argument: str) -> Complete:
    """A completion for an argument with few values, by the name of their type: `Kind`, `Fidelity`."""

    def known() -> Iterable[str]:
        from octavo import arguments  # noqa: PLC0415 - as above

        return get_args(getattr(arguments, argument))

    return _among(known)


def key(incomplete: str) -> list[str]:
    """Keys of a scenario for `--set`, each up to its equals sign."""
    from octavo.scenarios import catalogue  # noqa: PLC0415 - as above

    return [f"{each}=" for each in catalogue.settable() if each.startswith(incomplete)]


_KINDS = (".toml", ".trace", ".json", ".gz", ".py")
"""How files of scenarios, traces and recorded steps end."""


def _files(incomplete: str) -> list[str]:
    """Paths that begin like this; folders end with a slash, as more may follow."""
    folder, slash, begun = incomplete.rpartition("/")
    try:
        found = sorted(os.scandir(f"{folder}{slash}" or "."), key=lambda entry: entry.name)
    except OSError:
        return []
    shown = [entry for entry in found if entry.name.startswith(begun) and (begun or not entry.name.startswith("."))]
    return [
        f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}"
        for entry in shown
        if entry.is_dir() or entry.name.endswith(_KINDS)
    ]


def _among(known: Callable[[], Iterable[str]]) -> Complete:
    def complete(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in known() if name.startswith(begun)]

    return complete
