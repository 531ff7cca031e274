"""What a reader should know about the nodes of results: what was compared, and which values have no source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.runs import unsourced_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo.cli.sink import Sink
    from octavo.runs.result import RunResult


def tell(sink: Sink, results: Iterable[RunResult]) -> None:
    """A sentence for each node, and one about the chosen values that decide its results, if there are any."""
    if not sink.human:
        return
    for node, values in unsourced_values.by_node(results).items():
        sink.tell(f"Note: {node.sentence}")
        if said := unsourced_values.sentence(values):
            sink.tell(f"Note: {said}")


def documents(results: Iterable[RunResult]) -> list[dict[str, Any]]:
    """The same for JSON."""
    return unsourced_values.documents(unsourced_values.by_node(results))
