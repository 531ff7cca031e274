"""The driver's part in a fault: what a batch costs, and what each block in it.

The time of whole groups of faults is measured, not its parts: `groups x group + pages x page`. The simulated node takes
part of that for walks, messages, copies and page tables. That part is simulated with a driver that takes no time, for
groups of one fault and of many. The rest of the measured time is the driver's. Every fault here is in a block of its
own, and fetches what the driver's prefetcher brings with a lone page. The driver serves faults of one block together,
so the cost of a page is used for a block; what further faults in it add is not measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.measured.calibrate import patterns

if TYPE_CHECKING:
    from octavo.measured.calibrate.node.draft import Draft

MANY = 64
"""Faults in flight of the larger groups: fewer than a batch holds."""
_BATCHES = 4
"""Groups that are simulated."""
_KEYS = ("driver.service.batch", "driver.service.block")


def driver(draft: Draft) -> None:
    """Comes last: it simulates what was derived before."""
    group = draft.number("managed_fault_group_to_gpu", *_KEYS)
    page = draft.number("managed_fault_page_to_gpu", *_KEYS)
    if group is None or page is None:
        return
    each_group, each_page = model_costs(draft)
    for key, name, measured, own in (
        (_KEYS[0], "managed_fault_group_to_gpu", group, each_group),
        (_KEYS[1], "managed_fault_page_to_gpu", page, each_page),
    ):
        draft.put_rest(key, measured, own, draft.named(name))
    draft.put("driver.service.request", "0ns", "within driver.service.block: no probe tells further faults of a block")


def model_costs(draft: Draft) -> tuple[float, float]:
    """Seconds that the node takes for a group of faults and for each fault in it, beside what the driver takes."""
    free = dict.fromkeys((*_KEYS, "driver.service.request"), "0ns")
    node = patterns.Node(draft.preset, {**draft.changes, **free})
    alone, many = (
        patterns.demand(node, _BATCHES * blocks * patterns.LARGE_PAGE, patterns.LARGE_PAGE, blocks).run() / _BATCHES
        for blocks in (1, MANY)
    )
    each = (many - alone) / (MANY - 1)
    return alone - each, each
