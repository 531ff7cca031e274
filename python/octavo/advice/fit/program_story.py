"""The story of a workload or a trace, at full size: what its program allocates, and what its launches touch."""

from __future__ import annotations

import io
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from octavo import _core, api
from octavo.advice.facts import BLOCK
from octavo.advice.fit.sequence import Change, Piece, Step, Story
from octavo.errors import ScenarioError, of_engine
from octavo.measurements.calibrate import quantities
from octavo.scenarios.scenario import LAUNCHES, Recipe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from octavo.scenarios.scenario import Scenario

_IN_ORDER = 0.25
"""Share of a launch's accesses from a page's first to its last up to which its buffer is gone through in order; chosen:
sweeps have hundredths of it, random accesses nearly all."""
_KINDS: Mapping[str, Literal["explicit", "managed"]] = {"device": "explicit", "managed": "managed"}
_OF_SYSTEM: Mapping[str, Literal["explicit", "managed"]] = {**_KINDS, "system": "managed"}


def story(scenario: Scenario, factor: float) -> Story:
    """What a program allocates, `factor` times as large as it is here; launches are known, but not what they use.

    Raises:
        ScenarioError: the workload cannot be built.

    """
    kind: Any = scenario.kind
    listing = api.workload_program(scenario, "managed" if kind == LAUNCHES else kind)
    kinds = _OF_SYSTEM if kind == "system" else _KINDS
    pieces = {
        each["name"]: Piece(each["name"], round(each["bytes"] * factor), kinds[each["kind"]])
        for each in listing["buffers"]
        if each["kind"] in kinds
    }
    told = _Listed(list(pieces), {each["name"]: each["bytes"] for each in listing["buffers"]})
    steps = tuple(told.steps(listing["actions"]))
    return Story(scenario.label, tuple(pieces.values()), tuple(told.changes), steps)


class _Listed:
    """Actions of a program, by pieces."""

    def __init__(self, names: Sequence[str], sizes: Mapping[str, int]) -> None:
        self._piece = {name: number for number, name in enumerate(names)}
        self._sizes = sizes
        self.changes: list[Change] = []
        self._launches = 0

    def steps(self, actions: Sequence[Mapping[str, Any]]) -> Iterator[Step]:
        """Launches, and what the host does."""
        for action in actions:
            what = action["action"]
            if what in ("allocate", "free"):
                known = (self._piece[name] for name in action["buffers"] if name in self._piece)
                self.changes += [Change(piece, what == "free", self._launches) for piece in known]
            elif what == "launch":
                yield Step(action["what"].rpartition(" ")[0], on_device=True, launch=self._launches)
                self._launches += 1
            elif what == "host":
                yield self._host(action)
            elif what == "copy":
                yield self._copied(action)

    def _host(self, action: Mapping[str, Any]) -> Step:
        named = frozenset(self._piece[name] for name in action["buffers"] if name in self._piece)
        if "reads" in action["what"]:
            return Step("host", reads=named, launch=self._launches)
        part = action["bytes"] < sum(self._sizes[name] for name in action["buffers"])
        return Step("host", reads=named if part else frozenset(), replaces=named, launch=self._launches)

    def _copied(self, action: Mapping[str, Any]) -> Step:
        source, to = (self._piece.get(name) for name in action["buffers"])
        if to is None:
            return Step("copy", reads=frozenset() if source is None else frozenset([source]), launch=self._launches)
        only = frozenset([to])
        part = action["bytes"] < self._sizes[action["buffers"][1]]
        if source is not None:
            fills = frozenset[int]() if part else only
            return Step("copy", on_device=True, uses=only | {source}, writes=only, fills=fills, launch=self._launches)
        return Step("copy", reads=only if part else frozenset(), replaces=only, launch=self._launches)


