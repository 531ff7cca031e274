"""Scenarios: one TOML file, or the same as arguments, with everything spelled out."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo import html
from octavo.errors import ScenarioError, of_engine
from octavo.files.text import read_text
from octavo.policies.names import strategy_name
from octavo.scenarios import catalogue, memory_system, nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

DEFAULT_NODE = "grit-4gpu"
_MOST_LEVELS = 64
"""The most levels of nested tables; our choice, far more than scenarios have."""
LAUNCHES = "launches"
"""The kind of a run without a program around its launches."""
_STRATEGIES = ("placement", "prefetch", "eviction", "demotion", "sharing", "guard")
SIMULATED = "simulated"
"""The executor of a run in simulated time."""

BY_LINE = "line"
"""The fidelity of a run that does not choose one."""


@dataclass(frozen=True, repr=False)
class Scenario:
    """A scenario in which every value is spelled out; equal texts are equal scenarios."""

    toml: str

    def __repr__(self) -> str:
        try:
            return f"Scenario({self.label} under {self.system}, {len(self.toml.splitlines())} lines of TOML)"
        except ScenarioError:
            return "Scenario(of which the TOML cannot be used)"

    def _repr_html_(self) -> str:
        try:
            return html.table(f"{self.label} under {self.system}", ["", ""], _facts(self).items())
        except ScenarioError as error:
            return html.paragraph(str(error))

    @property
    def values(self) -> dict[str, Any]:
        """The scenario as nested dictionaries."""
        values: dict[str, Any] = json.loads(_JSON.get(self.toml) or _stored(self.toml))
        return values

    @property
    def workload(self) -> str:
        """Name of the workload, a trace's folder, a Python file and class, or the programs of all jobs (`hs+gups`)."""
        return "+".join(self._programs)

    @property
    def label(self) -> str:
        """The workload as a name for people and folders."""
        return "+".join(_short(program) for program in self._programs)

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """The jobs of the resolved scenario; empty for a single program."""
        return list(self.values.get("job", []))

    @property
    def own_strategies(self) -> dict[str, str]:
        """The strategies of jobs that have their own, by name of the job."""
        own = {job["name"]: [choice["name"] for choice in job.get("memory", {}).values()] for job in self.jobs}
        return {name: ", ".join(strategies) for name, strategies in own.items() if strategies}

    @property
    def traces(self) -> list[Path]:
        """Folders of the recorded traces that run."""
        return [Path(path) for program in self._workloads if isinstance(path := program.get("path"), str)]

    @property
    def python_strategies(self) -> list[tuple[str, str]]:
        """Names and digests of the strategies that are classes of Python."""
        values = self.values
        memories = [values["memory"], *(job.get("memory", {}) for job in values.get("job", ()))]
        return sorted({found for memory in memories for found in _python_strategies(memory)})

    @property
    def _workloads(self) -> list[dict[str, Any]]:
        values = self.values
        return [job["workload"] for job in values["job"]] if "job" in values else [values["workload"]]

    @property
    def _programs(self) -> list[str]:
        return [_program_name(program) for program in self._workloads]

    @property
    def scales(self) -> set[float]:
        """The scales of the programs; recorded traces, and programs whose size an option gives, have scale 1."""
        sized = catalogue.sized_by_scale()
        return {float(program.get("scale", 1)) if _by_scale(program, sized) else 1.0 for program in self._workloads}

    @property
    def placement(self) -> str:
        """Name of the placement strategy."""
        return str(self.values["memory"]["placement"]["name"])

    @property
    def kind(self) -> str:
        """What runs: `launches`, or the kind of the whole program; for jobs that differ, each (`explicit+managed`)."""
        values = self.values
        kinds = [str(each.get("program", {}).get("kind", LAUNCHES)) for each in values.get("job", [values])]
        return kinds[0] if len(set(kinds)) == 1 else "+".join(kinds)

    @property
    def executor(self) -> str:
        """The executor of decisions: `simulated`, or `instant` without time."""
        return str(self.values.get("executor", {}).get("kind", SIMULATED))

    @property
    def fidelity(self) -> str:
        """How closely accesses to a GPU's own memory are followed: `line` or `page`."""
        return str(self.values["node"].get("fidelity", BY_LINE))

    @property
    def system(self) -> str:
        """The memory system, after everything that differs from the default executor, fidelity and kind of program."""
        usual = ((self.executor, SIMULATED), (self.fidelity, BY_LINE), (self.kind, LAUNCHES))
        return " ".join([*(found for found, default in usual if found != default), self.memory_system])

    @property
    def memory_system(self) -> str:
        """The memory preset with the same strategies; otherwise the placement, and the preset of the others."""
        return memory_system.name(self.values["memory"])

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that tell scenarios apart."""
        return digest([self])


def _facts(scenario: Scenario) -> dict[str, str]:
    """The scenario as a notebook shows it."""
    values = scenario.values
    node, memory = values["node"], values["memory"]
    programs = {job["name"]: _program_name(job["workload"]) for job in scenario.jobs}
    scales = {str(program["scale"]) for program in scenario._workloads if "scale" in program}
    return {
        **({"jobs": ", ".join(f"{name} ({program})" for name, program in programs.items())} if programs else {}),
        "scale": ", ".join(sorted(scales)),
        "GPUs": str(node["gpus"]),
        "page size": str(memory["page_size"]),
        **{kind: memory[kind]["name"] for kind in _STRATEGIES if kind in memory},
        "seed": str(values["seed"]),
        "lines of TOML": str(len(scenario.toml.splitlines())),
    }


@dataclass(frozen=True)
class Recipe:
    """A scenario as it was written: TOML text and overrides (`key=value`), which win."""

    text: str
    name: str
    """The name of the text in messages."""
    overrides: tuple[str, ...] = ()

    @classmethod
    def from_file(cls, path: str | Path) -> Recipe:
        """Read a TOML file.

        Raises:
            ScenarioError: it cannot be read.

        """
        try:
            return cls(read_text(Path(path)), str(path))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise ScenarioError(f"cannot read scenario {path}: {reason}", code="unreadable", file=path) from error

    @classmethod
    def from_names(cls, workload: str, placement: str | None = None, node: str = DEFAULT_NODE) -> Recipe:
        """A workload, a placement and a node (a preset, or a file with one) by name.

        Without a placement, the memory system is the node's, or on-touch on nodes that name none.
        """
        placed = () if placement is None else (f"memory.placement={placement}",)
        return cls("", "arguments", (f"workload={workload}", *placed, f"node.preset={node}"))

    @classmethod
    def from_jobs(cls, jobs: Sequence[Mapping[str, object]], node: str = DEFAULT_NODE) -> Recipe:
        """Jobs, each a table as in a scenario file, on a node, with its memory system or on-touch."""
        return cls("", "arguments", (*overrides_of({"job": jobs}), f"node.preset={node}"))

    def with_overrides(self, overrides: Iterable[str]) -> Recipe:
        """The same with further overrides, which win over earlier ones."""
        return Recipe(self.text, self.name, (*self.overrides, *overrides))

    def resolve(self) -> Scenario:
        """Spell everything out.

        Raises:
            ScenarioError: a value cannot be used; the message says where it was written and what was expected.

        """
        toml, spelled_out = _resolve(self.text, self.name, self.overrides)
        _remember(toml, spelled_out)
        return Scenario(toml)


_JSON: dict[str, str] = {}
"""The values of scenarios, by their text: each is resolved once, however many objects share it."""
_MOST_REMEMBERED = 1024
"""The largest scenario; our choice, 10 MB of text."""


def _remember(toml: str, spelled_out: str) -> None:
    if len(_JSON) >= _MOST_REMEMBERED:
        _JSON.clear()
    _JSON[toml] = spelled_out


def _stored(toml: str) -> str:
    try:
        _, spelled_out = _core.resolve(toml, "scenario.toml", [])
    except _core.ScenarioError as error:
        raise of_engine(error, ScenarioError) from None
    _remember(toml, spelled_out)
    return spelled_out


def is_scenario_file(target: str | Path) -> bool:
    """Whether a target is a scenario file: it ends in `.toml`, or is a file that is no recorded step and no Python.

    Any other text names a workload, whatever files exist, or is the folder of a trace.
    """
    path = Path(target)
    if path.suffix in (".toml", ".step", ".py"):
        return path.suffix == ".toml"
    # A name that is too long for a path is none; `Path` would raise.
    is_file = os.path.exists(path) and not os.path.isdir(path)  # noqa: PTH110, PTH112
    return is_file and str(target) not in catalogue.names("workloads")


def _python_strategies(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and digests of classes anywhere in a table."""
    if isinstance(table.get("digest"), str):
        yield str(table["name"]), table["digest"]
    for value in table.values():
        if isinstance(value, Mapping):
            yield from _python_strategies(value)


