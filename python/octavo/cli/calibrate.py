"""`octavo calibrate`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.cli import options
from octavo.cli.requests import Group
from octavo.cli.terminal import Terminal
from octavo.errors import CalibrationError, OctavoError
from octavo.measurements.calibrate import engine, quantities
from octavo.runs.progress import watching

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from octavo.cli.sink import Sink
    from octavo.measurements.calibrate import derivation, machine, suite
    from octavo.measurements.calibrate.measurement import Measured

EXAMPLES = options.examples(
    "octavo calibrate -o machine.toml",
    "octavo calibrate -o machine.toml --quick",
    "octavo calibrate -o machine.toml --probe copies,launches --force",
    "octavo calibrate --samples samples -o machine.toml",
    "octavo calibrate show machine.toml -o pictures",
    "octavo calibrate probes",
)

app = Group()


class FailedProbes(OctavoError):  # noqa: N818 - named after what it reports
    """Some probes have no samples."""


@dataclass(frozen=True)
class Measurement:
    """What to measure and how, or samples that were measured elsewhere."""

    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Machine file to write; samples go beside it.")
    ] = Path("machine.toml")
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and repetitions: below a minute.")] = False
    gpu: Annotated[int, typer.Option("--gpu", min=0, metavar="N", help="GPU to measure, by its number.")] = 0
    probe: Annotated[
        list[str] | None,
        typer.Option("--probe", metavar="NAME", help="Probes, repeated or separated by commas; all if left out."),
    ] = None
    samples: Annotated[
        Path | None,
        typer.Option(
            "--samples", metavar="DIR", help="Measure nothing: evaluate what octavo-probe wrote on another machine."
        ),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Measure finished probes anew.")] = False

    def plan(self) -> suite.Plan:
        """The same in the form that the suite of probes takes."""
        from octavo.measurements.calibrate import suite  # noqa: PLC0415 - slow to import

        probes = tuple(options.listed(self.probe))
        return suite.Plan(self.output, engine.compiled(), self.quick, self.gpu, probes, self.force)


_MEASUREMENT = Measurement()


@app.callback(invoke_without_command=True, epilog=EXAMPLES)
def calibrate(context: typer.Context, wanted: Measurement = _MEASUREMENT, said: options.Said = options.SAID) -> None:
    """Measure a GPU's memory system once: bandwidths, latencies, what page faults cost.

    Runs probes on an NVIDIA GPU and writes a machine description: every value with its unit, its spread over
    repetitions and the probe that gave it. Peer copies and loads are measured between all GPUs, everything else on one.

    Finished probes are kept: the same command resumes where it was stopped.

    Where Octavo cannot be installed, `octavo-probe` takes the same samples; with --samples they are evaluated here.
    """
    from octavo.measurements.calibrate import probe_samples, suite  # noqa: PLC0415 - slow to import

    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    sink = said.sink()
    if wanted.samples is not None:
        _refuse_measuring(context)
        _finish(sink, probe_samples.evaluate(wanted.samples, wanted.output, force=wanted.force))
        return
    plan = wanted.plan()
    chosen = suite.choose_gpu(plan)
    _announce(plan, chosen, quiet=said.quiet)
    with watching(quiet=said.quiet, what="probes") as watch:
        outcome = suite.calibrate(plan, chosen, watch)
    _finish(sink, outcome)


def _finish(sink: Sink, outcome: derivation.Outcome) -> None:
    from octavo.measurements.calibrate.folder import beside  # noqa: PLC0415 - slow to import

    sink.document(_document(outcome.machine) | {"file": str(outcome.path), "failed": dict(outcome.failed)})
    _show(sink, outcome.machine)
    sink.say(f"Machine file: {outcome.path}, samples: {beside(outcome.path)}")
    _complain(outcome)


def _given(context: typer.Context) -> list[str]:
    """Names of the options that were typed."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return [name for name, source in sources.items() if source is not None and source.name != "DEFAULT"]


def _refuse_options(context: typer.Context) -> None:
    """Options before a subcommand would do nothing."""
    if _given(context):
        raise CalibrationError(
            f"options before `{context.invoked_subcommand}` say how to measure",
            f"put them behind it: octavo calibrate {context.invoked_subcommand} ...",
        )


def _refuse_measuring(context: typer.Context) -> None:
    """Options that say how to measure would do nothing."""
    for name in ("quick", "gpu", "probe"):
        if name in _given(context):
            raise CalibrationError(
                f"--{name} says how to measure, but --samples measures nothing", "leave one of them out"
            )


def _announce(plan: suite.Plan, gpu: Mapping[str, Any], *, quiet: bool) -> None:
    from octavo.measurements.calibrate import derivation  # noqa: PLC0415 - slow to import

    if quiet:
        return
    terminal = Terminal(errors=True)
    others = f" of {gpu['gpus']}" if gpu["gpus"] > 1 else ""
    terminal.line(f"Measuring GPU {plan.gpu}{others}: {gpu['name']}")
    if derivation.is_shared(gpu):
        used = (gpu["memory_bytes"] - gpu["free_bytes"]) >> 20
        terminal.line(f"(!) {used:,} MiB of its memory are in use: what uses them may disturb this")


