"""Device memory of a recorded program: its ranges, when parts of them were allocated, and where copies went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Piece:
    """An allocation as it was recorded."""

    address: int
    bytes: int
    first: int
    """The first launch that may use it."""
    end: int | None = None
    """The first launch after it was freed."""
    copied_in: int = 0
    """Bytes that were copied into it so far."""
    copied_out: int = 0

    @property
    def last(self) -> int:
        """One past its last byte."""
        return self.address + self.bytes


@dataclass
class DeviceMemory:
    """All allocations in order of time, and copies, which are recorded without addresses."""

    pieces: list[Piece] = field(default_factory=list)
    copies: list[tuple[int, Piece, bool, int, int]] = field(default_factory=list)
    """Before which launch, where, whether into it, first byte, bytes."""
    lost: int = 0
    """Copies that fit no allocation."""
    guessed: int = 0
    """Copies of which several allocations have the size, or none has it."""

    def allocate(self, address: int, size: int, launch: int) -> None:
        """Memory is allocated before a launch."""
        self.free(address, launch)  # The end of what was there was not recorded.
        self.pieces.append(Piece(address, size, launch))

    def free(self, address: int, launch: int) -> bool:
        """Memory is freed before a launch; whether it was there."""
        for piece in self._alive():
            if piece.address == address:
                piece.end = launch
                return True
        return False

    def _alive(self) -> list[Piece]:
        return [piece for piece in self.pieces if piece.end is None]

    def copy(self, size: int, launch: int, *, inwards: bool) -> None:
        """Bytes are copied before a launch, to where the size fits best."""
        alike = [piece for piece in self._alive() if piece.bytes == size]
        larger = sorted((piece for piece in self._alive() if piece.bytes > size), key=lambda piece: piece.bytes)
        if not alike and not larger:
            self.lost += 1
            return
        self.guessed += len(alike) != 1
        piece = min(alike or larger[:1], key=lambda each: self._order(each, inwards=inwards))
        done = piece.copied_in if inwards else piece.copied_out
        first = done % piece.bytes
        first = first if first + size <= piece.bytes else 0
        self.copies.append((launch, piece, inwards, first, size))
        if inwards:
            piece.copied_in += size
        else:
            piece.copied_out += size

    def _order(self, piece: Piece, *, inwards: bool) -> tuple[int, int]:
        """What comes first among pieces of a size: what was copied least, and to the host what was not copied in."""
        times = piece.copied_in if inwards else piece.copied_out
        return (times, 0 if inwards else piece.copied_in)

    def ranges(self, launches: int) -> tuple[list[dict[str, Any]], list[list[Any]]]:
        """Ranges of memory, each with the launches between which parts of it are allocated; and the copies by range."""
        groups = _overlapping(self.pieces)
        index = {id(piece): number for number, group in enumerate(groups) for piece in group}
        start = [min(piece.address for piece in group) for group in groups]
        buffers = [
            {
                "name": f"device {number + 1}",
                "bytes": max(piece.last for piece in group) - start[number],
                "address": start[number],
                "alive": sorted([piece.first, launches if piece.end is None else piece.end] for piece in group),
            }
            for number, group in enumerate(groups)
        ]
        copies = [
            [before, index[id(piece)], inwards, piece.address - start[index[id(piece)]] + first, size]
            for before, piece, inwards, first, size in self.copies
        ]
        return buffers, copies


def _overlapping(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces that have addresses in common, in order of address: memory that was freed and allocated again."""
    groups: list[list[Piece]] = []
    end = -1
    for piece in sorted(pieces, key=lambda piece: (piece.address, piece.bytes)):
        if piece.address < end:
            groups[-1].append(piece)
        else:
            groups.append([piece])
        end = max(end, piece.last)
    return groups
