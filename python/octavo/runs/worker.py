"""The process that carries out runs, one after another."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from octavo.files.notes import OctavoNote
from octavo.isolation import orders
from octavo.runs.single import Order, carry_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Tell = Callable[[dict[str, Any]], None]


def main() -> None:
    """Serve until no further orders come."""
    orders.serve(_run)


def _run(order: dict[str, Any], tell: Tell, stopped: orders.Stopped) -> dict[str, Any]:
    def report(share: float) -> bool:
        tell({"share": share})
        return not stopped.wanted

    with _notes_told(tell):
        carry_out(Order.unpacked(order), report)
    return {}


@contextmanager
def _notes_told(tell: Tell) -> Iterator[None]:
    """Pass notes on to the side that gave the order; show other warnings as usual."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, OctavoNote):
            tell({"note": str(message)})
        else:
            others(message, category, *where, **more)

    with warnings.catch_warnings():
        warnings.simplefilter("always", OctavoNote)
        warnings.showwarning = show
        yield
