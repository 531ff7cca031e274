"""Completion of values in the shell: names that scenarios know."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def names(kind: str) -> Callable[[str], list[str]]:
    """What completes the name of one kind of thing, such as `workloads`; after a comma, the next of a list."""

    def complete(incomplete: str) -> list[str]:
        from octavo.scenarios import catalogue  # noqa: PLC0415 - nothing but completion needs it

        before, comma, begun = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in catalogue.names(kind) if name.startswith(begun)]

    return complete
