"""The host: copies of its ordinary memory, its faults on pages that lie on a GPU, and its first touches.

The time of a lone fault is measured, with what the prefetcher brings. The simulated node takes part of it for messages
and copies. That part is simulated with a driver that takes no time; the rest of the measured time is the driver's. A
fresh block takes `faults_a_block` minor faults, and the rest is allocating and zeroing its pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.measured.calibrate import patterns, quantities

if TYPE_CHECKING:
    from octavo.measured.calibrate.node.draft import Draft


def copies(draft: Draft) -> None:
    """The driver stages ordinary memory through pinned memory of its own."""
    for to, way in (("to_gpu", "h2d"), ("to_host", "d2h")):
        name = f"copy_bandwidth_{way}_pageable"
        key = f"host.costs.staging.{to}"
        if (rate := draft.number(name, key)) is not None:
            draft.put(key, quantities.text(rate, "B/s"), f"measured {draft.named(name)}")


def faults(draft: Draft) -> None:
    """What the driver computes in a lone fault: what is left of it beside what the simulated node takes."""
    key = "host.costs.driver_fault"
    group = draft.number("managed_fault_group_to_cpu", key)
    page = draft.number("managed_fault_page_to_cpu", key)
    if group is None or page is None:
        return
    own = patterns.lone_host_fault(patterns.Node(draft.preset, {**draft.changes, key: "0ns"}))
    named = f"{draft.named('managed_fault_group_to_cpu')} and {draft.named('managed_fault_page_to_cpu')}"
    draft.put_rest(key, group + page, own, named)


def first_touch(draft: Draft) -> None:
    """Allocating and zeroing pages: what is left beside the faults that ask for them."""
    key = "host.costs.zeroing"
    if (rate := draft.number("managed_first_touch_bandwidth_cpu", key)) is None:
        return
    count = draft.measured["managed_faults_a_block"].value if "managed_faults_a_block" in draft.measured else 1
    left = patterns.LARGE_PAGE / rate - count * draft.amount("host.costs.minor_fault", "s")
    named = draft.named("managed_first_touch_bandwidth_cpu")
    if left <= 0:
        draft.keep(key, f"{named} is faster than the faults of the preset's host")
    else:
        source = f"measured {named}, less {count:.0f} faults for each block of 2 MiB"
        draft.put(key, quantities.text(patterns.LARGE_PAGE / left, "B/s"), source)