class Use:
    """What one launch touches: bytes loaded and stored of each buffer, by name."""

    def __init__(self) -> None:
        self.loaded: dict[str, int] = defaultdict(int)
        self.stored: dict[str, int] = defaultdict(int)
        self.touched: dict[str, int] = defaultdict(int)
        self.spans: dict[str, float] = {}
        """Of the launch's accesses, the share from a page's first to its last, on average over pages: little where a
        buffer is gone through in order, and nearly all where the launch jumps about in it."""


def uses(scenario: Scenario, places: Mapping[str, tuple[int, int]]) -> list[Use]:
    """What each launch of a scenario touches, by pages; `places` are addresses and sizes of the buffers.

    Raises:
        ScenarioError: the workload cannot be built.

    """
    import polars as pl  # noqa: PLC0415 - who asks for no plan does without

    launches = Recipe(scenario.toml, "scenario", ("program.kind=launches",)).resolve()
    try:
        _, columns = _core.page_order(launches.toml)
    except _core.SimulationError as error:
        raise of_engine(error, ScenarioError) from None
    page = round(quantities.number(scenario.values["memory"]["page_size"], "B"))
    order = pl.read_parquet(io.BytesIO(_core.table_bytes(columns))).with_row_index("at")
    at, whole = pl.col("at").cast(pl.Float64), pl.col("launch").len().over("launch").alias("whole")
    pages = (
        order.with_columns(whole)
        .group_by("launch", "page")
        .agg(
            loaded=(pl.col("store") == 0).any(),
            stored=(pl.col("store") == 1).any(),
            span=(at.max() - at.min()) / pl.col("whole").first(),
        )
    )
    count = int(order["launch"].max() or 0) + 1  # type: ignore[arg-type]  # a column of numbers
    found = [Use() for _ in range(count)]
    for name, (address, size) in places.items():
        first, last = address // page, (address + size - 1) // page
        of_buffer = pages.filter(pl.col("page").is_between(first, last)).group_by("launch")
        sums = of_buffer.agg(
            pl.len().alias("touched"), pl.col("loaded").sum(), pl.col("stored").sum(), pl.col("span").mean()
        )
        for row in sums.to_dicts():
            for what in ("touched", "loaded", "stored"):
                getattr(found[row["launch"]], what)[name] = min(row[what] * page, size)
            found[row["launch"]].spans[name] = row["span"]
    return found


def jumped_about(used: Sequence[Use]) -> set[str]:
    """Buffers in which some launch jumps about."""
    return {name for use in used for name, span in use.spans.items() if span > _IN_ORDER}


def places(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    """Addresses and sizes of buffers, by name, from the allocations of a run."""
    return {row["allocation"]: (row["address"], row["bytes"]) for row in rows}


def with_uses(
    found: Story, used: Sequence[Use], places: Mapping[str, tuple[int, int]], seconds: Sequence[float]
) -> Story:
    """The story with what its launches touch, and what they take with all in place."""
    launches = iter(range(len(used)))
    sizes = {name: size for name, (_, size) in places.items()}

    def known(step: Step) -> Step:
        number = next(launches, None) if step.on_device and not step.uses else None
        if number is None:
            return step
        return _used(step, used[number], found.pieces, sizes, seconds[number] if number < len(seconds) else 0.0)

    return replace(found, steps=tuple(known(step) for step in found.steps))


def _used(step: Step, use: Use, pieces: Sequence[Piece], sizes: Mapping[str, int], seconds: float) -> Step:
    numbers = {piece.name: number for number, piece in enumerate(pieces) if piece.name in use.touched}
    shares = {name: use.touched[name] / sizes[name] for name in numbers}
    # Whole pages that are stored to and never loaded: nothing in them is needed.
    fills = {name for name in numbers if not use.loaded[name] and use.stored[name] >= sizes[name] - BLOCK // 512}
    return replace(
        step,
        uses=frozenset(numbers.values()),
        writes=frozenset(number for name, number in numbers.items() if use.stored[name]),
        fills=frozenset(numbers[name] for name in fills),
        share={numbers[name]: share for name, share in shares.items() if share < 1.0},
        seconds=seconds,
    )
