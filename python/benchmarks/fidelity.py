"""Errors and speed-up of fidelity `page` against fidelity `line`: a table a workload and placement.

python python/benchmarks/fidelity.py                                  # the kernels of the GRIT study at scale 1/16
python python/benchmarks/fidelity.py --workloads pagerank,wcc --scale 0.01
python python/benchmarks/fidelity.py --set node.settled.ahead=0us     # any value may be changed, where it is used

Runs are one after the other in one process; their times are processor times of that process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import dataclass
from typing import Any

import octavo._core as _core
from octavo.runs import measures
from octavo.scenarios.scenario import Recipe
from octavo_studies.grit.study import KERNELS

PLACEMENTS = ("on-touch", "access-counter", "duplication", "grit")
"""What the table is about, unless told otherwise."""


@dataclass(frozen=True)
class Ran:
    """One run."""

    seconds: float
    summary: dict[str, Any]

    @property
    def remote(self) -> int:
        """Lines of other memories."""
        accesses = self.summary["accesses"]
        return int(accesses["remote_gpu_lines"] + accesses["remote_host_lines"])


@dataclass(frozen=True)
class Pair:
    """The same scenario at both fidelities."""

    workload: str
    placement: str
    line: Ran
    page: Ran

    @property
    def time(self) -> float:
        """Error of the simulated time, as a share."""
        return share(self.line.summary["time_ps"], self.page.summary["time_ps"])

    @property
    def faults(self) -> float:
        """Error of the faults."""
        return share(self.line.summary["accesses"]["faults"], self.page.summary["accesses"]["faults"])

    @property
    def remote(self) -> float:
        """Error of the remote lines."""
        return share(self.line.remote, self.page.remote)

    @property
    def speedup(self) -> float:
        """How much faster it was."""
        return self.line.seconds / self.page.seconds


def share(right: int, found: int) -> float:
    """By how much something is wrong; nothing is of nothing."""
    return found / right - 1 if right else float(found > 0)


def run(workload: str, placement: str, fidelity: str, arguments: argparse.Namespace) -> Ran:
    """Run a scenario, the fastest of several times."""
    asked = [change for change in arguments.set if fidelity == "page" or not change.startswith("node.settled.")]
    changes = [f"workload.scale={arguments.scale}", "record.events=false", *asked, f"node.fidelity={fidelity}"]
    scenario = Recipe.from_names(workload, placement, arguments.node).with_overrides(changes).resolve()

    def once() -> Ran:
        start = time.process_time()
        summary = json.loads(_core.run(scenario.toml)[0])
        return Ran(time.process_time() - start, summary)

    return min((once() for _ in range(arguments.repeat)), key=lambda ran: ran.seconds)


def order(pairs: list[Pair], fidelity: str) -> list[str]:
    """Placements of one workload by their time."""
    return [pair.placement for pair in sorted(pairs, key=lambda pair: int(getattr(pair, fidelity).summary["time_ps"]))]


def show(pairs: list[Pair]) -> None:
    """Sums up what the rows say."""
    for name in ("faults", "time", "remote"):
        errors = [abs(getattr(pair, name)) for pair in pairs]
        print(f"{name}: median error {statistics.median(errors):.1%}, worst {max(errors):.1%}")
    speedups = [pair.speedup for pair in pairs]
    mean = measures.geometric_mean(speedups)
    print(f"speed-up: geometric mean {mean:.2f}, {min(speedups):.2f} to {max(speedups):.2f}")
    for workload in dict.fromkeys(pair.workload for pair in pairs):
        own = [pair for pair in pairs if pair.workload == workload]
        if order(own, "line") != order(own, "page"):
            print(f"{workload}: fastest first {order(own, 'line')} by line, {order(own, 'page')} by page")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default=",".join(KERNELS.values()))
    parser.add_argument("--placements", default=",".join(PLACEMENTS))
    parser.add_argument("--node", default="grit-4gpu")
    parser.add_argument("--scale", type=float, default=1 / 16)
    parser.add_argument("--repeat", type=int, default=1, help="the fastest run counts")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    print("| workload | placement | faults | error | time (ms) | error | remote lines | error | speed-up |")
    print("|---|---|---|---|---|---|---|---|---|")
    pairs = []
    for workload in arguments.workloads.split(","):
        for placement in arguments.placements.split(","):
            line, page = (run(workload, placement, fidelity, arguments) for fidelity in ("line", "page"))
            pair = Pair(workload, placement, line, page)
            pairs.append(pair)
            faults, milliseconds = line.summary["accesses"]["faults"], line.summary["time_ps"] * 1e-9
            print(
                f"| {workload} | {placement} | {faults:,} | {pair.faults:+.1%} | {milliseconds:.2f} | {pair.time:+.1%} "
                f"| {line.remote:,} | {pair.remote:+.1%} | {pair.speedup:.2f} |",
                flush=True,
            )
    print()
    show(pairs)


if __name__ == "__main__":
    main()
