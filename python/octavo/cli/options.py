"""Options that several commands share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar, cast

import typer

from octavo.cli import complete
from octavo.cli import help as foot
from octavo.cli.sink import Sink
from octavo.errors import ScenarioError
from octavo.runs import memory
from octavo.scenarios import conflicts
from octavo.scenarios.scenario import is_scenario_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo import arguments
    from octavo.cli.terminal import Terminal
    from octavo.scenarios.scenario import Scenario

    ExecutorName: TypeAlias = arguments.Executor
    FidelityName: TypeAlias = arguments.Fidelity
    KindName: TypeAlias = arguments.Kind
    PictureFormatName: TypeAlias = arguments.PictureFormat
else:
    ExecutorName = FidelityName = KindName = PictureFormatName = (
        str  # Scenarios refuse other names, for all interfaces in the same words.
    )

examples = foot.examples
Name = TypeVar("Name", bound=str)

Target = Annotated[
    str | None,
    typer.Argument(
        metavar="TARGET",
        autocompletion=complete.targets,
        help="Workload by name, Python file, folder of a trace, file of a recorded step, or scenario file (TOML).",
        show_default=False,
    ),
]
Workload = Annotated[
    str | None,
    typer.Option(
        "--workload",
        "-w",
        autocompletion=complete.names("workloads"),
        help="Workload by name, Python file, folder of a trace, or file of a recorded step. Overrides the scenario "
        "file's.",
    ),
]
Named = Annotated[
    str,
    typer.Argument(metavar="WORKLOAD", help="Workload by name, Python file, or folder of a trace.", show_default=False),
]
Node = Annotated[
    str | None,
    typer.Option(
        "--node",
        "-n",
        autocompletion=complete.names("nodes"),
        help="Node preset, or a TOML file with a [node], such as machine.toml; grit-4gpu without a scenario file.",
    ),
]
AdviceNode = Annotated[
    str | None,
    typer.Option(
        "--node",
        "-n",
        "--machine",
        autocompletion=complete.names("nodes"),
        help="Node preset, or a machine file; cuda-sm90 for workloads, recordings and profiles.",
    ),
]
NodePreset = Annotated[str, typer.Option("--node", "-n", autocompletion=complete.names("nodes"), help="Node preset.")]
Prefetch = Annotated[
    str | None,
    typer.Option(
        "--prefetch",
        autocompletion=complete.names("prefetchers"),
        help="Prefetcher by name, or a Python file.",
        show_default=False,
    ),
]
Eviction = Annotated[
    str | None,
    typer.Option(
        "--eviction",
        autocompletion=complete.names("evictions"),
        help="Eviction strategy by name, or a Python file.",
        show_default=False,
    ),
]
Demotion = Annotated[
    str | None,
    typer.Option(
        "--demotion",
        autocompletion=complete.names("demotions"),
        help="Where evicted pages go: by name, or a Python file.",
        show_default=False,
    ),
]
Sharing = Annotated[
    str | None,
    typer.Option(
        "--sharing",
        autocompletion=complete.names("sharings"),
        help="How much of another's memory a job may take: by name, or a Python file.",
        show_default=False,
    ),
]
Guard = Annotated[
    str | None,
    typer.Option(
        "--guard",
        autocompletion=complete.names("guards"),
        help="Guard against thrashing by name, or a Python file.",
        show_default=False,
    ),
]
Kind = Annotated[
    KindName | None,
    typer.Option(
        "--kind",
        "-k",
        autocompletion=complete.choices("Kind"),
        help="Run the whole program, with all buffers of this kind: explicit, managed, pinned or system; or "
        "as a trace recorded it: recorded. `launches` is a run without a program around it.",
    ),
]
Executor = Annotated[
    ExecutorName | None,
    typer.Option(
        "--executor",
        autocompletion=complete.choices("Executor"),
        help="Executor of decisions: simulated (in simulated time) or instant (decisions and counts without time).",
    ),
]
Fidelity = Annotated[
    FidelityName | None,
    typer.Option(
        "--fidelity",
        autocompletion=complete.choices("Fidelity"),
        help="Fidelity of accesses to a GPU's own memory: line, or page (without cache tags).",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        autocompletion=complete.key,
        help="Change one value by dotted key; may be repeated.",
    ),
]


def scale_of(text: str | float) -> float:
    """A scale as users write it: `0.0625` or `1/16`."""
    upper, slash, lower = str(text).partition("/")
    try:
        return float(upper) / float(lower) if slash else float(upper)
    except (ValueError, ZeroDivisionError):
        raise typer.BadParameter(f"expected a number or a fraction such as 1/64, found {text}") from None


Scale = Annotated[
    float | None,
    typer.Option(
        "--scale",
        "-s",
        metavar="NUMBER",
        parser=scale_of,
        help="Footprint relative to the published one: 0.0625 or 1/16.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Memory of each GPU for the program at scale 1 (48GB), of which a smaller program gets its share; or "
        "whole percent of the footprint (60%).",
        show_default=False,
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Seed of everything random.")]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, help="Number of runs side by side; as many as cores if left out."),
]


def _limited(value: str | None) -> None:
    try:
        memory.limit_to(None if value is None else memory.amount(value))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        callback=_limited,
        help="Memory that this command may take with all runs side by side, such as 8GiB. If left out: what is free on "
        "this machine, and no limit on a Ray cluster that already runs. A run that would take more than its share is "
        "refused; one that exceeds it is stopped, and others go on.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Folder of the results; below runs/ if left out."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace finished results.")]
Replicates = Annotated[
    int,
    typer.Option(
        "--replicates",
        metavar="N",
        help="Repeat each run N times with varied GPU start times and tie-breaking; report medians and intervals.",
    ),
]
Pictures = Annotated[
    list[PictureFormatName] | None,
    typer.Option(
        "--pictures",
        autocompletion=complete.choices("PictureFormat"),
        metavar="FORMATS",
        help="Formats of pictures: png, svg, pdf, repeated or separated by commas; png if left out.",
    ),
]
PictureWidth = Annotated[
    float | None,
    typer.Option(
        "--picture-width",
        metavar="INCHES",
        help="Width of pictures; 7.1 if left out, two columns of a paper. 3.5 is one.",
        show_default=False,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Estimate time, memory and disk from short trials, and write nothing."),
]
Program = Annotated[
    list[str], typer.Argument(metavar="PROGRAM ARGS", help="The program and its arguments.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


@dataclass(frozen=True)
class Common:
    """Options of every command for the scenarios that it runs, apart from what they vary."""

    prefetch: Prefetch = None
    eviction: Eviction = None
    demotion: Demotion = None
    guard: Guard = None
    executor: Executor = None
    fidelity: Fidelity = None
    node: Node = None
    assignments: Set = None
    scale: Scale = None
    memory: Memory = None
    seed: Seed = None

    def arguments(self) -> arguments.Arguments:
        """The same in the form that Python's functions take."""
        return {
            "prefetch": self.prefetch,
            "eviction": self.eviction,
            "demotion": self.demotion,
            "guard": self.guard,
            "executor": self.executor,
            "fidelity": self.fidelity,
            "node": self.node,
            "scale": self.scale,
            "memory": self.memory,
            "seed": self.seed,
            "overrides": self.assignments,
        }


