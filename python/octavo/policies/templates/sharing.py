"""A sharing for Octavo: whose pages leave when jobs fill a GPU's memory.

Try it with two jobs; compare it with the built-in ones; change its option:

    octavo run --workload stencil2d+fir --scale 0.0625 --sharing my_policy.py --set node.capacity.footprint_percent=70
    octavo compare --workload stencil2d+fir --scale 0.0625 --sharing free-for-all,quota,my_policy.py \
        --set node.capacity.footprint_percent=70
    octavo run --workload stencil2d+fir --scale 0.0625 --sharing my_policy.py --set node.capacity.footprint_percent=70 \
        --set memory.sharing.kept=0.5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.policies import SharingPolicy, Shortage, Yield, option

if TYPE_CHECKING:
    from collections.abc import Iterable


class MyPolicy(SharingPolicy):
    """Jobs that have more than their part of the memory give up pages first, the largest before the others."""

    # Options, set by `--set`, in a scenario file or from Python. Types: bool, int, float, str, Literal of words.
    kept: float = option(0.25, "part of each GPU's memory that no other job takes from a job", minimum=0, maximum=1)

    def start(self) -> None:
        """Called once, when options and `self.node` are set. One object serves one run."""

    def yields(self, shortage: Shortage) -> Iterable[Yield]:
        """The jobs that give up pages, in this order, until `shortage.wanted` have left."""
        kept = int(self.kept * shortage.room)
        others = [job for job in shortage.jobs if job.number != shortage.asking and job.held > kept]
        others.sort(key=lambda job: job.held, reverse=True)
        yield from (Yield(job.number, job.held - kept) for job in others)
        # The job that asks gives up pages of its own then. If no job asks, or it has none, all jobs do.
        taken = {job.number for job in others}
        asking = [job for job in shortage.jobs if job.number == shortage.asking and job.held]
        yield from (Yield(job.number) for job in asking or shortage.jobs if job.number not in taken)
