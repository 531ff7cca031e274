"""The release of NVIDIA's driver in a scenario, and what it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_COHERENT = {"cdmm": "CDMM", "numa": "GPU memory as NUMA node"}
_LAPSE = {True: "adaptive lapse", False: "fixed lapse"}
_DISCARDS = (580, 65)
"""The first release with `UVM_DISCARD`: pages that a program gives up and that no one copies back."""
_NOT_DISCARDED = "discarded pages are not modelled"


def driver(values: Mapping[str, Any]) -> str:
    """Return `615 (CDMM, adaptive lapse, …)`, or `none` where no release of NVIDIA's driver is named.

    Args:
        values: a scenario that is spelled out.

    """
    node, guard = values["node"], values["memory"].get("guard", {})
    found = str(node["driver"].get("release", "none"))
    memory = _COHERENT.get(node.get("coherence", {}).get("gpu_memory", ""))
    lapse = _LAPSE.get(guard.get("adaptive_lapse")) if guard.get("name") == "stock-driver" else None
    selected = ", ".join(said for said in (memory, lapse, _NOT_DISCARDED if _discards(found) else None) if said)
    return f"{found} ({selected})" if selected and found != "none" else found


def _discards(release: str) -> bool:
    """Whether a release can discard pages; of a branch without a number, the newest is meant."""
    numbers = tuple(int(number) for number in release.split(".")[:2] if number.isdigit())
    return numbers >= _DISCARDS or numbers == _DISCARDS[:1]
