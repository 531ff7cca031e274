"""What `octavo profile` costs the program that it watches.

A NumPy program fills three arrays of 1 GiB in all and adds two of them to the third, 100 times. It runs alone and
sampled, in turn; the fastest of each are compared, since whatever else the machine does only adds to them.

    python python/benchmarks/profiling.py --pairs 10 --every 100ms
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from octavo.measured.profile import profile

PROGRAM = """
import numpy
first, second, sum = (numpy.full((1 << 30) // 24, 1.0) for _ in range(3))
for _ in range(100):
    numpy.add(first, second, out=sum)
"""
COMMAND = [sys.executable, "-c", PROGRAM]


def main() -> None:
    """Run the pairs and print what they say."""
    parser = argparse.ArgumentParser(description="What octavo profile costs the program that it watches.")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--every", default="100ms")
    arguments = parser.parse_args()
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


if __name__ == "__main__":
    main()
