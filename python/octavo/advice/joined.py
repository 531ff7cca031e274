"""Faults of an imported profile, by the call sites of a recording of the same process."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from octavo.advice import profiles
from octavo.advice.facts import Fact
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from octavo.advice.facts import Buffer
    from octavo.advice.recorded import Recording
    from octavo.runs.result import RunResult


def with_faults(recording: Recording, result: RunResult, told: Sequence[Buffer]) -> Recording:
    """A recording whose managed buffers know what a profile tells of them.

    An allocation is the one with the same address and size, in turn where both are used again.

    Args:
        recording: of a process.
        result: the profile of the same process, imported.
        told: what the profile tells, buffer by buffer of `profiles.allocations`.

    Raises:
        AdviceError: no managed allocation of the recording is in the profile.

    """
    by_place: dict[tuple[int, int], list[Buffer]] = defaultdict(list)
    rows = zip(profiles.allocations(result), told, strict=True)
    for row, buffer in sorted(rows, key=lambda pair: _begun(pair[0])):
        by_place[int(row["address"]), int(row["bytes"])].append(buffer)
    waiting: dict[tuple[int, int], Iterator[Buffer]] = {place: iter(found) for place, found in by_place.items()}
    made: dict[tuple[int, int], Buffer] = {}
    managed = [row for rows in recording.rows for row in rows if row["kind"] == "managed"]
    for row in sorted(managed, key=lambda row: row["allocated_ns"]):
        found = next(waiting.get((row["address"], row["bytes"]), iter(())), None)
        if found is not None:
            made[row["address"], row["allocated_ns"]] = found
    if not made:
        raise AdviceError(
            f"{result.folder}: expected managed allocations of the recording, found none with its addresses and sizes",
            "import a profile of the very process that was recorded: octavo record -- nsys profile ... PROGRAM",
        )
    pairs = zip(recording.buffers, recording.rows, strict=True)
    return replace(recording, buffers=[_knowing(buffer, rows, made) for buffer, rows in pairs])


def _begun(row: Mapping[str, Any]) -> float:
    """When an allocation was made; what was there before the profile began comes first."""
    began = row.get("allocated_ps")
    return -1.0 if began is None else float(began)


def _knowing(buffer: Buffer, rows: Sequence[Mapping[str, Any]], made: Mapping[tuple[int, int], Buffer]) -> Buffer:
    """A buffer with the mean of what is told of its allocations; those that are not in the profile are left out."""
    found = [made[key] for row in rows if (key := (row["address"], row["allocated_ns"])) in made]
    if not found:
        return buffer
    means = {name: _mean([each.facts[name] for each in found]) for name in found[0].facts}
    host = any(each.first == "host" for each in found)
    shared = any(each.write_shared for each in found)
    return replace(buffer, first="host" if host else "device", write_shared=shared, facts={**buffer.facts, **means})


def _mean(facts: Sequence[Fact]) -> Fact:
    """Of several allocations: their mean, between the least and the most that any may have."""
    low, high = min(fact.low for fact in facts), max(fact.high for fact in facts)
    return Fact.between(low, sum(fact.value for fact in facts) / len(facts), high, facts[0].certainty, facts[0].where)
