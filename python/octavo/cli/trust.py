"""What a reader should know about the nodes of results: what was compared, and which values have no source."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from octavo.runs import unsourced_values
from octavo.scenarios.about import About, about, together

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo.cli.sink import Sink
    from octavo.runs.result import RunResult
    from octavo.runs.unsourced_values import Decided


def tell(sink: Sink, results: Iterable[RunResult]) -> None:
    """A sentence for each node, and one about the chosen values that decide its results, if there are any."""
    if not sink.human:
        return
    for node, values in _nodes(results).items():
        sink.tell(f"Note: {node.sentence}")
        if said := unsourced_values.sentence(values):
            sink.tell(f"Note: {said}")


def documents(results: Iterable[RunResult]) -> list[dict[str, Any]]:
    """The same for JSON, with all of these values, the part of the run that each decides, and its share of the time."""
    found = _nodes(results).items()
    return [{**node.to_dict(), "decided": [asdict(value) for value in values]} for node, values in found]


def _nodes(results: Iterable[RunResult]) -> dict[About, list[Decided]]:
    """The nodes of results, and of each the values that decide any of its results, with their largest share."""
    deciding: dict[About, list[Decided]] = {}
    for result in results:
        scenario = result.scenario
        deciding.setdefault(about(scenario.values), []).extend(unsourced_values.of(scenario, result.totals))
    return {node: _largest(value for one in of for value in deciding[one]) for node, of in together(deciding).items()}


def _largest(found: Iterable[Decided]) -> list[Decided]:
    """Each value once, with its largest share, the largest first."""
    largest: dict[str, Decided] = {}
    for value in found:
        if value.key not in largest or largest[value.key].share < value.share:
            largest[value.key] = value
    return sorted(largest.values(), key=lambda one: (-one.share, one.key))