def value_at(values: object, key: str) -> object:
    """The value at a dotted key of nested tables; None if there is none."""
    for part in key.split("."):
        values = values.get(part) if isinstance(values, dict) else None
    return values


def _by_scale(program: Mapping[str, Any], sized: Mapping[str, set[str]]) -> bool:
    """Whether the scale of a program determines its size: none of the options that follow from it has a value."""
    return all(program.get(option) is None for option in sized.get(program["name"], ()))


def _short(program: str) -> str:
    """A workload as a name: of a Python file its own, or the class that was chosen in it."""
    file, _, own = program.partition(".py:")
    return own or Path(file).name.removesuffix(".trace").removesuffix(".py")


def _program_name(program: Mapping[str, Any]) -> str:
    return trace_name(program["path"]) if program["name"] == "trace" else str(program["name"])


def trace_name(workload: str | Path) -> str:
    """The folder of a trace, in a form that is no name of a kernel."""
    name = str(workload)
    return name if name.endswith(".trace") or "/" in name or "\\" in name else f"./{name}"


def digest(scenarios: Iterable[Scenario]) -> str:
    """Eight hexadecimal digits that tell sets of scenarios apart."""
    joined = "\0".join(scenario.toml for scenario in scenarios)
    return hashlib.sha256(joined.encode()).hexdigest()[:8]


