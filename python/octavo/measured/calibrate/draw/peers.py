"""GPUs among themselves: bandwidth by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.runs import pictures

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.measured.calibrate.measured import Measured
    from octavo.measured.calibrate.samples import Samples

_VALUES = {
    "peer_copy_bandwidth": "copies, one way",
    "peer_copy_both": "copies, both ways at once",
    "peer_load_sequential": "sequential loads",
    "peer_load_random": "random loads",
}


def draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """A heat map for each value, source by target."""
    pairs = samples.table.select("source", "target").drop_nulls().unique()
    gpus = sorted({*pairs["source"], *pairs["target"]})
    paths = []
    for name, words in _VALUES.items():
        found = [[measured.get(f"{name}_{source}_{target}") for target in gpus] for source in gpus]
        if not any(one for line in found for one in line):
            continue
        values = [[one.value / 1e9 if one else float("nan") for one in line] for line in found]
        labels = [f"GPU {gpu}" for gpu in gpus]
        paths.append(folder / f"{name}.png")
        axes = ("source", "target") if "copy" in name else ("who reads", "whose memory")
        pictures.heat_map(paths[-1], values, labels, labels, axes, f"{words[0].upper()}{words[1:]}: GB/s", floor=0.0)
    return paths
