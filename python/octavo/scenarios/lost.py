"""Changes of a scenario (`key=value`) that would be lost, as something else sets the same key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tomlkit
from tomlkit.exceptions import TOMLKitError

from octavo.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def keys_of(change: str) -> list[str]:
    """Dotted keys that a change sets: its own or, of an inline table, all in it."""
    key, _, value = (part.strip() for part in change.partition("="))
    if not value.startswith("{"):
        return [key]
    try:
        return list(_leaves(key, tomlkit.parse(f"value = {value}").unwrap()["value"]))
    except TOMLKitError:
        return [key]


def _leaves(key: str, value: object) -> Iterable[str]:
    if not isinstance(value, dict) or not value:
        return [key]
    return [leaf for name, below in value.items() for leaf in _leaves(f"{key}.{name}", below)]


def replaces(later: str, earlier: str) -> bool:
    """Whether what is said of a key goes when another is set after it: of the same, or of one below it."""
    return earlier == later or earlier.startswith(f"{later}.")


def refuse(changes: Iterable[str], own: Mapping[str, str], who: str = "the study") -> None:
    """Refuse changes of keys in `own`, of what is below them, and of tables that they are in.

    Args:
        changes: what a user says.
        own: keys, and the option of the command that changes each; empty if there is none.
        who: what sets these keys.

    Raises:
        ScenarioError: a change that would be lost.

    """
    for change in changes:
        for written in keys_of(change):
            for key, option in own.items():
                if replaces(key, written) or replaces(written, key):
                    hint = f"say {option} instead" if option else "leave it out"
                    raise ScenarioError(f"--set {change}: {who} sets that itself", hint)


def refuse_varied(changes: Iterable[str], varied: Iterable[Iterable[str]], who: str = "the study") -> None:
    """Refuse changes of what variants set after them; but of scale and seed, for which commands have options.

    Raises:
        ScenarioError: a change that would be lost.

    """
    keys = sorted({key for overrides in varied for override in overrides for key in keys_of(override)})
    for change in changes:
        for written in set(keys_of(change)) - {"workload.scale", "seed"}:
            if any(replaces(key, written) for key in keys):
                raise ScenarioError(f"--set {change}: {who} sets that itself", "leave it out")
