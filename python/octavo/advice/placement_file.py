"""Advice on a recording as a file that the interposer applies (`octavo apply`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.advice import recording
from octavo.errors import AdviceError
from octavo.files import disk
from octavo.files.replacement import check_free

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.advice.answer import Advice
    from octavo.advice.moments import Moves
    from octavo.advice.proposal import Advised
    from octavo.advice.recording import Site

_ON_HOST = {"placement": "managed", "hints": ["prefer-host", "accessed-by-device"], "copied_by_host": True}
"""Memory that stays on the host, where the device reaches it: it can go to the device later if this does not help."""
FORMAT = 2
"""The format of placement files; `crates/octavo-interpose/src/apply/placement.rs` reads it."""
NAME = "placement.json"
"""Its name in a folder of advice."""


def document(advice: Advice) -> dict[str, Any]:
    """What to allocate otherwise.

    Raises:
        AdviceError: the advice is not on a recording, which alone knows who calls.

    """
    if advice.recording is None:
        raise _no_recording(advice.name)
    room = advice.plan.budget >= sum(each.buffer.size for each in advice.plan.buffers)
    each = zip(advice.plan.buffers, advice.recording.sites, advice.recording.moves, strict=True)
    buffers = [_buffer(advised, site, moves, room=room) for advised, site, moves in each]
    return {
        "octavo_placement": FORMAT,
        "program": list(advice.recording.program),
        "buffers": buffers,
        **({"recorded": advice.recording.launches} if any(map(_is_timed, buffers)) else {}),
    }


def check(source: Path, path: Path, *, force: bool = False) -> None:
    """Make sure that advice on a source can be written to a file, before the advice is computed.

    Raises:
        AdviceError: the source is no recording, which alone knows who calls.
        OutputError: the file is there already, or cannot be written.

    """
    if not recording.is_recording(recording.meant(source)):
        raise _no_recording(str(source))
    disk.check_file(path)
    check_free(path, force=force)


def _no_recording(name: str) -> AdviceError:
    return AdviceError(
        f"{name}: expected advice on a recording, whose call sites a placement file names",
        "record the program: octavo record -- PROGRAM",
        code="unexpected-value",
    )


def write(advice: Advice, path: Path, *, force: bool = False) -> None:
    """Write it to a file, whole or not at all.

    Raises:
        AdviceError: the advice is not on a recording.
        OutputError: the file is there already, or cannot be written.

    """
    found = document(advice)
    check_free(path, force=force)
    disk.write_json(path, found)


def meant(path: Path) -> Path:
    """The placement file in a folder of advice; any other path as it is."""
    return path / NAME if path.is_dir() else path


def read(path: Path) -> dict[str, Any]:
    """A placement file, checked as far as is needed to start a program: the interposer checks all of it.

    Raises:
        AdviceError: it cannot be read, is none, or is of another format.

    """
    hint = "write one with octavo advise PROFILE --placement-file FILE"
    found = recording.read_marked(path, "octavo_placement", "a placement file", hint)
    if found["octavo_placement"] != FORMAT:
        raise AdviceError(
            f"{path}: octavo_placement: expected format {FORMAT}, found {found['octavo_placement']}",
            "write it again with this version of Octavo",
            code="other-format",
            file=path,
            expected=FORMAT,
            found=found["octavo_placement"],
        )
    return found


def _buffer(advised: Advised, site: Site, moves: Moves | None, *, room: bool) -> dict[str, Any]:
    """One buffer.

    The host may touch managed memory, so a managed buffer on the device stays managed and prefers the device. If the
    recording shows when it is used, it moves then; otherwise it is prefetched as soon as it is allocated, which is lost
    if the host writes it first.
    """
    placement = advised.placement
    if copied_by_host(advised):
        return {**_of(advised, site), **_ON_HOST}
    moved = moves if placement == "prefetched" and room else None
    hints = _hints(advised, moves, moved, room=room)
    stays = hints or placement == "prefetched"
    return {
        **_of(advised, site),
        "placement": "managed" if stays else placement,
        "hints": hints,
        **({} if moved is None else {"moves": _moves(moved)}),
    }


def _of(advised: Advised, site: Site) -> dict[str, Any]:
    """Which allocations are meant."""
    return {
        "name": advised.buffer.name,
        "call": site.call,
        "bytes": advised.buffer.size,
        "frames": [{"module": module, "offset": offset} for module, offset in site.frames],
        "order": None if site.orders is None else list(site.orders),
    }


def copied_by_host(advised: Advised) -> bool:
    """Whether device memory is to lie on the host, which then makes its copies."""
    return advised.buffer.present == "device" and advised.placement == "pinned" and advised.buffer.known is not None


def _is_timed(buffer: Mapping[str, Any]) -> bool:
    """Whether launches are compared with the recording."""
    return "moves" in buffer or "copied_by_host" in buffer


def _hints(advised: Advised, moves: Moves | None, moved: Moves | None, *, room: bool) -> list[str]:
    """The hints that the driver gets once the memory is allocated."""
    buffer, placement = advised.buffer, advised.placement
    if moved is not None:
        # A preferred location holds where nobody else ever touches it.
        alone = not moved.host_first and not moved.went_back
        return ["read-mostly"] if moved.read_mostly else ["prefer-device"] if alone else []
    if (buffer.present, placement) == ("managed", "device"):
        return ["prefer-device", "prefetch"]
    if placement == "prefetched":
        return ["prefetch"] if room and moves is None and buffer.first == "device" else []
    if (buffer.present, placement) == ("device", "managed") and buffer.first == "device":
        return ["prefer-device"]
    return []


def _moves(moves: Moves) -> dict[str, Any]:
    """When its memory moves."""
    return {
        "to_device": True,
        "to_host_after": sorted(moves.to_host_after),
        "discard_before_fill": moves.discard_before_fill,
    }
