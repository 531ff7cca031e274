"""The process that runs the code of a workload in Python, and writes the lines of all launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.isolation import orders
from octavo.trace.user_workloads.lines import generate
from octavo.trace.user_workloads.user_code import Own

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Do what is asked for."""
    orders.serve(_work)


def _work(order: dict[str, Any], _tell: Callable[..., None], _stopped: orders.Stopped) -> dict[str, Any]:
    own = Own.of(order)
    if order["do"] == "describe":
        return own.described()
    return {"notes": generate(own, order["folder"])}
