"""Links to the host and between GPUs, and line accesses over them.

A round trip over the simulated host link is `memory_pipeline + l1_tlb.latency + l1.lookup`, the request
(`remote.header` bytes), the latency of the link both ways, `host.memory_latency`, the answers (lines, each with a
header), and `l1.fill`. The time of a round trip and the most lines a second give the number of lines in flight
(Little's law).
"""

from __future__ import annotations

import re
from statistics import median
from typing import TYPE_CHECKING

from octavo.measured.calibrate import quantities
from octavo.measured.calibrate.node.memory import LINE

if TYPE_CHECKING:
    from octavo.measured.calibrate.node.draft import Draft

_WARP = 32 * 16 * 4
"""Bytes that a warp of the probe has in flight: threads, bytes of a load, loads of a thread."""
_HOST = "copy_bandwidth_h2d_pinned"
_LINES = "zero_copy_bandwidth_read_sequential"
_TRIP = "zero_copy_round_trip_read"


def host(draft: Draft) -> None:
    """The link has the bandwidth of bulk copies to the GPU: the simulated link is alike in both directions."""
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
    if (trip := draft.number(_TRIP, "remote.lines_in_flight", "host_link.latency")) is None:
        return
    in_flight = max(1, round(trip * rate / LINE))
    named = f"{draft.named(_LINES)} times {draft.named(_TRIP)}"
    draft.put("remote.lines_in_flight", in_flight, f"measured {named}, in lines of {LINE} bytes")
    one_way = (draft.cycles(trip) - _beside(draft, header, link)) // 2
    if one_way < 0:
        draft.keep("host_link.latency", f"{draft.named(_TRIP)} is less than the other parts of a round trip take")
        return
    draft.put_cycles("host_link.latency", one_way, f"measured {draft.named(_TRIP)}: half of what is left of it")


def _beside(draft: Draft, header: int, link: float) -> int:
    """Cycles of a warp's round trip that are not the link's latency."""
    fixed = ("compute.memory_pipeline", "l1_tlb.latency", "l1.lookup", "l1.fill", "host.memory_latency")
    answers = _WARP // LINE * (LINE + header)
    return sum(draft.count(key) for key in fixed) + draft.cycles((header + answers) / link)


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
