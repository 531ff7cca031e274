"""Shows the driver's prefetcher: which touches of one thread faulted, and so how much each fault fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.arrays import np
from octavo.measurements.calibrate import quantities
from octavo.measurements.calibrate.fits.estimate import Estimate, Unfit, positive, spread
from octavo.measurements.calibrate.fits.fault_cost import BLOCK_BYTES
from octavo.measurements.calibrate.fits.line import Line, furthest, relative_least_squares
from octavo.measurements.calibrate.fits.rows import at_largest

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

PAGE_BYTES = 4096
"""The meaning of `page` in the step series."""
PAGES = BLOCK_BYTES // PAGE_BYTES
GOLDEN = (64 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1024 << 10)
"""Bytes that the tree of NVIDIA's driver (uvm_perf_prefetch.c of release 595.45.04, threshold 51 %) fetches when the
pages of a block are touched in order."""
SIZES = "distance between the touches that fault, in each fresh block of 2 MiB"
COUNT = "touches that fault, for each fresh block of 2 MiB"
COST = "seconds = fault + bytes / bandwidth over the touches that fault, least squares of relative errors"
_APART = 4.0
"""The ratio of the medians of faulting and other touches below which they count as one kind."""
_SHORTEST = 1e-9
"""Seconds below which times count as equal: a cycle or two, or longer where clocks have longer steps."""


@dataclass(frozen=True)
class Fetches:
    """The faulting touches of one repetition, in order."""

    pages: NDArray[np.int64]
    seconds: NDArray[np.float64]
    sizes: NDArray[np.int64]
    """Bytes that each fault fetched, where pages were touched in order: up to the next fault, or to the end of the
    block."""
    blocks: range
    """Numbers of the blocks that were touched."""


def fetches(table: pl.DataFrame) -> list[Fetches]:
    """The faulting touches of each repetition.

    Raises:
        Unfit: touches do not fall into two kinds.

    """
    largest = at_largest(table, "size")
    return [_one(part.sort("page")) for _, part in largest.group_by("repetition", maintain_order=True)]


def fetched(table: pl.DataFrame, number: int) -> Estimate:
    """Bytes that the `number`-th fault (from 1) in a fresh block fetched, over blocks and repetitions.

    Raises:
        Unfit: touches do not fall into two kinds, or blocks have fewer faults.

    """
    sequences = [sequence for one in fetches(table) for sequence in block_sequences(one)]
    found = [float(sequence[number - 1]) for sequence in sequences if len(sequence) >= number]
    if 2 * len(found) <= len(sequences):
        counts = sorted(len(sequence) for sequence in sequences)
        raise Unfit(f"most blocks of 2 MiB have fewer than {number} faults: {counts[len(counts) // 2]} in the median")
    note = f"the tree of driver 595 fetches {GOLDEN[number - 1] >> 10} KiB" if number <= len(GOLDEN) else ""
    return spread(found, note)


def faults_a_block(table: pl.DataFrame) -> Estimate:
    """How many touches of a block fault, over blocks and repetitions, in any order.

    Raises:
        Unfit: touches do not fall into two kinds.

    """
    counts = [float(np.sum(one.pages // PAGES == block)) for one in fetches(table) for block in one.blocks]
    return spread(counts)


def block_sequences(one: Fetches) -> list[list[int]]:
    """Bytes fetched fault by fault, for each block of 2 MiB."""
    blocks = one.pages // PAGES
    return [one.sizes[blocks == block].tolist() for block in np.unique(blocks)]


def fault(table: pl.DataFrame) -> Estimate:
    """Seconds of a single fault apart from its bytes."""
    line = _line(table)
    return positive(spread(line.starts, line.note), "cost of a fault", "s")


def bandwidth(table: pl.DataFrame) -> Estimate:
    """Bytes a second at which a single fault fetches.

    Raises:
        Unfit: touches do not fall into two kinds, all faults fetch the same, or more bytes do not take longer.

    """
    line = _line(table)
    _ = line.slope
    return spread([1 / slope if slope > 0 else float("inf") for slope in line.slopes], line.note)


def _one(part: pl.DataFrame) -> Fetches:
    seconds = part["seconds"].to_numpy()
    pages = part["page"].to_numpy()
    slow = seconds > _threshold(seconds)
    at = pages[slow]
    ends = np.append(at[1:], int(pages[-1]) + 1)
    block_ends = (at // PAGES + 1) * PAGES
    blocks = range(int(pages.max()) // PAGES + 1)
    return Fetches(at, seconds[slow], (np.minimum(ends, block_ends) - at) * PAGE_BYTES, blocks)


def _threshold(seconds: NDArray[np.float64]) -> float:
    """The time that best divides touches into two kinds: Otsu's criterion on logarithms.

    Raises:
        Unfit: they are not two kinds.

    """
    logarithms = np.sort(np.log(np.maximum(seconds, _SHORTEST)))
    if len(logarithms) < 4:
        raise Unfit(f"two kinds of touches need 4 pages, found {len(logarithms)}")
    counts = np.arange(1, len(logarithms))
    sums = np.cumsum(logarithms)[:-1]
    rest = len(logarithms) - counts
    means = sums / counts, (logarithms.sum() - sums) / rest
    cut = int(np.argmax(counts * rest * (means[1] - means[0]) ** 2)) + 1
    fast, slow = np.median(logarithms[:cut]), np.median(logarithms[cut:])
    if np.exp(slow - fast) < _APART:
        raise Unfit(
            f"touches do not fall into two kinds: the slower ones take {np.exp(slow - fast):.1f} times as long",
            "inseparable",
        )
    return float(np.exp((logarithms[cut - 1] + logarithms[cut]) / 2))


def _line(table: pl.DataFrame) -> Line:
    """Time over fetched bytes, for touches that fault; the note names the size with the largest error."""
    found = fetches(table)
    sizes = sorted({int(size) for one in found for size in np.unique(one.sizes)})
    if len(sizes) < 2:
        raise Unfit(
            "all faults fetch the same, so that their cost cannot be told from that of the bytes", "inseparable"
        )
    lines = [
        relative_least_squares(np.column_stack([np.ones(len(one.sizes)), one.sizes]), one.seconds) for one in found
    ]
    errors = [_errors(one, line, sizes) for one, line in zip(found, lines, strict=True)]
    note = furthest(errors, [quantities.short(size, "B") for size in sizes])
    return Line([start for start, _ in lines], [slope for _, slope in lines], note)


def _errors(one: Fetches, line: tuple[float, ...], sizes: list[int]) -> NDArray[np.float64]:
    """The relative error of the line at each size; 0 at sizes that this repetition does not have."""
    start, slope = line
    off = [(start + slope * size) / one.seconds[one.sizes == size] - 1 for size in sizes]
    return np.array([float(np.median(each)) if len(each) else 0.0 for each in off])
