"""A demotion for Octavo: where victims of a full memory go, and how much of each memory is kept free.

Try it where whole blocks leave, which other GPUs take; compare it; change its option:

    octavo run --workload stencil2d --scale 0.0625 --eviction lru-block --demotion my_policy.py \
        --set node.capacity.footprint_percent=20
    octavo compare --workload stencil2d --scale 0.0625 --eviction lru-block --demotion my_policy.py \
        --set node.capacity.footprint_percent=20
    octavo run --workload stencil2d --scale 0.0625 --eviction lru-block --demotion my_policy.py \
        --set node.capacity.footprint_percent=20 --set memory.demotion.free=0
"""

from __future__ import annotations

from octavo.policies import HOST, DemotionPolicy, option


class MyPolicy(DemotionPolicy):
    """Victims go to the GPU with most room, if it has some to spare, else to the host."""

    # Options, set by `--set`, in a scenario file or from Python. Types: bool, int, float, str, Literal of words.
    free: int = option(64, "pages of each GPU's memory that are kept free", minimum=0)

    def start(self) -> None:
        """Called once, when options and `self.node` are set. One object serves one run."""

    def destination(self, source: int, pages: int) -> int:
        """Where the victims of one 2 MiB block go, of which this many are sole copies."""
        others = [gpu for gpu in range(self.node.gpus) if gpu != source]
        best = max(others, key=self.occupancy.spare, default=HOST)
        return best if best != HOST and self.occupancy.spare(best) >= pages + self.free else HOST

    def reserve(self) -> int:
        """Pages of each GPU's memory that should be free; victims leave ahead of need when fewer are. Asked once."""
        return self.free
