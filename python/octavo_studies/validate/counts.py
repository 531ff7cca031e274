"""Counts on both sides, and where they count different things.

`found` is written in terms of the summary of a run (`accesses`), `reference` in terms of the columns of the reference
table. Nothing is corrected to agree: where definitions differ, `differs` says how. `code` names the reference's
instruction fetches in its count (an upper bound of what fetches can explain): Octavo fetches a line of code when a
wavefront first comes near it, the reference again in later passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Numbers = Mapping[str, int]
Term = Callable[[Numbers], int]


@dataclass(frozen=True)
class Count:
    """One count on both sides."""

    name: str
    label: str
    """The heading in tables."""
    found: Term
    reference: Term
    definition: str
    """What is compared with what."""
    differs: str = ""
    """How the definitions differ; empty if they do not."""
    judged: bool = True
    """Whether the goal applies: not where the two sides count different things."""
    code: str = ""
    """Column of the reference that bounds its instruction fetches in this count."""


def _sum(*columns: str) -> Term:
    return lambda numbers: sum(numbers[column] for column in columns)


def _l2_hits(row: Numbers) -> int:
    """Requests that found their line in an L2 cache, there or on its way.

    Reads are what the L1 caches missed less what the L2 caches missed: its own count of read hits is too high
    in some rows.
    """
    reads = row["l1v_read_miss"] + row["l1s_read_miss"] + row["l1i_read_miss"] - row["l2_read_miss"]
    return reads + row["l2_write_hit"] + row["l2_write_mshr_hit"]


_WRITES = ("l1v_write_hit", "l1v_write_miss", "l1v_write_mshr_hit")

COUNTS = (
    Count(
        "vector_lines",
        "vector lines",
        _sum("load_lines", "store_lines"),
        _sum("vector_lines"),
        "`load_lines` + `store_lines`; `vector_lines`. What the program does, not how fast: differs only where the "
        "recorded run took other branches",
    ),
    Count(
        "l1_hits",
        "L1V hits",
        _sum("l1_hits"),
        _sum("l1v_read_hit", "l1v_read_mshr_hit"),
        "loads that find their line there or on its way: `l1_hits`; `l1v_read_hit` + `l1v_read_mshr_hit`",
    ),
    Count(
        "l2_lines",
        "lines to L2",
        lambda found: found["load_lines"] + found["store_lines"] - found["l1_hits"],
        _sum("l1v_read_miss", *_WRITES),
        "vector lines that leave the L1 cache, to whichever GPU: `load_lines` + `store_lines` − `l1_hits`; "
        "`l1v_read_miss` + all `l1v_write_*`",
    ),
    Count(
        "l2_hits",
        "L2 hits",
        _sum("l2_hits"),
        _l2_hits,
        "`l2_hits`; `l1v_read_miss` + `l1s_read_miss` + `l1i_read_miss` − `l2_read_miss` + `l2_write_hit` + "
        "`l2_write_mshr_hit`: found there or on its way",
        "instruction fetches: ours are those of first passes and ahead of them",
        code="l1i_read_miss",
    ),
    Count(
        "l1_tlb_hits",
        "L1 TLB hits",
        _sum("l1_tlb_hits"),
        _sum("l1v_tlb_hit", "l1v_tlb_mshr_hit", "l1s_tlb_hit", "l1s_tlb_mshr_hit"),
        "`l1_tlb_hits`; `l1v_tlb_` and `l1s_tlb_hit` + `_mshr_hit`",
        "ours looks a page up once for each instruction and page, the reference once for each line",
        judged=False,
    ),
    Count(
        "l1_tlb_misses",
        "L1 TLB misses",
        lambda found: found["translations"] - found["l1_tlb_hits"],
        _sum("l1v_tlb_miss", "l1s_tlb_miss"),
        "first misses of a page in a vector or scalar TLB: `translations` − `l1_tlb_hits`; `l1v_tlb_miss` + "
        "`l1s_tlb_miss`",
    ),
    Count(
        "walks",
        "walks",
        _sum("walks"),
        _sum("l2_tlb_miss"),
        "`walks`; `l2_tlb_miss`",
        "walks for pages of code: ours are those of first passes and ahead of them",
        code="l1i_tlb_miss",
    ),
    Count(
        "dram_reads",
        "DRAM reads",
        lambda found: found["dram_reads"] - found["store_fetches"],
        _sum("l2_read_miss"),
        "loads and instruction fetches that the L2 cache reads from memory: `dram_reads` − `store_fetches`; "
        "`l2_read_miss` (the reference's own `dram_reads` contain copies)",
        "instruction fetches: ours are those of first passes and ahead of them",
        code="l1i_read_miss",
    ),
    Count(
        "remote",
        "remote",
        _sum("remote_gpu_lines"),
        _sum("rdma_outgoing"),
        "lines asked of or stored to another GPU's memory: `remote_gpu_lines`; `rdma_outgoing`",
    ),
)
"""Every count that is compared, in the order of the tables."""


def error(found: int, reference: int) -> float | None:
    """Relative error; 0 where both are 0, none where only the reference is."""
    if reference == 0:
        return 0.0 if found == 0 else None
    return found / reference - 1.0


def code_explains(count: Count, found: int, row: Numbers) -> bool:
    """Whether the count agrees within the goal for some share of the reference's instruction fetches."""
    reference = count.reference(row)
    low = reference - (row[count.code] if count.code else 0)
    return low * (1 - WITHIN) <= found <= reference * (1 + WITHIN)


WITHIN = 0.05
"""The goal for counts."""
