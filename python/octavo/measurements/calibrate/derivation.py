"""The machine file from samples, wherever they were taken."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from octavo._core import VERSION
from octavo.errors import CalibrationError, OctavoError
from octavo.files import disk
from octavo.measurements.calibrate import machine, records
from octavo.measurements.calibrate.evaluate import evaluate
from octavo.measurements.calibrate.folder import beside
from octavo.measurements.calibrate.node.derivation import derive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from octavo.measurements.calibrate.samples import Samples

_SHARED = 0.9
"""The least share of GPU memory that is free on an idle GPU; with less, other programs use it and disturb the
measurement."""
_NOT_OF_THE_DEVICE = {
    *("index", "name", "uuid", "gpus", "compute_capability", "driver", "cuda", "nvrtc"),  # stand in `[machine]` itself
    "free_bytes",  # is another one every time
}


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    path: Path
    machine: machine.Machine
    failed: Mapping[str, str]
    """Probes that failed, each with the reason."""


@dataclass(frozen=True)
class Subject:
    """What was measured, and with how much effort."""

    gpu: Mapping[str, Any]
    """The GPU as its driver describes it, with the number of GPUs in the machine (`gpus`)."""
    host: Mapping[str, Any]
    """The host's description of itself."""
    effort: str
    """`quick` or `full`."""


def is_shared(gpu: Mapping[str, Any]) -> bool:
    """Whether something else uses the GPU's memory."""
    free = gpu.get("free_bytes")
    return free is not None and free < _SHARED * gpu["memory_bytes"]


def check_output(output: Path, subject: Subject, *, force: bool) -> None:
    """Make sure that a machine file can be written there, and that nothing else is in its place.

    Raises:
        CalibrationError: it is of something else, or cannot be read.
        OutputError: the place cannot be written to.

    """
    disk.check_file(output)
    if not output.exists():
        return
    found = machine.read(output).about
    expected = {"uuid": subject.gpu["uuid"], "effort": subject.effort, "gpus": subject.gpu["gpus"]}
    for key, value in expected.items():
        if found[key] != value and not force:
            raise in_the_way(f"{output} is of {key} `{found[key]}`, not `{value}`")


def in_the_way(what: str) -> CalibrationError:
    """Something else is at the place of the results."""
    return CalibrationError(what, "choose another file with -o, or measure everything anew with --force")


def make(output: Path, subject: Subject, probes: Sequence[Samples], missing: Mapping[str, str]) -> machine.Machine:
    """Evaluate samples and write the machine file, and the driver's events beside the samples.

    Raises:
        CalibrationError: the place cannot be written to.

    """
    missing = {**missing, **records.write_events(beside(output), probes)}
    made, text = _with_node(_machine(subject, probes, missing), subject.gpu)
    disk.write_text(output, text)
    return made


def _machine(subject: Subject, probes: Sequence[Samples], missing: Mapping[str, str]) -> machine.Machine:
    found, gpu = evaluate(probes), subject.gpu
    about = {
        "gpu": gpu["name"],
        "gpus": gpu["gpus"],
        **{key: gpu[key] for key in ("uuid", "compute_capability", "driver", "cuda", "nvrtc") if gpu.get(key)},
        **subject.host,
        "date": max((probe.date for probe in probes), default=today()),
        "octavo": VERSION,
        "effort": subject.effort,
        "device": {key: value for key, value in gpu.items() if key not in _NOT_OF_THE_DEVICE and value is not None},
    }
    return machine.Machine(about, found.measured, {**missing, **found.skipped})


def _with_node(made: machine.Machine, gpu: Mapping[str, Any]) -> tuple[machine.Machine, str]:
    """The machine and its file's text. Measured values are kept even if no node can be derived from them."""
    try:
        return made, machine.machine_text(made, derive(gpu, made.measured).text)
    except OctavoError as error:
        without = replace(made, skipped={**made.skipped, "node": error.message})
        return without, machine.machine_text(without)


def today() -> str:
    """The date that samples get."""
    return dt.datetime.now(tz=dt.timezone.utc).date().isoformat()
