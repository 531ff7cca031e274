"""The arguments that change a scenario, the same wherever one is taken."""

from __future__ import annotations

import functools
import inspect
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from octavo.policies.names import Strategy
    from octavo.scenarios.config import Config

_Function = TypeVar("_Function", bound="Callable[..., Any]")


class Arguments(TypedDict, total=False):
    """What `octavo.scenario`, `octavo.run` and `octavo.compare` take besides; they win over a scenario's own values."""

    workload: str | Path | None
    """By name, or the folder of a trace."""
    jobs: Sequence[Mapping[str, object]] | None
    """Programs that run beside one another, each a table as `[[job]]` in a file, such as `{"name": "front",
    "workload": "fir", "gpus": [0]}`."""
    placement: Strategy | None
    """By name, as a Python file, or as a class of `octavo.policies`."""
    prefetch: Strategy | None
    """As `placement`."""
    eviction: Strategy | None
    """As `placement`."""
    demotion: Strategy | None
    """As `placement`."""
    sharing: Strategy | None
    """How much of another's memory a job may take: as `placement`."""
    guard: Strategy | None
    """As `placement`."""
    kind: str | None
    """What runs: `launches`, or a whole program whose buffers are `explicit`, `managed`, `pinned` or `system` memory,
    or as a trace `recorded` them."""
    executor: str | None
    """`simulated`, or `instant` for decisions and counts without time."""
    fidelity: str | None
    """`line`, or `page` to settle accesses to a GPU's own memory without cache tags."""
    node: str | Path | None
    """A preset, or a TOML file with a `[node]`, such as a machine file."""
    scale: float | None
    """Footprint relative to the published one."""
    seed: int | None
    """Seed of everything random."""
    overrides: Config | Mapping[str, object] | Sequence[str] | None
    """Further values: as an `octavo.Config`, by dotted key, such as `{"node.gpu_link.bandwidth": "600GB/s"}`, or as the
    command line takes them, such as `["node.gpu_link.bandwidth=600GB/s"]`."""


def spelled_out(function: _Function) -> _Function:
    """A function of `**arguments` that shows them one by one, and refuses any other name."""
    before = inspect.signature(function)
    own = [each for each in before.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    further = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in inspect.get_annotations(Arguments).items()
    ]
    signature = before.replace(parameters=[*own, *further])

    @functools.wraps(function)
    def checked(*positional: object, **named: object) -> object:
        for name in named:
            if name not in signature.parameters:
                near = get_close_matches(name, signature.parameters, 1)
                hint = f"; did you mean '{near[0]}'?" if near else ""
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'{hint}")
        return function(*positional, **named)

    checked.__signature__ = signature  # type: ignore[attr-defined]  # what `inspect.signature` looks for
    return cast("_Function", checked)
