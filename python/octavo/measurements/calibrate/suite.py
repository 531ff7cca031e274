"""Runs the probes in order, keeps each as soon as it is finished, and makes the machine file from all that are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.errors import CalibrationError, InterruptedRun
from octavo.measurements.calibrate import derivation, folder
from octavo.measurements.calibrate.probes import PROBES
from octavo.measurements.calibrate.samples import Activity, Samples
from octavo.measurements.calibrate.sidecar import Origin
from octavo.plain import one_of
from octavo.runs.execute import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from octavo.measurements.calibrate.engine import Engine

_LEAST_FREE = 0.25
"""The share of GPU memory that has to be free: probes choose their sizes from it, and must not displace other data."""


@dataclass(frozen=True)
class Plan:
    """What to measure, and where the results go."""

    output: Path
    """The machine file; samples lie beside it."""
    engine: Engine
    quick: bool = False
    gpu: int = 0
    only: tuple[str, ...] = ()
    """Probes by name; all of them if empty."""
    force: bool = False

    @property
    def samples(self) -> Path:
        """Folder of the samples."""
        return folder.beside(self.output)

    @property
    def effort(self) -> str:
        """The effort's name in the machine file."""
        return "quick" if self.quick else "full"


@dataclass(frozen=True)
class _Task:
    """A probe, and the origin that its samples must have."""

    name: str
    origin: Origin


def choose_gpu(plan: Plan) -> dict[str, Any]:
    """The GPU to measure, as its driver describes it.

    Raises:
        CalibrationError: there is none of this number, its memory is in use, or kernels cannot be compiled.

    """
    gpus = plan.engine.describe()
    numbers = [int(gpu["index"]) for gpu in gpus]
    if plan.gpu not in numbers:
        raise CalibrationError(
            f"--gpu: expected one of {', '.join(map(str, numbers))}, found {plan.gpu}",
            code="unexpected-value",
            key="gpu",
            found=plan.gpu,
        )
    chosen = dict(gpus[numbers.index(plan.gpu)], gpus=len(gpus))
    if not chosen.get("nvrtc"):
        raise CalibrationError(
            "NVRTC, which compiles the probes' kernels, was not found",
            "`pip install 'octavo[gpu]'` brings it (Python 3.11 or newer), and so does NVIDIA's CUDA toolkit",
        )
    free = chosen.get("free_bytes")
    if free is not None and free < _LEAST_FREE * chosen["memory_bytes"]:
        share = free / chosen["memory_bytes"]
        raise CalibrationError(
            f"GPU {plan.gpu} ({chosen['name']}): expected a quarter of its memory to be free, found {share:.0%}",
            "end what uses it, or choose another with --gpu",
            code="unexpected-value",
            found=share,
        )
    return chosen


def calibrate(plan: Plan, gpu: Mapping[str, Any], watch: Callable[[Progress], None]) -> derivation.Outcome:
    """Measure what is missing, and write the machine file.

    A probe that fails does not stop the others.

    Raises:
        CalibrationError: a probe is unknown, or something else lies where results go.
        OutputError: the place cannot be written to.
        InterruptedRun: Ctrl-C; finished probes are kept.

    """
    tasks = _tasks(plan, gpu)
    wanted = _wanted(plan, tasks)
    subject = derivation.Subject(gpu, plan.engine.host(gpu.get("pci_bus_id") or ""), plan.effort)
    derivation.check_output(plan.output, subject, force=plan.force and not plan.only)
    kept = _kept(plan, tasks, wanted)
    missing = {task.name: "not asked for" for task in tasks if task.name not in wanted | kept.keys()}
    for name in [name for name in sorted(wanted) if PROBES[name].gpus > gpu["gpus"]]:
        wanted.remove(name)
        missing[name] = "there is one GPU"
    failed: dict[str, str] = {}
    found = _measure(plan, subject, [task for task in tasks if task.name in wanted], kept, failed, watch)
    ordered = [found[task.name] for task in tasks if task.name in found]
    return derivation.Outcome(
        plan.output, derivation.make(plan.output, subject, ordered, {**missing, **failed}), failed
    )


