"""Unified memory in a real program: decoded records of its driver, in the tables of simulated runs."""

from octavo.measurements.activity.cupti import LAYOUTS, decode
from octavo.measurements.activity.mapping import CAUSES, PAGE_BYTES, events, table
from octavo.measurements.activity.rows import Access, Activity, Cause, MapCause, What

__all__ = [
    "CAUSES",
    "LAYOUTS",
    "PAGE_BYTES",
    "Access",
    "Activity",
    "Cause",
    "MapCause",
    "What",
    "decode",
    "events",
    "table",
]
