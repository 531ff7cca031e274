"""The base class of workloads in Python."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from octavo.arrays import np
from octavo.policies.options import Configurable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo.arrays import npt
    from octavo.generators.instructions import Instruction
    from octavo.generators.parts import Buffer, Exchange, Launch

_GOLDEN, _FIRST, _SECOND = 0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB
"""Factors of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)."""


class Generator(Configurable):
    """A workload. Options are annotated class attributes: see `octavo.generators.option`.

    It must say the same whenever it is asked the same: no clocks, no random numbers but those of `random`.
    """

    lanes: ClassVar[int] = 64
    """Lanes of a wavefront: 64, or 32."""
    host_is_known: ClassVar[bool] = True
    """Whether it is a mistake if the host reads nothing that kernels store."""
    scale: float
    """The size that was asked for; 1 is the size that the workload has by itself. Set before `start`, as `seed`."""
    seed: int

    _reserved: ClassVar[tuple[str, ...]] = (*Configurable._reserved, "scale", "seed", "lanes", "host_is_known")

    def start(self) -> None:
        """Called once, before anything else: the place to compute sizes."""

    @abstractmethod
    def buffers(self) -> Iterable[Buffer]:
        """List the buffers, in the order in which they lie in memory."""

    @abstractmethod
    def launches(self) -> Iterable[Launch]:
        """List the launches in order."""

    def host(self) -> Iterable[Exchange]:
        """List what the host reads and writes between launches, in order; by default nothing."""
        return ()

    @abstractmethod
    def instructions(
        self, launch: Launch, group: npt.NDArray[Any], wavefront: npt.NDArray[Any]
    ) -> Iterable[Instruction]:
        """Give the instructions of some work-groups of a launch, in order, all of their wavefronts at once.

        `group` holds the numbers of the work-groups in the shape (groups, 1, 1), `wavefront` those of the wavefronts
        within a work-group in the shape (1, wavefronts, 1). Arrays of lines that are computed from both have a last
        axis of as many lines as a wavefront touches at a time. A launch is asked for in portions; the answer must not
        depend on which.
        """

    def scaled(self, count: float, least: int = 1) -> int:
        """A number at scale 1 as it is at this scale, at least `least`."""
        return max(least, round(count * self.scale))

    def random(self, below: int, *coordinates: Any) -> npt.NDArray[Any]:
        """Whole numbers from 0 to `below` - 1 that follow from the seed and from coordinates, arrays or numbers.

        The same coordinates always give the same number, in whichever portion they are asked for.
        """
        with np.errstate(over="ignore"):
            state = np.uint64(self.seed)
            for coordinate in coordinates:
                state = _mixed(state ^ _mixed(np.asarray(coordinate).astype(np.uint64)))
        return np.asarray(state % np.uint64(below)).astype(np.int64)


def _mixed(state: Any) -> Any:
    """The next output of SplitMix64 after `state`."""
    state = state + np.uint64(_GOLDEN)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(_FIRST)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(_SECOND)
    return state ^ (state >> np.uint64(31))
