"""`octavo node`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli import complete, options
from octavo.cli.sink import Sink
from octavo.measurements.calibrate.quantities import short

if TYPE_CHECKING:
    from octavo.gates import Gate, NodeCheck

CHECK_EXAMPLES = options.examples(
    "octavo node check b200-8",
    "octavo node check machine.toml --json",
    "octavo node check cuda-sm90 --set node.dram.banks=79",
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="NODE",
        autocompletion=complete.names("nodes"),
        help="Node preset, or a TOML file with a [node], such as machine.toml.",
        show_default=False,
    ),
]

app = typer.Typer(help="Check nodes against what their own values promise.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command(epilog=CHECK_EXAMPLES)
def check(
    node: Name, assignments: options.Set = None, as_json: options.Json = False, quiet: options.Quiet = False
) -> None:
    """Run small programs that should reach what a node promises: bandwidth, arithmetic, latencies, copies, translation.

    A row passes if what was simulated is near what the node's keys add up to. The command fails if a row does not pass,
    unless the node is a publication's and does not reach it for a known reason.
    """
    from octavo import gates  # noqa: PLC0415 - slow to import

    sink = Sink(as_json=as_json, quiet=quiet)
    found = gates.check(node, assignments or ())
    sink.document(found.to_dict())
    columns = ["quantity", "node.", "expected", "simulated", "ratio", "within", ""]
    sink.table(f"What {found.node} promises and reaches", columns, [_row(gate) for gate in found.gates])
    for gate in found.gates:
        if gate.reason:
            sink.tell(f"Note on {gate.quantity}: {gate.reason}.")
    sink.tell(_sentence(found))
    if not found.passed:
        raise typer.Exit(1)


def _row(gate: Gate) -> list[str]:
    least, most = gate.within
    within = f"{least:.2f}–{most:.2f}" if least else f"≤ {most:.2f}"
    values = [short(value, gate.unit) for value in (gate.expected, gate.simulated)]
    verdict = "pass" if gate.passed else "known" if gate.reason else "FAIL"
    return [gate.quantity, gate.key, *values, f"{gate.ratio:.3f}", within, verdict]


def _sentence(found: NodeCheck) -> str:
    failed = [gate.quantity for gate in found.gates if not gate.passed and not gate.reason]
    if not failed:
        known = sum(not gate.passed for gate in found.gates)
        beside = f", or do not for the {known} known reason{'s' * (known > 1)}" if known else ""
        return f"All {len(found.gates)} gates pass{beside}. Driver: {found.driver}."
    return f"{len(failed)} of {len(found.gates)} gates fail: {', '.join(failed)}. Driver: {found.driver}."
