"""The arguments that change a scenario, the same in every function."""

from __future__ import annotations

import functools
import inspect
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar, cast

from octavo.errors import OctavoError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from octavo.policies.names import Strategy
    from octavo.scenarios.config import Config

_Function = TypeVar("_Function", bound="Callable[..., Any]")

Kind: TypeAlias = Literal["launches", "explicit", "managed", "pinned", "system", "recorded"]
Executor: TypeAlias = Literal["simulated", "instant"]
Fidelity: TypeAlias = Literal["line", "page"]
PictureFormat: TypeAlias = Literal["png", "svg", "pdf"]

PLACEHOLDER = "**arguments: see `octavo.arguments.Arguments`."
"""The line in docstrings that `help` replaces by the list of all arguments."""


class Arguments(TypedDict, total=False):
    """Further arguments of `octavo.scenario`, `octavo.run` and `octavo.compare`; they override a scenario's own values.

    Attributes:
        workload: workload by name, Python file of one, or folder of a trace.
        jobs: programs that run beside one another, each a table as `[[job]]` in a file: `{"workload": "fir"}`.
        placement: placement strategy by name, as a Python file, or as a class of `octavo.policies`.
        prefetch: prefetcher; as `placement`.
        eviction: eviction strategy; as `placement`.
        demotion: where evicted pages go; as `placement`.
        sharing: how much of another's memory a job may take; as `placement`.
        guard: guard against thrashing; as `placement`.
        kind: `launches` alone, or the whole program with buffers that are `explicit`, `managed`, `pinned`, `system`
            or as a trace `recorded` them.
        executor: `simulated`, or `instant` for decisions and counts without time.
        fidelity: `line`, or `page` for accesses to a GPU's own memory without cache tags.
        node: node preset, or a TOML file with a `[node]`, such as a machine file.
        scale: footprint relative to the published one, such as `1 / 16`.
        memory: memory of each GPU for the program at scale 1, such as `48GB`; a smaller program gets its share. Or
            percent of the footprint, such as `60%`. If left out, what the node has, which shrinks in the same way.
        seed: seed of everything random.
        overrides: further values: an `octavo.Config`, values by dotted key, or a list of `KEY=VALUE`.

    """

    workload: str | Path | None
    jobs: Sequence[Mapping[str, object]] | None
    placement: Strategy | None
    prefetch: Strategy | None
    eviction: Strategy | None
    demotion: Strategy | None
    sharing: Strategy | None
    guard: Strategy | None
    kind: Kind | None
    executor: Executor | None
    fidelity: Fidelity | None
    node: str | Path | None
    scale: float | None
    memory: int | str | None
    seed: int | None
    overrides: Config | Mapping[str, object] | Sequence[str] | None


def named(function: _Function) -> _Function:
    """A function whose errors name the arguments that it got."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def naming(*positional: object, **keywords: object) -> object:
        try:
            return function(*positional, **keywords)
        except OctavoError as error:
            given = signature.bind_partial(*positional, **keywords).arguments
            given |= given.pop("arguments", {})
            error.typed = frozenset(name for name, value in given.items() if value is not None)
            raise

    return cast("_Function", naming)


def spelled_out(function: _Function) -> _Function:
    """A function of `**arguments` that shows them one by one, refuses other names, and names them in errors."""
    before = inspect.signature(function)
    own = [each for each in before.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    further = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation.__forward_arg__)
        for name, annotation in inspect.get_annotations(Arguments).items()
    ]
    signature = before.replace(parameters=[*own, *further])
    naming = named(function)

    @functools.wraps(function)
    def checked(*positional: object, **keywords: object) -> object:
        for name in keywords:
            if name not in signature.parameters:
                near = get_close_matches(name, signature.parameters, 1)
                hint = f"; did you mean '{near[0]}'?" if near else ""
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'{hint}")
        return naming(*positional, **keywords)

    checked.__signature__ = signature  # type: ignore[attr-defined]  # what `inspect.signature` looks for
    checked.__doc__ = _with_each(function.__doc__)
    return cast("_Function", checked)


def _with_each(text: str | None) -> str | None:
    """A docstring with a line for each argument; nothing if Python runs without docstrings."""
    if text is None or Arguments.__doc__ is None:
        return text
    listed = Arguments.__doc__.partition("Attributes:\n")[2].strip()
    return text.replace(PLACEHOLDER, listed)
