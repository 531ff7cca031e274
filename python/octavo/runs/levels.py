"""Levels of memory whose traffic coherent nodes tell, and the columns of `traffic` and `traffic_intervals` of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

LEVELS = {
    "L1-L2": ("l1_l2_bytes",),
    "HBM": ("hbm_read_bytes", "hbm_written_bytes"),
    "LPDDR": ("lpddr_read_bytes", "lpddr_written_bytes"),
    "CPU to GPU": ("from_host_line_bytes", "from_host_page_bytes"),
    "GPU to CPU": ("to_host_line_bytes", "to_host_page_bytes"),
}
"""From the compute units outwards; the last two are the link's directions."""


def told(columns: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The levels that a table tells: tables of earlier versions lack LPDDR's."""
    return {level: names for level, names in LEVELS.items() if all(name in columns for name in names)}
