"""A machine file and its samples as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo import extras
from octavo.files import disk
from octavo.measured.calibrate import machine, samples
from octavo.measured.calibrate.tables import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.measured.calibrate.machine import Machine
    from octavo.measured.calibrate.samples import Samples


def read(path: Path) -> tuple[Machine, list[Samples]]:
    """A machine file and the samples beside it, which may be missing.

    Raises:
        CalibrationError: a file cannot be read, or is not as expected.

    """
    found = machine.read(path)
    directory = samples.beside(path)
    return found, [samples.read(directory, probe) for probe in TABLES if samples.is_finished(directory, probe)]


def draw(found: Machine, probes: list[Samples], directory: Path) -> list[Path]:
    """Draw every probe that there are samples of.

    Raises:
        ExtraError: Matplotlib is not installed.
        OutputError: the folder cannot be written to.

    """
    extras.need("matplotlib")
    from octavo.measured.calibrate.draw import (  # noqa: PLC0415 - importing matplotlib takes longer than most commands
        arithmetic,
        copies,
        launches,
        memory,
        peers,
        roofline,
        unified,
        zero_copy,
    )

    makers = {
        "copies": copies.draw,
        "launches": launches.draw,
        "memory": memory.draw,
        "arithmetic": arithmetic.draw,
        "zero_copy": zero_copy.draw,
        "managed": unified.draw,
        "system": unified.draw,
        "roofline": roofline.draw,
        "peers": peers.draw,
    }
    disk.check_writable(directory)
    return [
        path for one in probes if not one.table.is_empty() for path in makers[one.probe](one, found.measured, directory)
    ]
