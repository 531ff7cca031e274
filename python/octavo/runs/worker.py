"""The process that carries out runs, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.apart import orders
from octavo.runs.single import Order, carry_out

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Serve until no further orders come."""
    orders.serve(_run)


def _run(order: dict[str, Any], tell: Callable[[dict[str, Any]], None], stopped: orders.Stopped) -> dict[str, Any]:
    def report(share: float) -> bool:
        tell({"share": share})
        return not stopped.wanted

    carry_out(Order.unpacked(order), report)
    return {}
