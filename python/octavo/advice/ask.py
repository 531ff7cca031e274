"""`octavo.advise`: from a program or a profile to advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from octavo import _core, given
from octavo.advice import of_profile, of_program, recorded
from octavo.advice.facts import PLACEMENTS
from octavo.advice.order import Order
from octavo.arguments import spelled_out
from octavo.errors import AdviceError
from octavo.plain import shortened
from octavo.runs.held import is_imported
from octavo.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Unpack

    from octavo.advice.answer import Advice
    from octavo.advice.facts import Placement
    from octavo.arguments import Arguments
    from octavo.runs.execute import Progress

Readings: TypeAlias = Literal["sound", "published"]


@spelled_out
def advise(  # noqa: PLR0913 - one for each thing that can be asked for
    source: str | Path | Scenario | None = None,
    *,
    budget: int | str | None = None,
    placements: Sequence[Placement] | Placement = PLACEMENTS,
    readings: Readings = "sound",
    verify: bool = False,
    exhaustive: bool = False,
    symmetry: bool = False,
    bounds: bool = False,
    on: str | None = None,
    quick: bool = False,
    by_phase: bool = False,
    faults: str | Path | None = None,
    output: str | Path | None = None,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | bool | None = None,
    **arguments: Unpack[Arguments],
) -> Advice:
    """Advise where each buffer of a program should lie.

    Without a scenario, the node is `cuda-sm90`, and managed memory is as the production driver has it.

    Args:
        source: a workload by name, a scenario (or its TOML file), the folder of a trace, of a run or of an imported
            profile, a recording (`docs/runtime.md`), or the folder of `octavo profile --buffers`.
        budget: device memory that may be used, bytes or a size such as `40GB`; all that the node has if left out.
        placements: what may be advised: `device`, `managed`, `pinned`.
        readings: how the model's equations are read: `sound`, or `published` as printed.
        verify: also simulate the present and the advised placement as whole programs.
        exhaustive: also simulate every placement of every buffer.
        symmetry: with `exhaustive`, of placements that only swap like buffers, run one.
        bounds: with `exhaustive`, give up runs as soon as they are known to take longer than the fastest so far.
        on: with `exhaustive`, where its runs are: `local`, `ray`, or the address of a cluster, as of `octavo.sweep`.
        quick: skip the runs with managed and with pinned memory, which tell what crosses the link. Not for profiles,
            which have no such runs.
        by_phase: also advise on prefetches between phases of kernels and of the host, for managed memory.
        faults: for a recording, the folder of an imported profile of the same process, whose faults are assigned to
            call sites.
        output: folder of the advice, its picture and its runs; a temporary one if left out.
        workers: runs side by side; as many as there are cores if left out.
        force: replace what `output` holds.
        watch: called about ten times a second with the progress of the runs; `True` shows it.
        **arguments: see `octavo.arguments.Arguments`.

    Raises:
        AdviceError: there is no answer: a profile has no sizes, buffers alias, no placement is left for a buffer, or
            buffers that may lie nowhere else exceed the budget. Or an argument does not apply to this source.
        OctavoError: the source cannot be used or simulated, or the folder cannot be written.

    Examples:
        >>> advice = octavo.advise("vectoradd", scale=1 / 256, quick=True)
        >>> set(advice.placements.values()) <= {"device", "managed", "pinned"}
        True

    """
    order = Order(
        budget=_bytes(budget),
        placements=tuple(given.names("placements", placements) or ()),
        readings=given.choice("readings", readings, get_args(Readings)),
        verify=verify,
        exhaustive=exhaustive,
        symmetry=symmetry,
        bounds=bounds,
        on=on,
        quick=quick,
        by_phase=by_phase,
        faults=None if faults is None else given.path("faults", faults),
        workers=given.workers(workers),
        force=force,
    )
    path = None if source is None or isinstance(source, Scenario) else _meant(given.path("source", source))
    order.check(source if path is None else path)
    place = None if output is None else given.path("output", output)
    if path is not None and recorded.is_recording(path):
        return of_profile.recording(path, arguments, order, place)
    if path is not None and is_imported(path):
        return of_profile.imported(path, arguments, order, place)
    return of_program.advice(source, arguments, order, place, watch)


def _bytes(budget: int | str | None) -> int | None:
    if not isinstance(budget, str):
        return None if budget is None else given.whole("budget", budget, least=0)
    try:
        return _core.bytes_of(budget)
    except ValueError:
        raise AdviceError(f"--budget: expected a size such as 40GB or 512MiB, found {shortened(budget)}") from None


def _meant(path: Path) -> Path:
    """The recording in the folder of a program that was sampled and recorded at once; any other path as it is."""
    return (recorded.of_sampled(path) if is_imported(path) else None) or path
