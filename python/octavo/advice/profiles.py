"""Facts about the allocations of an imported profile, and about the call sites of a recording of the same process."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from octavo.advice.activity import Place, observed
from octavo.advice.facts import Buffer, Fact, ahead
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from octavo.advice.model import System
    from octavo.advice.recording import Recording
    from octavo.runs.result import RunResult

_UNKNOWN = "unknown"
"""Kind of memory of ranges without an allocation."""
_RECORDED = "copies and faults of the profile"


def allocations(result: RunResult) -> list[dict[str, Any]]:
    """Rows of the managed allocations of a profile.

    Raises:
        AdviceError: it has no allocations with sizes, or two of them had the same bytes at the same time.

    """
    _refuse_samples(result)
    rows = result.table("allocations").to_dicts() if "allocations" in result.tables else []
    known = [row for row in rows if row.get("memory") != _UNKNOWN and row["bytes"]]
    if not known:
        raise AdviceError(
            f"{result.folder}: expected allocations with sizes, found {len(rows)} without",
            "record with --cuda-memory-usage=true; CUPTI's records alone have no allocations",
            code="unexpected-value",
            file=result.folder,
            found=len(rows),
        )
    _refuse_aliases(known)
    return known


def _refuse_samples(result: RunResult) -> None:
    """`octavo profile` samples mappings of processes and how much memory is in use, not buffers."""
    if "mappings" in result.tables and "allocations" not in result.tables:
        raise AdviceError(
            f"{result.folder}: expected buffers, found what octavo profile sampled: mappings of the host's memory, "
            "which tell neither what a GPU allocated nor who touched it",
            "profile it once more with what it allocates: octavo profile --buffers -o FOLDER -- PROGRAM",
            code="unexpected-value",
            file=result.folder,
        )


def buffers(result: RunResult, system: System) -> list[Buffer]:
    """The managed allocations of a profile, with their facts.

    Raises:
        AdviceError: it has no allocations with sizes, or two of them had the same bytes at the same time.

    """
    known = allocations(result)
    events = result.table("events")
    return observed([buffer_of(row, system) for row in known], _places(known), _of_known(events), system, "recorded")


def _places(known: Sequence[dict[str, Any]]) -> list[Place]:
    return [Place(int(row["address"]), int(row["bytes"]), *_span(row)) for row in known]


def _of_known(events: pl.DataFrame) -> pl.DataFrame:
    return events.drop_nulls(["address", "time_ps"])


def _refuse_aliases(rows: Sequence[dict[str, Any]]) -> None:
    """Check that each event belongs to one buffer."""
    order = sorted(rows, key=lambda row: row["address"])
    for index, row in enumerate(order):
        for other in order[index + 1 :]:
            if other["address"] >= row["address"] + row["bytes"]:
                break
            if _alive_together(row, other):
                raise AdviceError(
                    f"`{other['allocation']}` aliases `{row['allocation']}`: "
                    f"both have address {other['address']:#x} at the same time",
                    "advise on a profile in which each has its own bytes",
                    code="conflict",
                    key=other["allocation"],
                    found=row["allocation"],
                )


def _alive_together(one: dict[str, Any], other: dict[str, Any]) -> bool:
    (first, ended), (second, other_ended) = _span(one), _span(other)
    return max(first, second) < min(ended, other_ended)


def _span(row: dict[str, Any]) -> tuple[float, float]:
    """The time from which and until which an allocation is alive, picoseconds."""
    begin, end = row.get("allocated_ps"), row.get("freed_ps")
    return (-1.0 if begin is None else begin), (float("inf") if end is None else end)


def buffer_of(row: dict[str, Any], system: System) -> Buffer:
    """A buffer from the profile's sums. Accesses are not recorded, so lines and operations are unknown."""
    size = int(row["bytes"])
    pages = -(-size // system.page)
    sigma = min(max(row["sigma"] or 1 / pages, 1 / pages), 1.0)
    inwards, outwards = int(row["h2d_bytes"] or 0), int(row["d2h_bytes"] or 0)
    into, out = (size if inwards else 0), (size if outwards else 0)
    copied = "all of it, if any of it moved that way"
    faults = float(row["cpu_faults"] or pages)
    arriving = max(pages * sigma * max(row["rho"] or 1.0, 1.0), 1.0)
    facts = {
        "used": Fact.between(0.0, sigma, 1.0, "recorded", "pages that came, of which not all may be used"),
        "sigma": Fact.exact(sigma, "recorded", _RECORDED),
        "rho": Fact.exact(max(row["rho"] or 1.0, 1.0), "recorded", _RECORDED),
        "migrations": Fact.exact(float(row["pages_to_gpu"] or 0), "recorded", _RECORDED),
        "alpha": Fact.between(0.25, 1.0, 64.0, "assumed", "profiles of unified memory tell no operations"),
        "occupancy": Fact.between(0.1, 0.5, 1.0, "assumed", "profiles of unified memory tell no occupancy"),
        "lines": Fact.exact(size * sigma, "assumed", "profiles of unified memory tell no accesses"),
        "concurrency": Fact.between(1.0, 1.0, float(system.most_faults), "assumed", "no faults in the profile"),
        "faults": Fact.between(1.0, float(row["fault_groups"] or arriving), arriving, "recorded", _RECORDED),
        "copied_in": Fact.between(0.0, into, into, "estimated", copied),
        "copied_out": Fact.between(0.0, out, out, "estimated", copied),
        "prefetches": Fact.exact(0.0, "assumed", "a profile does not tell copies from one another"),
        "stale_faults": Fact.exact(0.0, "assumed", "a profile does not tell which faults moved nothing"),
        "fault_runs": Fact.between(
            1.0, arriving, arriving, "assumed", "a profile does not tell copies from one another"
        ),
        "host_faults": Fact.between(1.0, faults, pages, "recorded", "faults of the CPU"),
        "returned": Fact.exact(outwards, "recorded", "bytes that came back to the host"),
        "return_faults": Fact.between(
            0.0, min(faults, outwards / system.page), faults, "recorded", "faults of the CPU"
        ),
        "return_prefetches": Fact.exact(0.0, "assumed", "a profile does not tell copies from one another"),
        "thrashing": Fact.exact(0.0, "assumed", "a profile does not tell how long a fault was held up"),
        "copies": Fact.exact((inwards > 0) + (outwards > 0), "estimated", copied),
    }
    brought = Fact.exact(float(inwards), "recorded", "bytes that came to the device")
    facts |= ahead(size, brought, 1, 1)
    return Buffer(
        name=row["allocation"],
        size=size,
        present="managed",
        first="host" if inwards else "device",
        write_shared=bool(row.get("thrashing")),
        can_pin=False,
        exchanged=inwards > size,
        facts=facts,
    )


def with_faults(recording: Recording, result: RunResult, told: Sequence[Buffer]) -> Recording:
    """A recording whose managed buffers have the facts of a profile.

    Allocations are matched by address and size; where both are used again, in order of time.

    Args:
        recording: of a process.
        result: the profile of the same process, imported.
        told: what the profile tells, buffer by buffer of `allocations`.

    Raises:
        AdviceError: no managed allocation of the recording is in the profile.

    """
    by_place: dict[tuple[int, int], list[Buffer]] = defaultdict(list)
    rows = zip(allocations(result), told, strict=True)
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
            code="missing",
            file=result.folder,
        )
    pairs = zip(recording.buffers, recording.rows, strict=True)
    return replace(recording, buffers=[_knowing(buffer, rows, made) for buffer, rows in pairs])


def _begun(row: Mapping[str, Any]) -> float:
    """When an allocation was made; allocations from before the profile come first."""
    began = row.get("allocated_ps")
    return -1.0 if began is None else float(began)


def _knowing(buffer: Buffer, rows: Sequence[Mapping[str, Any]], made: Mapping[tuple[int, int], Buffer]) -> Buffer:
    """A buffer with the mean of its allocations' facts; buffers that the profile does not contain are left out."""
    found = [made[key] for row in rows if (key := (row["address"], row["allocated_ns"])) in made]
    if not found:
        return buffer
    means = {name: _mean([each.facts[name] for each in found]) for name in found[0].facts}
    host = any(each.first == "host" for each in found)
    shared = any(each.write_shared for each in found)
    return replace(buffer, first="host" if host else "device", write_shared=shared, facts={**buffer.facts, **means})


def _mean(facts: Sequence[Fact]) -> Fact:
    """For several allocations: their mean, in the range from the least to the most that any of them may have."""
    low, high = min(fact.low for fact in facts), max(fact.high for fact in facts)
    return Fact.between(low, sum(fact.value for fact in facts) / len(facts), high, facts[0].certainty, facts[0].where)
