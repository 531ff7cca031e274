"""A machine file and its samples as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo import extras
from octavo.files import disk
from octavo.measurements.calibrate import folder, machine
from octavo.measurements.calibrate.probes import PROBES

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.measurements.calibrate.machine import Machine
    from octavo.measurements.calibrate.samples import Samples


def read(path: Path) -> tuple[Machine, list[Samples]]:
    """A machine file and the samples beside it, which may be missing.

    Raises:
        CalibrationError: a file cannot be read, or is not as expected.

    """
    found = machine.read(path)
    directory = folder.beside(path)
    return found, [folder.read(directory, probe) for probe in PROBES if folder.is_finished(directory, probe)]


def draw(found: Machine, probes: list[Samples], directory: Path) -> list[Path]:
    """Draw every probe that has samples.

    Raises:
        ExtraError: Matplotlib is not installed.
        OutputError: the folder cannot be written to.

    """
    extras.need("matplotlib")
    disk.check_writable(directory)
    drawn = [PROBES[one.probe].draw(one, found.measured, directory) for one in probes if not one.table.is_empty()]
    return [path for paths in drawn for path in paths]
