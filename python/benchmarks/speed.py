"""Speed and memory of the engine: simulated line accesses a second and manager state a page, under GRIT, on one core.

python python/benchmarks/speed.py                 # eight kernels at scale 1/4; growth with GPUs and with scale
python python/benchmarks/speed.py --scale 1       # at the published footprints
python python/benchmarks/speed.py --reproduce     # the whole of `octavo reproduce grit` at scale 1 as well
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import octavo._core as _core
from octavo.runs import measures
from octavo.scenarios.scenario import Recipe
from octavo_studies.grit.study import KERNELS

# Of runs one after the other, since the machine is not the same for long.
PAIRS = 5


@dataclass(frozen=True)
class Measured:
    """One run."""

    seconds: float
    lines: int
    state_bytes_a_page: float

    @property
    def rate(self) -> float:
        """Million simulated line accesses a second."""
        return self.lines / self.seconds * 1e-6


def measure(workload: str, scale: float, node: str = "grit-4gpu") -> Measured:
    """Run a kernel under GRIT and time the simulation."""
    overrides = [f"workload.scale={scale}", "record.events=false"]
    scenario = Recipe.from_names(workload, "grit", node).with_overrides(overrides).resolve()
    start = time.perf_counter()
    summary = json.loads(_core.run(scenario.toml)[0])
    seconds = time.perf_counter() - start
    lines = summary["accesses"]["load_lines"] + summary["accesses"]["store_lines"]
    pages = summary["footprint_bytes"] / 4096
    return Measured(seconds, lines, summary["manager_state_bytes"] / pages)


def kernels(scale: float) -> None:
    """Each kernel, and the geometric mean."""
    print(f"{'kernel':<10}{'lines':>14}{'seconds':>10}{'M lines/s':>12}{'state B/page':>14}   (scale {scale:g})")
    rates = []
    for name in KERNELS:
        run = measure(name, scale)
        rates.append(run.rate)
        print(
            f"{name:<10}{run.lines:>14,}{run.seconds:>10.2f}{run.rate:>12.2f}{run.state_bytes_a_page:>14.1f}",
            flush=True,
        )
    print(f"{'geomean':<34}{measures.geometric_mean(rates):>12.2f}   lowest {min(rates):.2f}")


def growth(title: str, small: tuple[float, str], large: tuple[float, str]) -> None:
    """How the cost of an access grows from a small to a large setting: medians of pairs of runs."""

    def once(name: str) -> float:
        return measure(name, *small).rate / measure(name, *large).rate

    ratios = {name: statistics.median(once(name) for _ in range(PAIRS)) for name in KERNELS}
    worst = max(ratios, key=ratios.__getitem__)
    mean = measures.geometric_mean(list(ratios.values()))
    print(f"cost of an access, {title}: {mean:.2f}x, at most {ratios[worst]:.2f}x ({worst})", flush=True)


def reproduction() -> None:
    """The wall time of the whole main study at the published footprints."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        command = [sys.executable, "-m", "octavo", "reproduce", "grit", "--quiet", "-o", f"{folder}/out"]
        subprocess.run(command, check=True)
        print(f"octavo reproduce grit at scale 1: {time.perf_counter() - start:.0f} s", flush=True)


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=0.25)
    parser.add_argument("--reproduce", action="store_true")
    arguments = parser.parse_args()
    kernels(arguments.scale)
    growth("16 GPUs over 2", (1 / 16, "grit-2gpu"), (1 / 16, "grit-16gpu"))
    growth(f"scale {arguments.scale:g} over 1/16", (1 / 16, "grit-4gpu"), (arguments.scale, "grit-4gpu"))
    if arguments.reproduce:
        reproduction()


if __name__ == "__main__":
    main()
