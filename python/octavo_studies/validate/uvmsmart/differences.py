"""The rules with Octavo's differences, which explain its distance from the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo_studies.validate.uvmsmart.replay import Replay, StuckError
from octavo_studies.validate.uvmsmart.trees import LEAF

if TYPE_CHECKING:
    from collections.abc import Sequence


class AsOctavo(Replay):
    """Pages on their way do not count as resident while others leave; a block that went home keeps its counts.

    Pages come into the reserve, if they fit, before others leave for it.
    """

    def synchronise(self) -> None:
        """As in the rules, except for the counts."""
        uses = dict(self._uses)
        super().synchronise()
        self._uses = uses

    def _bring(self, coming: Sequence[int]) -> None:
        reserve, self._reserve = self._reserve, 0
        while self._missing(len(coming)):
            for tree in {id(tree): tree for tree in map(self._tree, coming)}.values():
                leaves = range(len(tree.valid))
                tree.valid = [LEAF * any(one in self._there for one in tree.leaf_pages(leaf)) for leaf in leaves]
            if not self._evict():
                raise StuckError
        for page in coming:
            tree = self._tree(page)
            if self._prefetch != "none":
                tree.valid[tree.leaf(page)] = LEAF
        super()._bring(coming)
        self._reserve = reserve
        while self._missing(reserve) and self._evict():
            pass
