"""`octavo workload`."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo import api
from octavo.cli import complete, footprint, options, trust
from octavo.cli.requests import Group
from octavo.cli.terminal import Terminal

if TYPE_CHECKING:
    from octavo.cli.sink import Sink
    from octavo.scenarios.scenario import Scenario

EXAMPLES = options.examples(
    "octavo workload inspect bfs-shoc --scale 0.0625",
    "octavo workload inspect fir.trace",
    "octavo workload inspect stencil2d --node grit-8gpu --set memory.page_size=2MiB --json",
)

PROGRAM_EXAMPLES = options.examples(
    "octavo workload program fir --scale 0.0625",
    "octavo workload program bfs-shoc --kind explicit --spread split",
    "octavo workload program stencil2d --kind pinned --threads 8 --json",
)


CIRCUIT_EXAMPLES = options.examples(
    "octavo workload circuit --qubits 4 --seed 3",
    "octavo workload circuit --qubits 10 --depth 2 --json",
)


RESULT_EXAMPLES = options.examples(
    "octavo workload result pagerank --scale 0.0001",
    "octavo workload result wcc --set workload.graph=mine.mtx --json",
)


SERVED_EXAMPLES = options.examples(
    "octavo workload served runs/llm",
    "octavo workload served runs/llm --json",
)


_GROUPS = ("labels", "communities")
"""Results that say which group a vertex belongs to."""


RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of a run, a comparison or a sweep.", show_default=False)
]


class Kind(Enum):
    """Kinds of memory for the buffers of a whole program."""

    explicit = "explicit"
    managed = "managed"
    system = "system"
    pinned = "pinned"
    recorded = "recorded"


class Spread(Enum):
    """How the buffers of an explicit program lie on several GPUs."""

    interleaved = "interleaved"
    split = "split"


@dataclass(frozen=True)
class Buffers:
    """Where a whole program has its buffers."""

    kind: Annotated[
        Kind,
        typer.Option(
            "--kind",
            "-k",
            metavar="NAME",
            help=f"Memory of the buffers: {options.one_of(Kind.__members__)} (what a trace holds).",
        ),
    ] = Kind.managed
    spread: Annotated[
        Spread,
        typer.Option(
            "--spread",
            metavar="NAME",
            help=f"How explicit buffers lie on several GPUs: {options.one_of(Spread.__members__)}.",
        ),
    ] = Spread.interleaved
    threads: Annotated[int, typer.Option("--threads", metavar="N", min=1, help="Threads of the host.")] = 1


_BUFFERS = Buffers()

app = Group(help="Inspect workloads without a memory system.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command(epilog=EXAMPLES)
def inspect(
    name: options.Named,
    node: Annotated[
        str | None,
        typer.Option(
            "--node",
            "-n",
            autocompletion=complete.names("nodes"),
            help="Node preset, or a TOML file with a [node], such as machine.toml; grit-4gpu if left out.",
        ),
    ] = None,
    inputs: options.Inputs = options.INPUTS,
    said: options.Said = options.SAID,
) -> None:
    """Footprint, accesses, reads and writes, and which GPUs share which pages."""
    sink = said.sink()
    scenario = inputs.scenario(name, node=node)
    found = _inspect(scenario)
    sink.document(found)
    _show(sink, scenario.label, found)


@app.command(epilog=PROGRAM_EXAMPLES)
def program(
    name: options.Named,
    having: Buffers = _BUFFERS,
    inputs: options.Inputs = options.INPUTS,
    said: options.Said = options.SAID,
) -> None:
    """Print a workload as a whole program: allocations, host phases, copies, launches and frees."""
    sink, kind = said.sink(), having.kind
    found = api.workload_program(inputs.scenario(name), kind.value, spread=having.spread.value, threads=having.threads)
    sink.document(found)
    buffers = [[buffer["name"], _size(buffer["bytes"]), buffer["kind"]] for buffer in found["buffers"]]
    sink.table(f"{name}, {kind.value}: buffers", ["buffer", "size", "kind"], buffers)
    actions = [_action(number, action) for number, action in enumerate(found["actions"])]
    sink.table("actions", ["", "action", "what", "buffers", "size", "after"], actions)


@app.command(epilog=RESULT_EXAMPLES)
def result(
    name: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD",
            help="A program that computes, or one that serves.",
            show_default=False,
        ),
    ],
    inputs: options.Inputs = options.INPUTS,
    said: options.Said = options.SAID,
) -> None:
    """Print the largest values that a program computes. As JSON: all of them, and its inputs."""
    sink = said.sink()
    found = api.workload_result(inputs.scenario(name))
    sink.document(found)
    if found["result"] == "request":
        _show_requests(sink, name, found)
    elif found["result"] in _GROUPS:
        _show_groups(sink, name, found["result"], found[found["result"]])
    else:
        of = "vertices" if "offsets" in found else "values"
        _show_values(sink, f"{name}: largest {found['result']}", of, found[found["result"]])


def _show_requests(sink: Sink, name: str, found: dict[str, Any]) -> None:
    """How many tokens each step makes, for the first steps; and the first requests of a file."""
    steps = Counter(int(step) for step in found["made"])
    first = Counter(int(step) for step, before in zip(found["made"], found["before"], strict=True) if before is None)
    rows = [[str(step), str(count), str(first[step])] for step, count in sorted(steps.items())[:10]]
    served, known = len(set(found["request"])), len(found.get("arrives_s", ()))
    title = f"{name}: {len(found['made']):,} tokens of {served:,} requests, {len(steps)} steps"
    sink.table(title, ["step", "tokens", "without one before"], rows)
    if known:
        sink.table("requests of the file", ["request", "arrives", "prompt", "reply", "made"], _of_file(found))
    if served < known:
        sink.tell(
            f"Of {known:,} requests, {known - served:,} get no token in these steps: more workload.steps reach them"
        )


def _of_file(found: dict[str, Any]) -> list[list[str]]:
    """When each of the first requests arrives, its tokens, and how many of its reply are made."""
    made = Counter(int(number) for number in found["request"])
    requests = zip(*(found[name] for name in ("arrives_s", "prompt_tokens", "reply_tokens")), strict=True)
    return [
        [str(number), f"{arrives:.3f} s", f"{prompt:,.0f}", f"{reply:,.0f}", f"{made[number]:,}"]
        for number, (arrives, prompt, reply) in enumerate(islice(requests, 10))
    ]


@app.command(epilog=SERVED_EXAMPLES)
def served(
    run: RunFolder,
    said: options.Said = options.SAID,
) -> None:
    """Print how long requests waited for their tokens, in a run of `llm-decode` or `moe-decode`."""
    from octavo.explain.serving import latencies, shrunk  # noqa: PLC0415 - as above
    from octavo.explain.targets import named  # noqa: PLC0415 - polars takes long to import
    from octavo.runs.pressure import pressure  # noqa: PLC0415 - as above

    sink = said.sink()
    results = named([run])
    documents = {
        name: {**latencies(one), "scale": (of := pressure(one)).scale, "pressure": of.to_dict()}
        for name, one in results.items()
    }
    sink.document(documents if len(documents) > 1 else next(iter(documents.values())))
    for name, found in documents.items():
        said_of = f"{name}: " if len(documents) > 1 else ""
        _show_served(sink, said_of, found, shrunk(results[name].scenario.scales))
    footprint.tell_all(sink, results.values())
    trust.tell(sink, results.values())


def _show_served(sink: Sink, name: str, found: dict[str, Any], of: str) -> None:
    names = {"first": "time to first token", "next": "time between tokens"}
    rows = [[called, str(found[each]["count"]), *_waits(found[each])] for each, called in names.items()]
    title = f"{name}{found['tokens']:,} tokens, {found['tokens_per_s']:,.0f} a second{of}"
    sink.table(title, ["", "tokens", "half wait at most", "99 of 100 at most"], rows)


def _waits(found: dict[str, Any]) -> list[str]:
    waits = [found[name] for name in ("p50_ms", "p99_ms")]
    return ["–" if wait is None else f"{wait:.3f} ms" for wait in waits]


def _show_groups(sink: Sink, name: str, groups: str, of: list[int]) -> None:
    """The largest groups of vertices."""
    sizes = Counter(of)
    rows = [
        [f"{group:g}", f"{size:,}"] for group, size in sorted(sizes.items(), key=lambda one: (-one[1], one[0]))[:10]
    ]
    sink.table(f"{name}: largest of {len(sizes):,} {groups} of {len(of):,} vertices", [groups, "vertices"], rows)


def _show_values(sink: Sink, title: str, of: str, values: list[float | None]) -> None:
    """The largest values, of vertices or of anything else."""
    reached = [(value, number) for number, value in enumerate(values) if value is not None]
    rows = [[str(number), f"{value:g}"] for value, number in sorted(reached, key=lambda one: (-one[0], one[1]))[:10]]
    sink.table(f"{title} of {len(values):,} {of}, {len(reached):,} of them reached", ["number", "value"], rows)


@app.command(epilog=CIRCUIT_EXAMPLES)
def circuit(
    qubits: Annotated[int, typer.Option("--qubits", "-q", metavar="N", min=2, max=20, help="Qubits.")] = 4,
    depth: Annotated[
        int | None, typer.Option("--depth", metavar="N", min=1, max=1000, help="Layers; as many as qubits if left out.")
    ] = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Print a circuit of `quantum-volume`: the qubits of its gates; as JSON their matrices and the amplitudes, too."""
    sink = options.Said(as_json=as_json).sink()
    found = api.quantum_volume(qubits, depth=depth, seed=seed or 0)
    sink.document(found)
    layers = [[gate["qubits"] for gate in found["gates"] if gate["layer"] == layer] for layer in range(found["depth"])]
    rows = [[str(layer), ", ".join(f"{a}-{b}" for a, b in pairs)] for layer, pairs in enumerate(layers)]
    sink.table(f"quantum volume of {qubits} qubits", ["layer", "qubits of each gate"], rows)


