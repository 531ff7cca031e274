"""The baseline of speed-ups, and the errors about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.errors import ScenarioError
from octavo.plain import near

if TYPE_CHECKING:
    from collections.abc import Sequence


def check(named: str | None, variants: Sequence[str]) -> None:
    """Refuse a baseline that is not one of the variants. Names may contain commas. `None` names no variant.

    Raises:
        ScenarioError: it is none.

    """
    if named is not None and named not in variants:
        hint = near(named, variants) or f"there are {'; '.join(variants)}"
        raise ScenarioError(
            f"--baseline: unknown variant `{named}`", hint, code="unknown-variant", key="baseline", found=named
        )