def _complain(outcome: derivation.Outcome) -> None:
    if outcome.failed:
        reasons = "".join(f"\n  {name}: {reason}" for name, reason in outcome.failed.items())
        raise FailedProbes(
            f"{len(outcome.failed)} probes failed, their values are missing in {outcome.path}:{reasons}",
            "the same command tries these probes again",
        )


@app.command(epilog=options.examples("octavo calibrate probes", "octavo calibrate probes --values --json"))
def probes(
    values: Annotated[bool, typer.Option("--values", help="List the values that are measured instead.")] = False,
    said: options.Said = options.SAID,
) -> None:
    """List the probes and what each measures; needs no GPU."""
    from octavo.measurements.calibrate.probes import VALUES  # noqa: PLC0415 - slow to import

    sink = said.sink()
    if values:
        rows = [{key: getattr(value, key) for key in ("name", "unit", "probe", "about", "how")} for value in VALUES]
        sink.document(rows)
        sink.table(
            "measured values",
            ["name", "unit", "what it is"],
            [(*_cells(row, "name", "unit", "about"),) for row in rows],
        )
        return
    found = [{key: probe[key] for key in ("name", "title", "about")} for probe in engine.Compiled().probes()]
    sink.document(found)
    for one in found:
        sink.tell(f"{one['name']}: {one['title']}\n  {one['about']}\n")


@app.command(epilog=options.examples("octavo calibrate show machine.toml", "octavo calibrate show machine.toml --json"))
def show(
    path: Annotated[Path, typer.Argument(metavar="MACHINE", help="Machine file.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of the pictures; beside the file if left out."),
    ] = None,
    said: options.Said = options.SAID,
) -> None:
    """Print what was measured and draw the curves that it stands on; needs no GPU.

    Pictures are made of the samples beside the machine file.
    """
    from octavo.measurements.calibrate import records  # noqa: PLC0415 - slow to import
    from octavo.measurements.calibrate import show as pictures  # noqa: PLC0415 - slow to import
    from octavo.measurements.calibrate.folder import beside  # noqa: PLC0415 - slow to import
    from octavo.measurements.calibrate.probes import roofline  # noqa: PLC0415 - slow to import

    sink = said.sink()
    found, samples = pictures.read(path)
    if output is not None and not samples:
        raise CalibrationError(
            f"nothing to draw: no samples in {beside(path)}", "octavo calibrate writes them beside the machine file"
        )
    drawn = pictures.draw(found, samples, output or path.with_name(f"{path.stem}.pictures")) if samples else []
    reached = roofline.summary(samples, found.measured)
    happened = records.summary(samples)
    also = {"roofline": reached.to_dicts(), "events": happened.to_dicts(), "pictures": [str(one) for one in drawn]}
    sink.document(_document(found) | also)
    _show(sink, found)
    _show_roofline(sink, reached)
    _show_events(sink, happened)
    sink.say(f"Pictures: {drawn[0].parent}" if drawn else f"No samples in {beside(path)}: no pictures")


def _show_roofline(sink: Sink, reached: pl.DataFrame) -> None:
    if reached.is_empty():
        return
    rows = [
        (row["placement"], str(row["points"]), f"{row['median']:.2f}", f"{row['highest']:.2f}", str(row["above"]))
        for row in reached.to_dicts()
    ]
    columns = ["placement", "points", "median", "highest", "above ceiling"]
    sink.table("Roofline: operations a second reached over the predicted ceiling", columns, rows)


def _show_events(sink: Sink, happened: pl.DataFrame) -> None:
    if happened.is_empty():
        return
    rows = [
        (
            row["kind"],
            row["cause"] or "–",
            f"{row['rows']:,}",
            f"{row['faults']:,}",
            quantities.short(float(row["bytes"]), "B"),
            "–" if row["duration_ps"] is None else quantities.short(row["duration_ps"] * 1e-12, "s"),
        )
        for row in happened.to_dicts()
    ]
    columns = ["event", "cause", "rows", "faults", "bytes", "median time"]
    sink.table("What the driver recorded meanwhile (CUPTI)", columns, rows)


def _cells(row: Mapping[str, Any], *keys: str) -> tuple[str, ...]:
    return tuple(str(row[key]) for key in keys)


def _document(found: machine.Machine) -> dict[str, Any]:
    measured = {name: asdict(value) for name, value in found.measured.items()}
    return {"machine": dict(found.about), "measured": measured, "skipped": dict(found.skipped)}


def _show(sink: Sink, found: machine.Machine) -> None:
    about = found.about
    driver, date = about.get("driver", "unknown"), about.get("date", "no date")
    sink.tell(f"{about['gpu']}, driver {driver}, {about['effort']} effort, {date}")
    by_probe: dict[str, list[Measured]] = {}
    for value in found.measured.values():
        by_probe.setdefault(value.probe, []).append(value)
    for probe, values in by_probe.items():
        counts = sorted({value.repetitions for value in values})
        times = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
        rows = [(value.name, *_numbers(value)) for value in values]
        sink.table(f"{probe}: median and quartiles of {times} repetitions", ["value", "median", "low", "high"], rows)
    names: dict[str, list[str]] = {}
    for name, reason in found.skipped.items():
        names.setdefault(reason, []).append(name)
    for reason, without in names.items():
        sink.tell(f"Without {', '.join(without)}: {reason}")


def _numbers(value: Measured) -> tuple[str, ...]:
    return tuple(quantities.short(number, value.unit) for number in (value.value, value.low, value.high))
