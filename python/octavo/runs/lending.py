"""Memory that GPUs lend to each other over time, and where pages come from: from the single events of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.quantities import bytes_of
from octavo.runs.colours import PAIRS
from octavo.runs.events import MOVES

if TYPE_CHECKING:
    from octavo.runs.result import RunResult

HOST = 0
"""The number of the host's first memory in `events`; GPU 0 is 1."""
OTHERS = "other pairs"
_LEAVES = (*MOVES, "discard")
"""Kinds of events in which a page leaves a memory, or its copy there is given up."""
_FAULTS = ("read_fault", "write_fault")
_COMES = {"migration": "fault", "write_collapse": "fault", "prefetch": "prefetch"}
"""Kinds of events in which a page comes to a GPU, and why."""


def intervals(result: RunResult) -> pl.DataFrame:
    """How much memory each GPU keeps for each other GPU, and when.

    A GPU begins to keep a page when it is evicted to it, or staged there on its way from the host. It keeps the page
    until it goes elsewhere, is given up, or is touched by the keeper itself: then it is the keeper's own. Pages that
    are kept when the run ends, or that are freed before, count as kept to the end.

    Args:
        result: a run that recorded single events (`record.events`).

    Returns:
        One row for each run of pages: `keeper` and `owner` (numbers of GPUs), `began_ps`, `ended_ps`, `bytes`.

    """
    moves = _moves(result)
    keeps = pl.col("lent")
    keeper = pl.when(keeps).then("to").forward_fill().over("page")
    own = pl.col("kind").is_in(_FAULTS) & (pl.col("from") == keeper)
    bounds = moves.filter(pl.col("kind").is_in(_LEAVES) | own | keeps)
    last = pl.lit(result.summary["time_ps"], pl.UInt64)
    rows = bounds.with_columns(ended_ps=pl.col("time_ps").shift(-1).over("page").fill_null(last))
    return (
        rows.filter(keeps & (pl.col("ended_ps") > pl.col("time_ps")))
        .group_by("to", "owner", "time_ps", "ended_ps")
        .agg(bytes=pl.len().cast(pl.Int64) * page_bytes(result))
        .select(
            pl.col("to", "owner").cast(pl.Int64).sub(1).name.map(lambda name: "keeper" if name == "to" else name),
            pl.col("time_ps").cast(pl.Int64).alias("began_ps"),
            pl.col("ended_ps").cast(pl.Int64),
            "bytes",
        )
        .sort("began_ps", "ended_ps", "keeper", "owner")
    )


