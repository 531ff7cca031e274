"""Strategies as Python code names them: names, files, classes."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from octavo._core import OptionError
from octavo.errors import ScenarioError
from octavo.policies.base import Policy
from octavo.policies.find import name_of

Strategy: TypeAlias = str | Path | type[Policy]
"""A built-in strategy by name, a class by its place (`my_policy.py`), or the class itself."""
DEFAULT_PLACEMENTS = ("on-touch", "access-counter", "duplication", "grit")
"""What a comparison puts side by side if nobody says what."""


def strategy_name(strategy: object, argument: str = "overrides") -> str:
    """The value that stands for a strategy in a scenario; messages name the argument.

    Raises:
        ScenarioError: it is neither a name nor a policy class.

    """
    if isinstance(strategy, (str, Path)):
        return str(strategy)
    try:
        return name_of(strategy)
    except OptionError as error:
        raise ScenarioError(f"--{argument}: {error.args[1]}", key=argument, code="unexpected-value") from None


def label(strategy: Strategy) -> str:
    """The name of a strategy in comparisons."""
    return strategy.__name__ if isinstance(strategy, type) else str(strategy)
