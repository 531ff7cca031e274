"""Keys of scenarios that a study sets itself: a change of them is refused, as it would be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def refuse(overrides: Iterable[str], own: Mapping[str, str]) -> None:
    """Refuse changes (`key=value`) of keys in `own`, of what is below them, and of tables that they are in.

    Args:
        overrides: what a user says.
        own: keys, and the option of the command that changes each; empty if there is none.

    Raises:
        ScenarioError: a change that would be lost.

    """
    for one in overrides:
        written = one.partition("=")[0].strip()
        for key, option in own.items():
            if written == key or written.startswith(f"{key}.") or key.startswith(f"{written}."):
                hint = f"say {option} instead" if option else "leave it out"
                raise ScenarioError(f"--set {one}: the study sets that itself", hint)
