"""What `octavo profile` costs the program that it watches.

A NumPy program fills three arrays of 1 GiB in all and adds two of them to the third, 100 times. It runs alone and
sampled, in turn; the fastest of each are compared, since whatever else the machine does only adds to them.

    python python/benchmarks/profiling.py --pairs 10 --every 100ms
    python python/benchmarks/profiling.py --looks
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from octavo.measurements.profile import proc, profile

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = """
import numpy
first, second, sum = (numpy.full((1 << 30) // 24, 1.0) for _ in range(3))
for _ in range(100):
    numpy.add(first, second, out=sum)
"""
HOLDER = """
import mmap, sys
memory = mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
if sys.argv[1] != "none":
    memory.madvise(getattr(mmap, sys.argv[1]))
    for place in range(0, len(memory), mmap.PAGESIZE): memory[place] = 1
print("touched", flush=True)
sys.stdin.readline()
"""
COMMAND = [sys.executable, "-c", PROGRAM]


def main() -> None:
    """Run the pairs and print what they say."""
    parser = argparse.ArgumentParser(description="What octavo profile costs the program that it watches.")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--every", default="100ms")
    parser.add_argument("--looks", action="store_true", help="Time single readings instead.")
    arguments = parser.parse_args()
    if arguments.looks:
        looks()
        return
    profile([sys.executable, "-c", "pass"], Path(tempfile.mkdtemp()) / "warm")  # Imports what it needs.
    pairs = [(alone(), sampled(arguments.every)) for _ in range(arguments.pairs)]
    for place, what in ((0, "time"), (1, "processor time")):
        before, after = (min(run[place] for run in runs) for runs in zip(*pairs, strict=True))
        print(f"{what} of the program: {before:.3f} s alone, {after:.3f} s sampled ({after / before - 1:+.1%})")
    print(f"processor time of sampling: {statistics.median(run[2] for _, run in pairs):.1%} of one core")


def alone() -> tuple[float, float]:
    """Seconds that the program takes, and of processors."""
    before, begun = os.times(), time.monotonic()
    subprocess.run(COMMAND, check=True)
    ended, after = time.monotonic(), os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return ended - begun, used


def sampled(every: str) -> tuple[float, float, float]:
    """The same while it is sampled, and the share of a core that this takes."""
    with tempfile.TemporaryDirectory() as folder:
        summary = profile(COMMAND, Path(folder) / "profile", every=every).summary
    used = (summary["used"]["user_ps"] + summary["used"]["system_ps"]) * 1e-12
    return summary["time_ps"] * 1e-12, used, summary["samples"]["cpu_ps"] / summary["time_ps"]


def looks() -> None:
    """What it takes to read the totals and mappings of a process with 1 GiB: untouched, in small and in huge pages."""
    for advice in ("none", "MADV_NOHUGEPAGE", "MADV_HUGEPAGE"):
        command = [sys.executable, "-c", HOLDER, advice]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            if holder.stdout is not None:
                holder.stdout.readline()
            totals = fastest(partial(proc.stat, holder.pid)) + fastest(partial(proc.status, holder.pid))
            mappings = fastest(partial(proc.mappings, holder.pid))
            print(f"1 GiB, {advice}: totals {totals * 1e6:.0f} us, mappings {mappings * 1e3:.2f} ms")
            holder.kill()


def fastest(read: Callable[[], object]) -> float:
    """Seconds that the fastest of many readings takes."""

    def once() -> float:
        begun = time.monotonic()
        read()
        return time.monotonic() - begun

    return min(once() for _ in range(200))


if __name__ == "__main__":
    main()
