"""Caches, TLBs and device memory.

The path of a load, as the simulated node adds it up (docs/model.md):

- a hit in the L1 cache takes `memory_pipeline + l1_tlb.latency + l1.latency`;
- a hit in the L2 cache takes `memory_pipeline + l1_tlb.latency + l1.lookup + crossbar + a cycle of the bank's input +
  l2.latency + crossbar + l1.fill`;
- memory adds `dram.latency + dram.line_cycles`.

Only these sums are measured, so each is reached by the last part of its path, and the rest stays as the preset has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.measured.calibrate import quantities
from octavo.measured.calibrate.node import shapes
from octavo.measured.calibrate.patterns import LARGE_PAGE

if TYPE_CHECKING:
    from octavo.measured.calibrate.node.draft import Draft

LINE = 64
"""Bytes of a line of the simulated node."""


def bandwidth(draft: Draft) -> None:
    """All banks together pass a line each in `line_cycles`."""
    names = [name for name in ("stream_bandwidth_triad", "stream_bandwidth_copy") if name in draft.measured]
    name = names[0] if names else "stream_bandwidth_triad"
    if (rate := draft.number(name, "dram.banks", "dram.line_cycles")) is None:
        return
    banks, cycles = shapes.banks(rate * draft.cycle / LINE)
    found = quantities.text(banks * LINE / (cycles * draft.cycle), "B/s")
    source = f"measured {draft.named(name)}: {banks} lines of {LINE} bytes in {cycles} cycles are {found}"
    draft.put("dram.banks", banks, source)
    draft.put_cycles("dram.line_cycles", cycles, "see dram.banks")


def latencies(draft: Draft) -> None:
    """From the nearest level to the furthest, each less the levels before."""
    before = draft.count("compute.memory_pipeline") + draft.count("l1_tlb.latency")
    _first(draft, before)
    second = _second(draft, before)
    _memory(draft, second)


def _first(draft: Draft, before: int) -> None:
    if (seconds := draft.number("l1_latency", "l1.latency")) is None:
        return
    source = f"measured {draft.named('l1_latency')}, less memory_pipeline and l1_tlb.latency"
    draft.put_cycles("l1.latency", max(1, draft.cycles(seconds) - before), source)


def _second(draft: Draft, before: int) -> int:
    """Cycles of a load that the L2 cache answers."""
    outside = before + draft.count("l1.lookup") + draft.count("l1.fill") + 1
    seconds = draft.number("l2_latency", "l2.crossbar", "l2.latency")
    if seconds is not None:
        left = draft.cycles(seconds) - outside
        crossbar = (left - draft.count("l2.latency")) // 2
        if crossbar < 0:
            draft.keep("l2.crossbar", f"{draft.named('l2_latency')} is less than the preset's bank takes")
        else:
            named = draft.named("l2_latency")
            source = f"measured {named}: half of what is left beside l2.latency and the first level's part"
            draft.put_cycles("l2.crossbar", crossbar, source)
            draft.put_cycles("l2.latency", left - 2 * crossbar, "the preset's, and the odd cycle")
    return outside + 2 * draft.count("l2.crossbar") + draft.count("l2.latency")


def _memory(draft: Draft, second: int) -> None:
    if (seconds := draft.number("memory_latency", "dram.latency")) is None:
        return
    left = draft.cycles(seconds) - second - draft.count("dram.line_cycles")
    if left < 0:
        draft.keep("dram.latency", f"{draft.named('memory_latency')} is less than the second level takes")
        return
    source = f"measured {draft.named('memory_latency')}, less the second level's and dram.line_cycles"
    draft.put_cycles("dram.latency", left, source)


def capacities(draft: Draft) -> None:
    """Caches hold what the chase found them to hold."""
    for level in ("l1", "l2"):
        size = draft.number(f"{level}_capacity", f"{level}.size")
        source = "" if size is None else f"measured {draft.named(f'{level}_capacity')}"
        if size is None and level == "l2" and (size := draft.described("l2_bytes")) is not None:
            source = "the driver's l2_bytes"
            draft.kept.pop("l2.size")
        if size is None:
            continue
        lines, ways = shapes.nearest(size / LINE, draft.count(f"{level}.ways"))
        draft.put(f"{level}.size", f"{lines * LINE}B", f"{source}; the nearest with a power of two of sets")
        draft.put(f"{level}.ways", ways, f"see {level}.size")
    if (total := draft.described("memory_bytes", "capacity.bytes")) is not None:
        draft.put("capacity.bytes", f"{total}B", "the driver's memory_bytes")


def translation(draft: Draft) -> None:
    """Entries of the L2 TLB, and what a walk takes. With a page-walk cache a walk mostly reads one level."""
    reach = draft.number("tlb_reach", "l2_tlb.large.entries")
    page = draft.number("tlb_page_size", "l2_tlb.large.entries")
    if reach is not None and page is not None:
        key = "l2_tlb.large" if page >= LARGE_PAGE else "l2_tlb"
        entries, ways = shapes.nearest(reach / page, draft.count(f"{key}.ways"))
        source = f"measured {draft.named('tlb_reach')}, {draft.named('tlb_page_size')}; a power of two of sets"
        draft.put(f"{key}.entries", entries, source)
        draft.put(f"{key}.ways", ways, f"see {key}.entries")
    if (miss := draft.number("tlb_miss_latency", "walker.level")) is not None:
        source = f"measured {draft.named('tlb_miss_latency')}: one level, the others being cached"
        draft.put_cycles("walker.level", draft.cycles(miss), source)
