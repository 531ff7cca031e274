"""Links to the host and between GPUs, and line accesses over them.

What is in flight at saturation and what it is a second give the time of a round trip (Little's law). A round trip over
the simulated host link is `memory_pipeline + l1_tlb.latency + l1.lookup`, the request (`remote.header` bytes), the
latency of the link both ways, `host.memory_latency`, the answer (a line and its header), and `l1.fill`.
"""

from __future__ import annotations

import re
from statistics import median
from typing import TYPE_CHECKING

from octavo.calibrate import quantities
from octavo.calibrate.node.memory import LINE

if TYPE_CHECKING:
    from octavo.calibrate.node.draft import Draft

WARP_BYTES_IN_FLIGHT = 32 * 16 * 4
"""Of the probe `zero_copy` at its widest access: threads of a warp, bytes of a load, loads of a thread in flight."""
_HOST = "copy_bandwidth_h2d_pinned"
_LINES = "zero_copy_bandwidth_read_sequential"
_WARPS = "zero_copy_warps_read"


def host(draft: Draft) -> None:
    """The link's bandwidth is that of bulk copies to the GPU: the simulated link is alike in both directions."""
    if (rate := draft.number(_HOST, "host_link.bandwidth")) is not None:
        draft.put("host_link.bandwidth", quantities.text(rate, "B/s"), f"measured {draft.named(_HOST)}")


def lines(draft: Draft) -> None:
    """Header, lines in flight and latency from line accesses to host memory."""
    rate = draft.number(_LINES, "remote.header", "remote.lines_in_flight", "host_link.latency")
    if rate is None:
        return
    link = draft.amount("host_link.bandwidth", "B/s")
    header = max(0, round(LINE * (link / rate - 1)))
    source = f"measured {draft.named(_LINES)}: what a line takes beside its {LINE} bytes on this link"
    draft.put("remote.header", f"{header}B", source)
    if (warps := draft.number(_WARPS, "remote.lines_in_flight", "host_link.latency")) is None:
        return
    in_flight = round(warps * WARP_BYTES_IN_FLIGHT / LINE)
    named = f"measured {draft.named(_WARPS)}, {WARP_BYTES_IN_FLIGHT} bytes in flight each"
    draft.put("remote.lines_in_flight", in_flight, named)
    round_trip = in_flight * LINE / rate
    one_way = (draft.cycles(round_trip) - _beside(draft, header, link)) // 2
    if one_way < 0:
        draft.keep("host_link.latency", "the round trip that saturation gives is less than its other parts take")
        return
    trip = quantities.text(round_trip, "s")
    source = f"{in_flight} lines in flight at {draft.named(_LINES)}: round trips of {trip}, half of what is left"
    draft.put_cycles("host_link.latency", one_way, source)


def _beside(draft: Draft, header: int, link: float) -> int:
    """Cycles of a round trip that are not the link's latency."""
    fixed = ("compute.memory_pipeline", "l1_tlb.latency", "l1.lookup", "l1.fill", "host.memory_latency")
    return sum(draft.count(key) for key in fixed) + draft.cycles((2 * header + LINE) / link)


def peers(draft: Draft) -> None:
    """The median over all pairs of GPUs."""
    pairs = {
        name: found.value
        for name, found in draft.measured.items()
        if re.fullmatch(r"peer_copy_bandwidth_\d+_\d+", name)
    }
    if not pairs:
        if draft.count("gpus") > 1:
            draft.keep("gpu_link.bandwidth", "peer_copy_bandwidth was not measured")
        return
    rate = median(pairs.values())
    source = f"measured peer_copy_bandwidth, median of {len(pairs)} pairs"
    draft.put("gpu_link.bandwidth", quantities.text(rate, "B/s"), source)
    draft.keep("gpu_link.latency", "nothing measured gives it")