def over_time(result: RunResult, bins: int) -> pl.DataFrame:
    """How much each GPU keeps for each other, on average over equal parts of the run.

    Returns:
        `keeper`, `owner`, `from_ps`, `to_ps`, `bytes`, for each pair that ever lent anything and each part.

    """
    kept = intervals(result)
    edges = [result.summary["time_ps"] * number // bins for number in range(bins + 1)]
    parts = pl.DataFrame({"from_ps": edges[:-1], "to_ps": edges[1:]}).filter(pl.col("to_ps") > pl.col("from_ps"))
    together = pl.min_horizontal("ended_ps", "to_ps") - pl.max_horizontal("began_ps", "from_ps")
    share = together.clip(lower_bound=0) * pl.col("bytes") / (pl.col("to_ps") - pl.col("from_ps"))
    rows = [
        parts.join(kept.filter(keeper=keeper, owner=owner), how="cross")
        .group_by("from_ps", "to_ps", maintain_order=True)
        .agg(bytes=share.sum())
        .with_columns(keeper=pl.lit(keeper, pl.Int64), owner=pl.lit(owner, pl.Int64))
        for keeper, owner in kept.select("keeper", "owner").unique().sort("keeper", "owner").rows()
    ]
    empty = pl.DataFrame(schema=dict.fromkeys(("from_ps", "to_ps"), pl.Int64) | {"bytes": pl.Float64})
    found = pl.concat(rows) if rows else empty.with_columns(keeper=pl.lit(0, pl.Int64), owner=pl.lit(0, pl.Int64))
    return found.select("keeper", "owner", "from_ps", "to_ps", "bytes")


def by_pair(kept: pl.DataFrame) -> pl.DataFrame:
    """The series of `over_time` by the names of pairs: those that lend most have their own, all others are joined.

    Returns:
        `pair`, `from_ps`, `to_ps`, `bytes`.

    """
    pairs = (
        kept.group_by("keeper", "owner").agg(pl.col("bytes").sum()).sort("bytes", "keeper", "owner", descending=True)
    )
    own = pairs.rows() if pairs.height <= len(PAIRS) else pairs.head(len(PAIRS) - 1).rows()
    names = {(keeper, owner): called(keeper, owner) for keeper, owner, _ in sorted(own)}
    named = [names.get((keeper, owner), OTHERS) for keeper, owner in kept.select("keeper", "owner").rows()]
    order = {name: place for place, name in enumerate([*names.values(), OTHERS])}
    table = kept.with_columns(pl.Series("pair", named, pl.String)).group_by("pair", "from_ps", "to_ps")
    rank = pl.col("pair").replace_strict(order, return_dtype=pl.Int64)
    return table.agg(pl.col("bytes").sum()).sort(rank, "from_ps").select("pair", "from_ps", "to_ps", "bytes")


def totals(result: RunResult) -> pl.DataFrame:
    """For each pair: `keeper`, `owner`, `sent` (bytes evicted there), `mean` and `most` (bytes kept, over time)."""
    kept = intervals(result)
    time = max(result.summary["time_ps"], 1)
    rows = []
    for (keeper, owner), own in kept.group_by("keeper", "owner", maintain_order=True):
        changes = pl.concat(
            [
                own.select(time="began_ps", change="bytes"),
                own.select(time="ended_ps", change=-pl.col("bytes")),
            ]
        )
        # Stays that end and begin at the same moment must not be counted together.
        level = changes.group_by("time").agg(pl.col("change").sum()).sort("time")["change"].cum_sum()
        mean = (own["bytes"] * (own["ended_ps"] - own["began_ps"])).sum() / time
        rows.append({"keeper": keeper, "owner": owner, "sent": own["bytes"].sum(), "mean": mean, "most": level.max()})
    schema = {"keeper": pl.Int64, "owner": pl.Int64, "sent": pl.Int64, "mean": pl.Float64, "most": pl.Int64}
    return pl.DataFrame(rows, schema=schema).sort("keeper", "owner")


def sources(result: RunResult) -> pl.DataFrame:
    """The origin of the pages that came to each GPU, and the reason.

    Returns:
        `gpu`, `why` (`fault`, `prefetch`), `host` (pages that came from there), `neighbour` (that were kept by one) and
        `staged` (that came from the host by way of a neighbour).

    """
    moves = _moves(result).filter(pl.col("kind").is_in(_LEAVES) | pl.col("lent"))
    comes = pl.col("kind").is_in(list(_COMES)) & (pl.col("to") != HOST) & ~pl.col("lent")
    from_host = pl.col("from") == HOST
    staged = ~from_host & (pl.col("came_from") == HOST) & pl.col("was_lent")
    before = moves.with_columns(
        came_from=pl.col("from").shift(1).over("page"),
        was_lent=pl.col("lent").shift(1).over("page").fill_null(value=False),
    )
    return (
        before.filter(comes)
        .with_columns(why=pl.col("kind").replace_strict(_COMES))
        .group_by("to", "why")
        .agg(host=from_host.sum(), neighbour=(~from_host & ~staged).sum(), staged=staged.sum())
        .select(
            pl.col("to").cast(pl.Int64).sub(1).alias("gpu"), "why", pl.col("host", "neighbour", "staged").cast(pl.Int64)
        )
        .sort("gpu", "why")
    )


def called(keeper: int, owner: int) -> str:
    """The name of a pair in pictures and tables."""
    return f"GPU {keeper} for GPU {owner}"


def recorded(result: RunResult) -> bool:
    """Whether memory can be lent in a run, and the run recorded single events."""
    memory = result.scenario.values["memory"]
    return memory.get("demotion", {}).get("name") == "spare-memory" and "events" in result.tables


def page_bytes(result: RunResult) -> int:
    """Bytes of a page."""
    return bytes_of(str(result.scenario.values["memory"]["page_size"]))


def _moves(result: RunResult) -> pl.DataFrame:
    """Faults and moves of each page in order: a row for each event and page, whether it is `lent`, and its owner.

    Lent pages are those evicted to a GPU, and those that the host copies to a GPU from which another GPU takes them
    next. (A replica of a page that another GPU takes from there looks the same.)
    """
    events = result.table("events").with_columns(pl.col("kind").cast(pl.String), pl.col("from", "to").cast(pl.Int64))
    first = pl.col("address") // page_bytes(result)
    copied = (pl.col("kind") == "duplication") & (pl.col("from") == HOST) & (pl.col("to") != HOST)
    pages = (
        events.filter(pl.col("kind").is_in([*_LEAVES, *_FAULTS]) | copied)
        .with_columns(page=pl.int_ranges(first, first + pl.col("pages")))
        .explode("page")
        .sort("page", "time_ps", maintain_order=True)
    )
    # The next move, faults aside.
    moved = pl.col("kind").is_in(_LEAVES)
    following = [
        pl.when(moved).then(name).backward_fill().shift(-1).over("page").alias(f"next_{name}")
        for name in ("kind", "from", "to")
    ]
    evicted = (pl.col("kind") == "eviction") & (pl.col("to") != HOST) & (pl.col("from") != HOST)
    taken = (
        pl.col("next_kind").is_in(list(_COMES)) & (pl.col("next_from") == pl.col("to")) & (pl.col("next_to") != HOST)
    )
    staged = copied & taken
    return pages.with_columns(following).with_columns(
        lent=(evicted | staged).fill_null(value=False), owner=pl.when(evicted).then("from").otherwise("next_to")
    )