def _tasks(plan: Plan, gpu: Mapping[str, Any]) -> list[_Task]:
    return [_Task(probe["name"], _origin(plan, gpu, probe["digest"])) for probe in plan.engine.probes()]


def _origin(plan: Plan, gpu: Mapping[str, Any], digest: str) -> Origin:
    driver = gpu.get("driver") or f"for CUDA {gpu.get('cuda')}"
    return Origin(gpu["name"], gpu["uuid"], driver, plan.effort, digest, gpu["gpus"])


def _wanted(plan: Plan, tasks: Sequence[_Task]) -> set[str]:
    names = [task.name for task in tasks]
    for name in plan.only:
        if name not in names:
            raise CalibrationError(
                f"--probe: expected {one_of(name, names)}, found `{name}`",
                code="unexpected-value",
                key="probe",
                found=name,
            )
    return set(plan.only or names)


def _kept(plan: Plan, tasks: Sequence[_Task], wanted: set[str]) -> dict[str, Samples]:
    """Finished probes that can be used as they are: all of them, or with --force those that were not named."""
    kept = {}
    for task in tasks:
        if not folder.is_finished(plan.samples, task.name):
            continue
        if plan.force and task.name in wanted:
            continue
        found = folder.read(plan.samples, task.name)
        if difference := found.origin.difference(task.origin):
            raise derivation.in_the_way(f"{plan.samples} holds samples of `{task.name}` from {difference}")
        kept[task.name] = found
    return kept


def _measure(
    plan: Plan,
    subject: derivation.Subject,
    tasks: Sequence[_Task],
    kept: dict[str, Samples],
    failed: dict[str, str],
    watch: Callable[[Progress], None],
) -> dict[str, Samples]:
    """All samples that are there in the end."""
    names = [task.name for task in tasks]
    progress = Progress(len(tasks), [name for name in names if name in kept], sum(name in kept for name in names))
    found = dict(kept)
    try:
        for task in tasks:
            if task.name in kept:
                continue
            try:
                found[task.name] = _run(plan, subject, task, progress, watch)
            except CalibrationError as error:
                failed[task.name] = error.message
                progress.failed.append(task.name)
            progress.running.pop(task.name, None)
            progress.done.append(task.name)
            watch(progress)
    except KeyboardInterrupt:
        done = len(progress.done) - len(progress.failed)
        raise InterruptedRun(
            f"stopped: {done} of {progress.total} probes are finished and kept", "the same command resumes"
        ) from None
    return found


def _run(
    plan: Plan, subject: derivation.Subject, task: _Task, progress: Progress, watch: Callable[[Progress], None]
) -> Samples:
    def step(done: int, of: int, _what: str) -> None:
        progress.running[task.name] = done / of if of else 0.0
        watch(progress)

    _discard_foreign(plan, task)
    step(0, 1, "")
    result = plan.engine.measure(task.name, plan.gpu, quick=plan.quick, progress=step)
    activity = result["activity"]
    measured = Samples(
        task.name,
        folder.table_of(task.name, result["columns"], f"probe `{task.name}`"),
        task.origin,
        derivation.today(),
        subject.gpu,
        subject.host,
        dict(result["skipped"]),
        Activity(**activity) if activity else None,
    )
    folder.write(plan.samples, measured)
    return measured


def _discard_foreign(plan: Plan, task: _Task) -> None:
    """Samples of another measurement are removed before this one begins; its own stay until new ones replace them."""
    if not folder.is_finished(plan.samples, task.name):
        return
    try:
        own = folder.read(plan.samples, task.name).origin == task.origin
    except CalibrationError:
        own = False
    if not own:
        folder.discard(plan.samples, task.name)