def overrides_of(values: Mapping[str, object] | Sequence[str] | None) -> list[str]:
    """Overrides as the command line writes them (`key=value`), which they may be already, or Python values by key."""
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Mapping):
        return _assignments(values or ())
    try:
        return [f"{key}={_toml_value(value)}" for key, value in values.items()]
    except RecursionError:
        raise ScenarioError(
            f"a value is nested too deeply: expected at most {_MOST_LEVELS} levels",
            code="unexpected-value",
            expected=_MOST_LEVELS,
        ) from None


def _assignments(values: object) -> list[str]:
    if isinstance(values, (list, tuple)) and all(isinstance(value, str) for value in values):
        return list(values)
    raise ScenarioError(
        f"--overrides: expected values by key, or a list of texts `KEY=VALUE`, found {values!r}",
        code="unexpected-value",
        key="overrides",
        found=values,
    )


def _toml_value(value: object) -> str:
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (type, Path)):
        return json.dumps(strategy_name(value))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    try:
        return json.dumps(value)
    except TypeError:
        raise ScenarioError(
            f"expected text, numbers, true, false, lists or tables, found {value!r}",
            code="unexpected-value",
            found=value,
        ) from None


def _resolve(text: str, name: str, overrides: Sequence[str]) -> tuple[str, str]:
    for override in overrides:
        _check_levels(override.split("=", 1)[0])
    try:
        return _core.resolve(text, name, list(overrides), nodes.read)
    except _core.ScenarioError as error:
        raise of_engine(error, ScenarioError) from None


def _check_levels(key: str) -> None:
    if key.count(".") >= _MOST_LEVELS:
        raise ScenarioError(
            f"--set {key[:40]}…: expected a key of at most {_MOST_LEVELS} levels, found {key.count('.') + 1}",
            code="unexpected-value",
            key="set",
        )
