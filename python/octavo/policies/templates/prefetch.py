"""A prefetch policy for Octavo: which pages come along when others migrate.

Try it, compare it, change its option:

    octavo run --workload stencil2d --scale 0.0625 --prefetch my_policy.py
    octavo compare --workload stencil2d --scale 0.0625 --placement on-touch,first-touch --prefetch my_policy.py
    octavo run --workload stencil2d --scale 0.0625 --prefetch my_policy.py --set memory.prefetch.ahead=8
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.policies import PrefetchPolicy, Service, option

if TYPE_CHECKING:
    from collections.abc import Iterable


class MyPolicy(PrefetchPolicy):
    """Brings the pages that follow each faulting page."""

    # An option, set by `--set`, in a scenario file or from Python. Types: bool, int, float, str, Literal of words.
    ahead: int = option(4, "pages to bring after each page that faulted", minimum=0)

    def pages(self, service: Service) -> Iterable[int]:
        """Called when faults of one GPU migrate pages of one 2 MiB block. Returns numbers of pages of `service.block`.

        `service` has `destination` (a GPU, from 0) and, as page numbers, `faulted` (pages that migrate), `resident`
        (pages that are there), `contested` (pages that processors fight over), `block`, and `extent` (the part of the
        block that belongs to the same allocation).

        This is a wish: pages are skipped if they are there, busy, replicated or contested, or if the placement keeps
        them.
        """
        end = service.extent.stop
        wanted = {page for first in service.faulted for page in range(first + 1, min(first + 1 + self.ahead, end))}
        return wanted.difference(service.resident)

    # More methods, for policies that need them: start() prepares state, once, when options and `self.node` are set;
    # on_free(pages) says that a range of page numbers is no longer allocated.
