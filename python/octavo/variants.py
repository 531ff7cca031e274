"""What a comparison puts side by side: placements, kinds of memory, ways to share it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.policies.names import DEFAULT_PLACEMENTS, label, strategy_name
from octavo.runs.experiment import Variant
from octavo.scenarios.scenario import LAUNCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.policies.names import Strategy

_PLACED_KINDS = (LAUNCHES, "managed", "recorded")
"""Kinds whose pages lie where a placement strategy says; pages of other kinds stay, or move as the system says."""


def variants_of(
    placements: Sequence[Strategy] | None, kinds: Sequence[str] | None, sharings: Sequence[Strategy] | None
) -> list[Variant]:
    """A variant for each placement, or for each kind, each of them with each way to share."""
    if not sharings:
        return _placed_variants(placements, kinds)
    shared = [_of_strategy("sharing", sharing) for sharing in sharings]
    if placements is None and not kinds:
        return shared
    return [
        Variant(f"{variant.label} {sharing.label}", (*variant.overrides, *sharing.overrides))
        for variant in _placed_variants(placements, kinds)
        for sharing in shared
    ]


def _of_strategy(kind: str, strategy: Strategy) -> Variant:
    """A variant of the argument `placements` or `sharings`."""
    name = strategy_name(strategy, f"{kind}s")
    return Variant(label(strategy), (f"memory.{kind}={name}",))


def _placed_variants(placements: Sequence[Strategy] | None, kinds: Sequence[str] | None) -> list[Variant]:
    """A variant for each placement; or for each kind, and each placement of a kind that asks one."""
    if placements is None:
        placements = () if kinds else DEFAULT_PLACEMENTS
    placed = [_of_strategy("placement", placement) for placement in placements]
    if not kinds:
        return placed
    variants = []
    for kind in kinds:
        chosen = f"program.kind={kind}"
        asked = placed if kind in _PLACED_KINDS else []
        own = [Variant(f"{kind} {variant.label}", (chosen, *variant.overrides)) for variant in asked]
        variants += own or [Variant(kind, (chosen,))]
    return variants
