"""Levels of memory for which coherent nodes count traffic, and their columns in `traffic` and `traffic_intervals`."""

from __future__ import annotations

LEVELS = {
    "L1-L2": ("l1_l2_bytes",),
    "HBM": ("hbm_read_bytes", "hbm_written_bytes"),
    "LPDDR": ("lpddr_read_bytes", "lpddr_written_bytes"),
    "CPU to GPU": ("from_host_line_bytes", "from_host_page_bytes"),
    "GPU to CPU": ("to_host_line_bytes", "to_host_page_bytes"),
}
"""From the compute units outwards; the last two are the link's directions."""