@dataclass(frozen=True)
class Changes:
    """Changes that a command makes to every scenario, whatever else it varies."""

    assignments: Set = None
    scale: Scale = None


@dataclass(frozen=True)
class Inputs(Changes):
    """Options that decide the accesses of a workload, for commands that look at it without a memory system."""

    seed: Seed = None

    def scenario(self, name: str, *, node: str | None = None, kind: KindName | None = None) -> Scenario:
        """The workload's scenario, with further changes of the command.

        Raises:
            OctavoError: something is said twice, or there is no such workload.

        """
        from octavo import api  # noqa: PLC0415 - other commands need none

        check_once(self.assignments, node=node, kind=kind, scale=self.scale, seed=self.seed)
        return api.scenario(
            workload=name, node=node, kind=kind, scale=self.scale, seed=self.seed, overrides=self.assignments
        )


@dataclass(frozen=True)
class Effort:
    """How much of this machine a command's runs may use."""

    workers: Workers = None
    memory_limit: MemoryLimit = None


@dataclass(frozen=True)
class Kept:
    """Where results go."""

    output: Output = None
    force: Force = False


@dataclass(frozen=True)
class Drawn:
    """How results are drawn."""

    pictures: Pictures = None
    picture_width: PictureWidth = None

    @property
    def formats(self) -> list[arguments.PictureFormat] | None:
        """Formats of pictures; None if the user names none."""
        return listed(self.pictures) or None


