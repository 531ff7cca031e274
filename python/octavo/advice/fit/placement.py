"""The plan of a recorded program as a placement file, which `octavo apply` executes by prefetches both ways."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from octavo.advice.placement_file import FORMAT
from octavo.errors import AdviceError
from octavo.files import disk
from octavo.files.replacement import check_free

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from octavo.advice.fit.answer import Fit
    from octavo.advice.fit.weigh import Weighed
    from octavo.advice.moments import Moves
    from octavo.advice.recording import Recording, Site


def document(fit: Fit) -> dict[str, Any]:
    """What to move when; what passes through a launch, and explicit memory, stays as it is.

    Raises:
        AdviceError: the program is no recording, or there is no plan for it.

    """
    found, weighed = fit.recording, fit.weighed
    if found is None or weighed is None:
        why = "it was not recorded" if found is None else "it fits, or its launches are not known"
        raise AdviceError(
            f"{fit.name}: expected a recorded program that does not fit, found that {why}", code="missing"
        )
    buffers = list(_buffers(fit, found, weighed))
    return {
        "octavo_placement": FORMAT,
        "program": list(found.program),
        "buffers": buffers,
        **({"recorded": found.launches} if buffers else {}),
    }


def write(fit: Fit, path: Path, *, force: bool = False) -> None:
    """Write the file.

    Raises:
        AdviceError: there is no plan.
        OutputError: the file is there already, or cannot be written.

    """
    check_free(path, force=force)
    disk.write_json(path, document(fit))


def _buffers(fit: Fit, found: Recording, weighed: Weighed) -> Iterator[dict[str, Any]]:
    """An entry for each allocation that moves, by its order among those of its place."""
    pieces = {
        number: piece for piece, number in enumerate(sorted(row["number"] for rows in found.rows for row in rows))
    }
    used = frozenset().union(*(step.uses for step in weighed.served.steps))
    leaves = _leaves(fit, weighed)
    through = frozenset(piece for each in weighed.served.passing for piece in each.pieces)
    for buffer, site, rows, moves in zip(found.buffers, found.sites, found.rows, found.moves, strict=True):
        for row in rows:
            piece = pieces[row["number"]]
            if fit.story.pieces[piece].kind == "managed" and piece in used - through:
                yield _buffer(buffer.name, site, row, moves, sorted(leaves[piece]))


def _leaves(fit: Fit, weighed: Weighed) -> dict[int, set[int]]:
    """Launches before which each piece makes way."""
    found: dict[int, set[int]] = defaultdict(set)
    for move in weighed.plan.moves:
        step = fit.story.steps[move.step]
        if move.way != "to-device" and step.on_device:
            found[move.piece].add(step.launch)
    return found


def _buffer(name: str, site: Site, row: dict[str, Any], moves: Moves | None, leaves: list[int]) -> dict[str, Any]:
    return {
        "name": name,
        "call": site.call,
        "bytes": int(row["bytes"]),
        "frames": [{"module": module, "offset": offset} for module, offset in site.frames],
        "order": [row["order"]],
        "placement": "managed",
        "hints": [],
        "moves": {
            "to_device": True,
            "to_host_after": sorted(moves.to_host_after) if moves else [],
            "to_host_before": leaves,
            "discard_before_fill": bool(moves and moves.discard_before_fill),
        },
    }
