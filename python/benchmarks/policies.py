"""What a policy in Python costs: the same runs under `on-touch` and under its copy in Python, in turn, on one core.

python python/benchmarks/policies.py                  # GEMM and three more kernels
python python/benchmarks/policies.py --pairs 9        # more pairs, for a quieter median
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import octavo._core as _core
from octavo import scenario
from octavo.policies import Decision, Fault, Page, PlacementPolicy

GOAL = 3.0
"""The most that a copy of `on-touch` in Python may cost on GEMM, in run times of the built-in one."""
KERNELS = {"gemm": 0.25, "matrixmultiplication": 0.25, "stencil2d": 0.0625, "bfs-shoc": 0.0625}
"""Kernels and their scales: runs of about a second."""


class OnTouch(PlacementPolicy):
    """`on-touch` in Python."""

    def on_fault(self, fault: Fault, page: Page) -> Decision:
        """Every fault migrates the page."""
        return Decision.MIGRATE

    def may_prefetch(self, page: Page) -> bool:
        """Every page may come along."""
        return True


def seconds(toml: str) -> tuple[float, int]:
    """Processor time of one run, and how often its placement was asked."""
    start = time.process_time()
    summary = json.loads(_core.run(toml)[0])
    taken = time.process_time() - start
    return taken, summary["manager"]["far_faults"] + summary["manager"]["protection_faults"]


def compare(kernel: str, scale: float, pairs: int) -> float:
    """Print one kernel; returns the median of the pairs' ratios."""
    overrides = {"record.events": False}
    built_in, python = (
        scenario(workload=kernel, scale=scale, placement=placement, overrides=overrides).toml
        for placement in ("on-touch", OnTouch)
    )
    taken = [(seconds(built_in), seconds(python)) for _ in range(pairs)]
    ratios = sorted(of_python[0] / of_built_in[0] for of_built_in, of_python in taken)
    ratio = statistics.median(ratios)
    calls = taken[0][1][1]
    print(
        f"{kernel:<8}{calls:>10,}{statistics.median(one[0] for one, _ in taken):>12.3f}"
        f"{statistics.median(one[0] for _, one in taken):>12.3f}{ratio:>8.2f}   {ratios[0]:.2f} to {ratios[-1]:.2f}",
        flush=True,
    )
    return ratio


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    head = f"{'kernel':<8}{'calls':>10}{'built-in s':>12}{'Python s':>12}{'ratio':>8}"
    print(f"{head}   of {arguments.pairs} pairs")
    ratios = {kernel: compare(kernel, scale, arguments.pairs) for kernel, scale in KERNELS.items()}
    met = "met" if ratios["gemm"] <= GOAL else "missed"
    print(f"goal for GEMM: at most {GOAL:g} times the time of the built-in; {ratios['gemm']:.2f}: {met}")


if __name__ == "__main__":
    main()