def _action(number: int, action: dict[str, Any]) -> list[str]:
    buffers = (" to " if action["action"] == "copy" else ", ").join(action["buffers"])
    size = _size(action["bytes"]) if action["bytes"] else ""
    after = ", ".join(str(before) for before in action["after"])
    return [str(number), action["action"], action.get("what", ""), buffers, size, after]


def _size(count: int) -> str:
    return _mebibytes(count) if count >= 1 << 20 else f"{count:,} B"


def _inspect(scenario: Scenario) -> dict[str, Any]:
    """Inspect in a second thread, so that Ctrl-C takes effect at once."""
    found: list[dict[str, Any]] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            found.append(api.inspect_workload(scenario))
        except BaseException as error:
            failed.append(error)

    worker = threading.Thread(target=work, daemon=True)
    with Terminal(errors=True).status("streaming the workload"):
        worker.start()
        while worker.is_alive():
            worker.join(0.1)
    if failed:
        raise failed[0]
    return found[0]


def _show(sink: Sink, name: str, found: dict[str, Any]) -> None:
    setting, instructions = found["setting"], found["instructions"]
    rows = [
        ("footprint", _mebibytes(found["footprint_bytes"])),
        *((key.replace("_", " "), f"{found[key]:,}") for key in ("launches", "work_groups", "wavefronts")),
        *((f"{_instruction(key)} instructions", f"{count:,}") for key, count in instructions.items()),
    ]
    sink.table(f"{name} on {setting['gpus']} GPUs", ["measure", "value"], rows)
    traffics = [(buffer["name"], buffer["bytes"], buffer) for buffer in found["buffers"]]
    traffics.append(("all", found["footprint_bytes"], found["total"]))
    sink.table("traffic", ["buffer", "size", "line accesses", "stores"], [_traffic(*traffic) for traffic in traffics])
    counts = [f"by {count}" for count in range(1, setting["gpus"] + 1)]
    columns = ["buffer", "shared", "shared and written", "accesses to shared", *counts]
    sink.table("pages by how many GPUs access them", columns, [_sharing(name, found) for name, _, found in traffics])


def _instruction(key: str) -> str:
    """The singular of a class of instructions: `branches` contains branch instructions."""
    singular = "branch" if key == "branches" else key.removesuffix("s")
    return singular.replace("_", " ")


def _traffic(name: str, size: int, traffic: dict[str, Any]) -> list[str]:
    return [name, _mebibytes(size), f"{traffic['accesses']:,}", f"{traffic['store_share']:.0%}"]


def _sharing(name: str, traffic: dict[str, Any]) -> list[str]:
    pages = max(1, sum(group["pages"] for group in traffic["by_gpus"]))
    accesses = max(1, traffic["accesses"])
    return [
        name,
        f"{traffic['shared']['pages'] / pages:.0%}",
        f"{traffic['shared_read_write']['pages'] / pages:.0%}",
        f"{traffic['shared']['accesses'] / accesses:.0%}",
        *(f"{group['pages'] / pages:.0%}" for group in traffic["by_gpus"]),
    ]


def _mebibytes(count: int) -> str:
    return f"{count / (1 << 20):.2f} MiB"
