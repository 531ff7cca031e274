"""Changes of a scenario (`key=value`) that something else replaces: one of the two would be lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octavo.errors import ScenarioError
from octavo.files.toml import parsed
from octavo.scenarios.scenario import value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octavo.scenarios.scenario import Recipe

_OPTIONS = {"workload.scale", "seed"}
"""Keys that commands can set with options of their own."""


def keys_of(change: str) -> list[str]:
    """Dotted keys that a change sets: its own or, for an inline table, all keys in it."""
    return list(_said(change))


def _said(change: str) -> dict[str, object]:
    """The value of each key in a change; text that is no TOML stands for itself."""
    key, _, text = (part.strip() for part in change.partition("="))
    try:
        return dict(_leaves(key, parsed(f"value = {text}")["value"]))
    except ValueError:
        return {key: text}


def _leaves(key: str, value: object) -> list[tuple[str, object]]:
    if not isinstance(value, dict) or not value:
        return [(key, value)]
    return [leaf for name, below in value.items() for leaf in _leaves(f"{key}.{name}", below)]


def refuse(changes: Iterable[str], own: Mapping[str, str], who: str = "the study") -> None:
    """Refuse changes of keys in `own`, of what is below them, and of tables that they are in.

    Args:
        changes: what a user says.
        own: keys, and the option of the command that changes each; empty if there is none.
        who: what sets these keys.

    Raises:
        ScenarioError: a change that clashes.

    """
    for change in changes:
        for written in keys_of(change):
            for key, option in own.items():
                if written == key or _is_below(written, key) or _is_below(key, written):
                    hint = f"say {option} instead" if option else "leave it out"
                    raise ScenarioError(
                        f"--set {change}: {who} sets that itself",
                        hint,
                        code="already-set",
                        key=change.partition("=")[0],
                    )


def refuse_varied(base: Recipe, changes: Iterable[str], varied: Sequence[Sequence[str]], who: str) -> None:
    """Refuse changes that are part of `base` and lost under all of the overrides that vary it.

    Scale and seed may vary: they come from options of commands.

    Raises:
        ScenarioError: a change that would be lost.

    """
    for change in changes:
        if not _OPTIONS.intersection(keys_of(change)) and clash(base, change, varied) is not None:
            raise ScenarioError(
                f"--set {change}: {who} sets that itself",
                "leave it out",
                code="already-set",
                key=change.partition("=")[0],
            )


def clash(base: Recipe, change: str, varied: Sequence[Sequence[str]]) -> str | None:
    """The key of a later override that sets the same as a change of `base`, or always replaces it.

    A table is merged with earlier changes, and a strategy that keeps its name keeps its options. So a change below a
    key is lost only if no resolved scenario has it.
    """
    later = [override for overrides in varied for override in overrides]
    keys = sorted({key for override in later for key in (_key(override), *keys_of(override))}, reverse=True)
    without = replace(base, overrides=tuple(each for each in base.overrides if each != change))
    for written, value in _said(change).items():
        for key in keys:
            if _named(key) == _named(written):
                return key
            if _is_below(written, key) and not any(_is_kept(base, without, each, written, value) for each in varied):
                return key
    return None


def _key(change: str) -> str:
    return change.partition("=")[0].strip()


def _named(key: str) -> str:
    """A strategy's key names the strategy, like `.name` below it."""
    return key.removesuffix(".name")


def _is_below(one: str, other: str) -> bool:
    return one.startswith(f"{other}.")


def _is_kept(base: Recipe, without: Recipe, overrides: Sequence[str], key: str, value: object) -> bool:
    """Whether a scenario keeps a change under overrides, too, or differs from the scenario without it."""
    try:
        found = value_at(base.with_overrides(overrides).resolve().values, key)
        return found == value or found != value_at(without.with_overrides(overrides).resolve().values, key)
    except ScenarioError:
        return True  # What is wrong with that one is said when it is to run.
