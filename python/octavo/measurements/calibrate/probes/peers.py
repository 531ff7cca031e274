"""Copies and loads between GPUs, pair by pair."""

from __future__ import annotations

import re
from statistics import median
from typing import TYPE_CHECKING

from octavo.measurements.calibrate import quantities
from octavo.measurements.calibrate.fits import line, plain
from octavo.measurements.calibrate.probes.probe import Probe, Series, Stage, Value
from octavo.runs import pictures

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.measurements.calibrate.measurement import Measured
    from octavo.measurements.calibrate.node.draft import Draft
    from octavo.measurements.calibrate.samples import Samples

_SERIES = {
    "peer_copy": Series("a copy between two GPUs", ("source", "target", "size", "both")),
    "peer_load": Series("loads from another GPU's memory", ("source", "target", "pattern")),
    "topology": Series(
        "what the driver says of a pair", ("source", "target", "access", "rank", "atomics"), timed=False
    ),
}
_COPY = ("peers", "peer_copy")
_SHOWN = {
    "peer_copy_bandwidth": "copies, one way",
    "peer_copy_both": "copies, both ways at once",
    "peer_load_sequential": "sequential loads",
    "peer_load_random": "random loads",
}


def _copies() -> list[Value]:
    bandwidth = "bandwidth of large copies between two GPUs"
    overhead = "overhead of a copy between two GPUs"
    both = "bandwidth of copies in both directions at once, bytes of both together"
    one_way: dict[str, str | float] = {"both": 0}
    return [
        Value("peer_copy_bandwidth", "B/s", *_COPY, bandwidth, line.TRANSFER, line.bandwidth, one_way, each_pair=True),
        Value("peer_copy_overhead", "s", *_COPY, overhead, line.TRANSFER, line.overhead, one_way, each_pair=True),
        Value("peer_copy_both", "B/s", *_COPY, both, line.TRANSFER, line.bandwidth, {"both": 1}, each_pair=True),
    ]


def _load(pattern: str) -> Value:
    about = f"useful bytes a second of {pattern} loads from another GPU's memory"
    name = f"peer_load_{pattern}"
    where = {"pattern": pattern}
    return Value(name, "B/s", "peers", "peer_load", about, plain.BYTES, plain.bandwidth, where, each_pair=True)


_VALUES = [*_copies(), *map(_load, ("sequential", "random"))]


def _derive(draft: Draft) -> None:
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


def _draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """A heat map for each value, source by target."""
    pairs = samples.table.select("source", "target").drop_nulls().unique()
    gpus = sorted({*pairs["source"], *pairs["target"]})
    paths = []
    for name, words in _SHOWN.items():
        found = [[measured.get(f"{name}_{source}_{target}") for target in gpus] for source in gpus]
        if not any(one for line in found for one in line):
            continue
        values = [[one.value / 1e9 if one else float("nan") for one in line] for line in found]
        labels = [f"GPU {gpu}" for gpu in gpus]
        paths.append(folder / f"{name}.png")
        axes = ("source", "target") if "copy" in name else ("who reads", "whose memory")
        pictures.heat_map(paths[-1], values, labels, labels, axes, f"{words[0].upper()}{words[1:]}: GB/s", floor=0.0)
    return paths


PROBE = Probe("peers", _SERIES, _VALUES, _draw, {Stage.LINKS: _derive}, gpus=2)
