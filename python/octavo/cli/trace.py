"""`octavo trace`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo import trace
from octavo.cli import options
from octavo.cli.requests import Group
from octavo.cli.terminal import Terminal
from octavo.errors import TraceError
from octavo.files.replacement import check_free
from octavo.trace import steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.cli.sink import Sink

Folder = Annotated[Path, typer.Argument(metavar="TRACE", help="Folder of the trace.", show_default=False)]
Written = Annotated[Path, typer.Argument(metavar="TRACE", help="Folder of the trace to write.", show_default=False)]


@dataclass(frozen=True)
class Rows:
    """Which rows of a trace are shown."""

    count: Annotated[int, typer.Option("--count", "-c", metavar="N", min=1, max=100_000, help="Rows at most.")] = 10
    launch: Annotated[int | None, typer.Option("--launch", metavar="N", min=0, help="Only rows of this launch.")] = None
    group: Annotated[int | None, typer.Option("--group", metavar="N", min=0, help="Only rows of this work-group.")] = (
        None
    )
    wavefront: Annotated[
        int | None, typer.Option("--wavefront", metavar="N", min=0, help="Only rows of this wavefront of a group.")
    ] = None


class Device(Enum):
    """What stands for a GPU."""

    meta = "meta"
    cpu = "cpu"


@dataclass(frozen=True)
class Step:
    """How a step of a PyTorch program is recorded, and where it goes."""

    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")] = Path("torch.step")
    batch: Annotated[
        int | None,
        typer.Option(
            "--batch",
            metavar="N",
            min=1,
            help="Batch size of replays that choose none. The script is recorded with 2, 3 and 5 samples "
            "for {batch}, and sizes follow.",
        ),
    ] = None
    vary: Annotated[
        str | None,
        typer.Option(
            "--vary",
            metavar="NAME",
            help="The script's variable with the batch size, such as batch_size; found by its name if left out.",
        ),
    ] = None
    most: Annotated[
        int | None,
        typer.Option("--steps", metavar="N", min=1, help="Optimizer steps after which the script is ended."),
    ] = steps.MOST_STEPS
    on: Annotated[
        Device | None,
        typer.Option(
            "--on",
            help="What stands for the GPU: tensors without values (meta), or the CPU, which computes them. "
            "The CPU if the script needs values, else meta.",
        ),
    ] = None
    python: Annotated[
        str | None,
        typer.Option("--python", help="The Python that has PyTorch; Octavo's own or one on the path if left out."),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False


@dataclass(frozen=True)
class Conversion:
    """How the trace of another tool is converted."""

    form: Annotated[
        str | None, typer.Option("--format", "-f", help="Format by name; detected from the input if left out.")
    ] = None
    listed: Annotated[bool, typer.Option("--list", help="List the formats that can be converted.")] = False
    force: Annotated[bool, typer.Option("--force", help="Replace an existing trace.")] = False


_ROWS, _STEP, _CONVERSION = Rows(), Step(), Conversion()

app = Group(help="Inspect, check and convert recorded traces.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command(epilog=options.examples("octavo trace info fir.trace", "octavo trace info fir.trace --json"))
def info(path: Folder, said: options.Said = options.SAID) -> None:
    """Count instructions, lines and footprint, by kernel."""
    sink = said.sink()
    found = trace.open(path).info
    sink.document(found)
    _show_info(sink, path, found)


@app.command(epilog=options.examples("octavo trace head fir.trace --group 3 --wavefront 1 --count 20"))
def head(path: Folder, shown: Rows = _ROWS, said: options.Said = options.SAID) -> None:
    """Show the first rows, optionally of one launch, work-group or wavefront."""
    sink = said.sink()
    rows = trace.Trace(path).head(shown.count, launch=shown.launch, group=shown.group, wavefront=shown.wavefront)
    sink.document(rows)
    columns = ["row", "launch", "group", "wave", "sequence", "before", "instruction", "touches"]
    sink.table(str(path), columns, [_row(row) for row in rows], unbroken=["instruction"])


@app.command(epilog=options.examples("octavo trace validate fir.trace"))
def validate(path: Folder, said: options.Said = options.SAID) -> None:
    """Check every rule of the format; the first that is broken is named with file and row."""
    sink = said.sink()
    rows = trace.Trace(path).validate()
    sink.document({"rows": rows, "valid": True})
    sink.say(f"{path} is a valid trace of {rows:,} rows")


@app.command(epilog=options.examples("octavo trace seal fir.trace", "octavo trace seal traces/*.trace"))
def seal(
    paths: Annotated[list[Path], typer.Argument(metavar="TRACE", help="Folders of traces.", show_default=False)],
    said: options.Said = options.SAID,
) -> None:
    """Check traces that other programs recorded, and write a manifest of checksums."""
    sink = said.sink()
    rows = {str(path): trace.seal(path) for path in paths}
    sink.document(rows)
    for path, count in rows.items():
        sink.say(f"{path} is a valid trace of {count:,} rows, with a manifest")


@app.command(
    epilog=options.examples(
        "octavo trace record fir fir.trace --kind explicit --scale 0.0625",
        "octavo trace record nw nw.trace --kind launches --set workload.length=512",
    )
)
def record(
    name: options.Named,
    path: Written,
    kind: options.Kind = None,
    inputs: options.Inputs = options.INPUTS,
    said: options.Said = options.SAID,
) -> None:
    """Write a workload as a trace: its launches, and the whole program around them unless no kind is named."""
    sink = said.sink()
    changes = [*(inputs.assignments or []), *([] if inputs.seed is None else [f"seed={inputs.seed}"])]
    rows = trace.record(inputs.scenario(name, kind=kind), path, changes).validate()
    sink.document({"folder": str(path), "rows": rows})
    sink.say(f"{path} is a trace of {rows:,} rows")


@app.command(
    name="torch",
    context_settings={"ignore_unknown_options": True},
    epilog=options.examples(
        "octavo trace torch train.py",
        "octavo trace torch train.py -o train.step --vary batch_size",
        "octavo trace torch train.py resnet50 {batch} --batch 128 -o resnet50.step --python /usr/bin/python3",
        "octavo run --workload resnet50.step --set workload.batch=32 --set workload.iterations=3",
    ),
)
def torch_step(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT", help="A PyTorch program.", show_default=False)],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGUMENTS",
            help="Arguments of the script; {batch} stands for a batch size. Options named like those below follow "
            "`--`.",
            show_default=False,
        ),
    ] = None,
    wanted: Step = _STEP,
    said: options.Said = options.SAID,
) -> None:
    """Record a PyTorch program without a GPU: a step's operators and tensors, and how much memory a GPU needs for it.

    The script runs unchanged and sees a GPU, whose tensors have sizes and no values.

    The step is the last that the script marks with `torch.profiler.record_function("octavo-step")`, else the last up to
    the end of an `optimizer.step()`, else the last call of a model.
    """
    from octavo.advice.step import ask  # noqa: PLC0415 - slow to import

    sink = said.sink()
    check_free(wanted.output, force=wanted.force)
    step = trace.record_torch(
        script,
        wanted.output,
        arguments or [],
        batch=wanted.batch,
        python=wanted.python,
        steps=wanted.most,
        on=None if wanted.on is None else wanted.on.value,
        vary=wanted.vary,
    )
    found, needs = trace.facts(step), ask.ask(wanted.output)
    sink.document({"file": str(wanted.output), **found, "needs": needs.to_dict()})
    sink.tell(needs.needs)
    sink.table("Memory at that moment", ["of what", "bytes"], [row[:2] for row in needs.roles()])
    rows = [
        (key.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value)) for key, value in found.items()
    ]
    sink.table(f"A step, in {wanted.output}", ["what", "value"], rows)
    for note in (*needs.program.assumed, *needs.notes):
        sink.tell(f"Note: {note}")
    sink.say(f"Does it fit? octavo fit {wanted.output} --memory 24GB")
    sink.say(f"What to do about it: octavo advise {wanted.output} --memory 24GB")


@app.command(
    epilog=options.examples(
        "octavo trace chakra pytorch_et.json -o step.step", "octavo run step.step --node cuda-sm90 --kind managed"
    )
)
def chakra(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Execution trace of a PyTorch program: JSON, or Chakra's protobuf.", show_default=False
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")] = Path(
        "chakra.step"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    said: options.Said = options.SAID,
) -> None:
    """Make a recorded step of a Chakra execution trace: operators and the tensors that they touch."""
    sink = said.sink()
    check_free(output, force=force)
    step = trace.convert_chakra(source, output)
    found = trace.facts(step)
    assumed = step["assumed"]
    sink.document({"file": str(output), **found, "assumed": assumed})
    told = [(key.replace("_", " "), f"{value:,}" if isinstance(value, int) else value) for key, value in found.items()]
    sink.table(f"A step, in {output}", ["what", "value"], told)
    for text in assumed:
        sink.tell(f"Assumed: {text}")
    sink.say(f"Run it: octavo run {output} --node cuda-sm90 --kind managed")


@app.command(
    epilog=options.examples(
        "octavo trace convert kernelslist.g bfs.trace",
        "octavo trace convert ls.lackey ls.trace",
        "octavo trace convert --list",
    )
)
def convert(
    source: Annotated[
        Path | None, typer.Argument(metavar="INPUT", help="File or folder of another tool.", show_default=False)
    ] = None,
    path: Annotated[
        Path | None, typer.Argument(metavar="TRACE", help="Folder of the trace to write.", show_default=False)
    ] = None,
    wanted: Conversion = _CONVERSION,
    said: options.Said = options.SAID,
) -> None:
    """Convert the trace of another tool: of a GPU (Accel-Sim, NVBit), or of a program on the host (Lackey)."""
    sink = said.sink()
    if wanted.listed:
        formats = trace.formats()
        sink.document(formats)
        sink.table(
            "formats", ["name", "summary", "source"], [(one["name"], one["summary"], one["source"]) for one in formats]
        )
        return
    if source is None or path is None:
        raise TraceError("nothing to convert", "name the input and the folder to write; `--list` shows the formats")
    with Terminal(errors=True).status("converting", quiet=said.quiet) as tell:

        def watch(share: float, rows: int) -> bool:
            tell(f"converting: {share:.0%}, {rows:,} rows")
            return True

        done = trace.convert(source, path, format=wanted.form, replace=wanted.force, watch=watch)
    sink.document(done)
    rows = [(key, f"{done[key]:,}") for key in ("launches", "rows", "instructions", "allocations")]
    sink.table(f"{path} from {done['format']}", ["count", "value"], rows)
    if done["notes"]:
        notes = [(f"{count:,}", note) for note, count in done["notes"]]
        sink.table("lost or guessed", ["times", "what"], notes)


def _show_info(sink: Sink, path: Path, found: Mapping[str, Any]) -> None:
    touched = found.get("touched_bytes")
    rows = [
        ("recorded by", found["source"]),
        ("command", found["command"]),
        ("version", found["version"]),
        ("lanes", str(found["lanes"])),
        ("GPUs", str(found["gpus"] or "not recorded")),
        ("size", _bytes(found["file_bytes"])),
        ("rows", f"{found['rows']:,} ({found['row_groups']:,} row groups)"),
        ("footprint", f"{_bytes(found['footprint_bytes'])} in {found['allocations']:,} allocations"),
        *_program(found.get("program")),
        ("touched", "not counted" if touched is None else _bytes(touched)),
    ]
    sink.table(str(path), ["property", "value"], rows)
    kernels = {**found["kernels"], "all": found["total"]} if len(found["kernels"]) > 1 else found["kernels"]
    shapes = ("launches", "work_groups", "wavefronts", "instructions")
    _by_kernel(sink, "kernels", kernels, shapes)
    _by_kernel(sink, "lines", kernels, ("load_lines", "store_lines", "atomic_lines", "scalar_lines"))
    _by_kernel(sink, "instructions without rows", kernels, ("vector_alu", "scalar_alu", "local_data", "branch"))
    kinds = list(found["total"]["kinds"])
    cells = [(name, *(f"{kernel['kinds'].get(kind, 0):,}" for kind in kinds)) for name, kernel in kernels.items()]
    sink.table("rows", ["kernel", *kinds], cells)


def _program(found: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """The actions of a whole program, and its memory."""
    if found is None:
        return [("program", "not recorded: launches alone")]
    actions = ", ".join(f"{count:,} {kind}" for kind, count in found["actions"].items())
    return [
        ("actions", actions),
        ("memory", ", ".join(f"{kind} {_bytes(size)}" for kind, size in found["bytes"].items())),
    ]


def _by_kernel(sink: Sink, title: str, kernels: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    rows = [(name, *(f"{kernel[key]:,}" for key in keys)) for name, kernel in kernels.items()]
    sink.table(title, ["kernel", *(key.replace("_", " ") for key in keys)], rows)


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    counts = [f"{row[key]} {key}" for key in ("vector_alu", "scalar_alu", "local_data", "branch") if row[key]]
    counts += [f"code {line}" for line in row["code_lines"]]
    place = (str(row[key]) for key in ("row", "launch", "group", "wavefront", "sequence"))
    return (*place, ", ".join(counts) or "-", _instruction(row), _touches(row))


def _instruction(row: Mapping[str, Any]) -> str:
    kind = str(row["kind"])
    if row["lanes"]:
        return f"{kind} {row['lanes']} × {row['bytes']} B"
    if kind == "wait":
        waits = [f"{name[:6]} ≤ {row[name]}" for name in ("vector_wait", "scalar_wait") if row[name] is not None]
        return " ".join([kind, *waits]) if waits else "order"
    return f"{kind} {row['bytes']} B" if row["bytes"] else kind


def _touches(row: Mapping[str, Any]) -> str:
    """Runs of consecutive lines, or addresses."""
    if row["addresses"]:
        return "at " + " ".join(map(str, row["addresses"]))
    runs: list[list[int]] = []
    for line in row["lines"]:
        if runs and runs[-1][1] + 1 == line:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return " ".join(str(first) if first == last else f"{first}..{last}" for first, last in runs) or "-"


def _bytes(count: int) -> str:
    """A size for people."""
    return f"{count / (1 << 20):,.2f} MiB" if count >= 1 << 16 else f"{count:,} B"