@dataclass(frozen=True)
class Said:
    """How a command says what it found."""

    as_json: Json = False
    quiet: Quiet = False

    def sink(self, terminal: Terminal | None = None) -> Sink:
        """Where a command prints: standard output, or another terminal."""
        return Sink(as_json=self.as_json, quiet=self.quiet, terminal=terminal)


COMMON, CHANGES, INPUTS, EFFORT = Common(), Changes(), Inputs(), Effort()
KEPT, DRAWN, SAID = Kept(), Drawn(), Said()
"""Defaults of the parameters of commands."""


def source(target: str | None, workload: str | None) -> tuple[Path | None, str | None]:
    """The scenario file and the workload that a target and `--workload` name.

    Raises:
        ScenarioError: neither is named, or a workload is named twice.

    """
    if target is None or is_scenario_file(target):
        if not target and workload is None:
            raise ScenarioError("nothing to run", "name a workload (see `octavo list workloads`) or a scenario file")
        return None if target is None else Path(target), workload
    if workload is not None:
        raise ScenarioError(
            f"expected one of `{target}` and --workload {workload}, found both",
            "a scenario file, which a workload may change, ends in .toml",
            code="unexpected-value",
            expected=target,
        )
    return None, target


def sources(target: str | None, workloads: list[str]) -> tuple[Path | None, list[str]]:
    """Like `source`, for several workloads: a target that is no folder may list them with commas."""
    scenario, named = source(target, ",".join(workloads) or None)
    if named is None or workloads:
        return scenario, workloads
    return None, [named] if os.path.exists(named) else listed([named])  # noqa: PTH110 - a name may be too long for a path


_KEYS = {
    "workload": ("workload", "workload.name"),
    "scale": ("workload.scale",),
    "seed": ("seed",),
    "kind": ("program.kind",),
    "executor": ("executor", "executor.kind"),
    "fidelity": ("node.fidelity",),
    "node": ("node.preset",),
    **{
        name: (f"memory.{name}", f"memory.{name}.name")
        for name in ("placement", "prefetch", "eviction", "demotion", "sharing", "guard")
    },
}
"""The keys that options change, as `--set` names them."""


def check_once(assignments: list[str] | None, **given: object) -> None:
    """Refuse keys that both an option and `--set` change: one of the two would be ignored.

    Raises:
        ScenarioError: something is said twice.

    """
    for assignment in assignments or []:
        keys = set(conflicts.keys_of(assignment))
        for name, value in given.items():
            both = sorted(keys.intersection(_KEYS.get(name, ())))
            if value is not None and both:
                raise ScenarioError(f"--{name} and --set {assignment} both set `{both[0]}`", "leave one of them out")


def overrides(
    assignments: list[str] | None,
    scale: float | None = None,
    seed: int | None = None,
    kind: str | None = None,
    fidelity: str | None = None,
) -> list[str]:
    """All changes as `key=value`.

    Raises:
        ScenarioError: an option and `--set` set the same.

    """
    check_once(assignments, scale=scale, seed=seed, kind=kind, fidelity=fidelity)
    changes = list(assignments or [])
    if fidelity is not None:
        changes.append(f"node.fidelity={fidelity}")
    if kind is not None:
        changes.append(f"program.kind={kind}")
    if scale is not None:
        changes.append(f"workload.scale={scale}")
    if seed is not None:
        changes.append(f"seed={seed}")
    return changes


def listed(values: list[Name] | None) -> list[Name]:
    """Names that were given one by one or separated by commas."""
    names = [cast("Name", name.strip()) for value in values or [] for name in value.split(",")]
    if any(not name for name in names):
        raise ScenarioError(f"an empty name in `{','.join(values or [])}`")
    return names


def one_of(choices: Iterable[str]) -> str:
    """The names of an option's choices for its help; a column of their own would be too narrow for them."""
    *first, last = choices
    return f"{', '.join(first)} or {last}" if first else last
