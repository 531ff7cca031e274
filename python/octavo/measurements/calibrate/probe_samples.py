"""Samples that were taken on another machine, by `octavo-probe`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.errors import CalibrationError
from octavo.measurements.calibrate import derivation, folder
from octavo.measurements.calibrate.probes import PROBES

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.measurements.calibrate.samples import Samples


def evaluate(directory: Path, output: Path, *, force: bool = False) -> derivation.Outcome:
    """Make the machine file from the samples in a folder, and copy them beside it if they are not there already.

    Raises:
        CalibrationError: there are none, they are damaged or not of one machine, or something else lies where results
            go.
        OutputError: the place cannot be written to.

    """
    found = _read(directory)
    subject = _subject(directory, found)
    derivation.check_output(output, subject, force=force)
    _lay_beside(directory, output, found, force=force)
    names = {one.probe for one in found}
    missing = {probe: "not measured" for probe in PROBES if probe not in names}
    return derivation.Outcome(output, derivation.make(output, subject, found, missing), {})


def _read(directory: Path) -> list[Samples]:
    found = [folder.read(directory, probe) for probe in PROBES if folder.is_finished(directory, probe)]
    if not found:
        raise CalibrationError(
            f"--samples: expected a folder with samples of probes, found none in {directory}",
            "`octavo-probe run -o DIR` takes them",
            code="missing",
            key="samples",
        )
    return found


def _subject(directory: Path, found: list[Samples]) -> derivation.Subject:
    first = found[0]
    for other in found:
        if difference := other.origin.difference(first.origin, but="digest"):
            raise CalibrationError(
                f"{directory}: expected samples of one machine, found `{other.probe}` from {difference} "
                f"as `{first.probe}`",
                "every GPU and effort needs a folder of its own",
                code="unexpected-value",
                found=other.probe,
            )
    for one in found:
        for key in ("name", "uuid", "gpus"):
            if key not in one.device:
                raise CalibrationError(
                    f"{directory}: `{one.probe}`: key `device.{key}`: expected the GPU's, found nothing",
                    code="unexpected-value",
                    key=one.probe,
                )
    newest = max(found, key=lambda one: one.date)
    return derivation.Subject(newest.device, newest.host, newest.origin.effort)


def _lay_beside(directory: Path, output: Path, found: list[Samples], *, force: bool) -> None:
    place = folder.beside(output)
    if place.exists() and place.samefile(directory):
        return
    for one in found:
        if folder.is_finished(place, one.probe) and not force:
            there = folder.read(place, one.probe)
            if difference := there.origin.difference(one.origin):
                raise derivation.in_the_way(f"{place} holds samples of `{one.probe}` from {difference}")
    for one in found:
        folder.write(place, one)
