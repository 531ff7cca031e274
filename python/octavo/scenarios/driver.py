"""The release of NVIDIA's driver in a scenario, and what it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_COHERENT = {"cdmm": "CDMM", "numa": "GPU memory as NUMA node"}
_LAPSE = {True: "adaptive lapse", False: "fixed lapse"}


def driver(values: Mapping[str, Any]) -> str:
    """Return `615 (CDMM, adaptive lapse, …)`, or `none` where no release of NVIDIA's driver is named.

    Args:
        values: a scenario that is spelled out.

    """
    node, guard = values["node"], values["memory"].get("guard", {})
    found = str(node["driver"].get("release", "none"))
    memory = _COHERENT.get(node.get("coherence", {}).get("gpu_memory", ""))
    lapse = _LAPSE.get(guard.get("adaptive_lapse")) if guard.get("name") == "stock-driver" else None
    discard = "discard" if node["driver"].get("discard") else None
    selected = ", ".join(said for said in (memory, lapse, discard) if said)
    return f"{found} ({selected})" if selected and found != "none" else found
