"""Placement, prefetch, eviction, demotion, sharing and guard policies written in Python.

A policy is a class. Where a scenario or an option takes the name of a built-in strategy, it takes the place of a class
too (`my_policy.py`, `my_policy.py:Mine`, `package.module:Mine`), and from Python the class itself:

    import octavo
    from octavo.policies import Decision, Fault, Page, PlacementPolicy

    class Mine(PlacementPolicy):
        def on_fault(self, fault: Fault, page: Page) -> Decision:
            return Decision.MIGRATE

    octavo.run(workload="stencil2d", scale=1 / 64, placement=Mine)

Methods are called by fault, by notification of an access counter, by report; never by access. Pages are numbers
(address divided by the page size), GPUs are numbers from 0, the host is `HOST`. `octavo new placement my_policy.py`
writes a commented template.
"""

from octavo._core import (
    AccessCount,
    CounterNotification,
    Decision,
    Fault,
    Hint,
    JobMemory,
    Memory,
    Move,
    Needs,
    Node,
    Occupancy,
    Page,
    Residency,
    Service,
    Shortage,
    Unsubscribe,
    Yield,
)
from octavo.policies.base import (
    HOST,
    DemotionPolicy,
    EvictionPolicy,
    GuardPolicy,
    PlacementPolicy,
    PrefetchPolicy,
    SharingPolicy,
)
from octavo.policies.options import option

__all__ = [
    "HOST",
    "AccessCount",
    "CounterNotification",
    "Decision",
    "DemotionPolicy",
    "EvictionPolicy",
    "Fault",
    "GuardPolicy",
    "Hint",
    "JobMemory",
    "Memory",
    "Move",
    "Needs",
    "Node",
    "Occupancy",
    "Page",
    "PlacementPolicy",
    "PrefetchPolicy",
    "Residency",
    "Service",
    "SharingPolicy",
    "Shortage",
    "Unsubscribe",
    "Yield",
    "option",
]
