"""A recorded step, as its file has it: blocks of memory over time, and what its operators do."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from octavo.errors import AdviceError

if TYPE_CHECKING:
    from octavo.advice.model import System

Role: TypeAlias = Literal["parameter", "gradient", "state", "activation", "input", "temporary", "workspace"]
ROLES: tuple[Role, ...] = ("parameter", "gradient", "state", "activation", "input", "temporary", "workspace")
SUFFIX = ".step"
_HINT = "record it again: octavo trace torch SCRIPT"
_MOST_TEXT = 1 << 30
"""Bytes that a file may unpack to, as for replays."""


@dataclass(frozen=True)
class Linear:
    """A count that grows with the batch."""

    fixed: int
    each: int

    def at(self, batch: int) -> int:
        """The count with so many samples."""
        return self.fixed + self.each * batch


@dataclass(frozen=True)
class Module:
    """A call of a module: from which event to which, and what its operators do."""

    name: str
    kind: str
    begin: int
    end: int
    flops: Linear
    moved: Linear
    launches: int

    @property
    def group(self) -> tuple[str, str]:
        """Which modules stand beside it: those within the same module, of the same class."""
        return self.name.rpartition(".")[0], self.kind

    def seconds(self, batch: int, system: System) -> float:
        """Time of its operators, by the canonical roofline."""
        return roofline(self.flops.at(batch), self.moved.at(batch), self.launches, system)


@dataclass(frozen=True)
class Program:
    """What a script does with a GPU's memory, from its start on."""

    name: str
    path: Path
    batch: int | None
    """The usual number of samples; None if it cannot be chosen."""
    roles: tuple[Role, ...]
    sizes: tuple[Linear, ...]
    events: tuple[int, ...]
    """A block's number where it is handed out, -1 minus the number where it is given back."""
    products: tuple[int, ...]
    """Places where a thread calls cuBLAS first."""
    marks: tuple[tuple[int, str], ...]
    """Places where it begins to go `backward`, where an `optimizer` begins, and where its step is at the `end`."""
    modules: tuple[Module, ...]
    operators: tuple[tuple[Linear, Linear], ...]
    """Operations and bytes of each operator of a step."""
    assumed: tuple[str, ...]
    model: str = "model"
    """What the script calls it; so with the optimizer."""
    optimizer: str = "optimizer"
    optimizer_class: str = "torch.optim.AdamW"

    def blocks(self, batch: int) -> list[int]:
        """Bytes of each block."""
        return [size.at(batch) for size in self.sizes]

    @property
    def used(self) -> int:
        """The number of samples where nothing else is said."""
        return self.batch or 0

    def phase(self, event: int) -> str:
        """What the program does at a place."""
        following = next((what for place, what in self.marks if place > event), None)
        before = next((what for place, what in reversed(self.marks) if place <= event), None)
        return {
            "backward": "going forward",
            "optimizer": "going backward",
            "end": "in the optimizer",
            None: "after its steps" if before else "going forward",
        }[following]

    def step_of(self, event: int) -> int:
        """The number of the step that a place is in, from 1."""
        return 1 + sum(what == "end" and place <= event for place, what in self.marks)

    def seconds(self, batch: int, system: System) -> float:
        """Time of a step by the canonical roofline, operator by operator."""
        return sum(roofline(flops.at(batch), moved.at(batch), 1, system) for flops, moved in self.operators)


def roofline(flops: int, moved: int, launches: int, system: System) -> float:
    """Seconds of operators: they compute, move bytes, or are launched, whichever takes longest."""
    return max(flops / system.peak, moved / system.device, launches * system.launch)


def is_step(path: str | Path) -> bool:
    """Whether a path names the file of a recorded step."""
    return str(path).endswith(SUFFIX) and Path(path).is_file()


def read(path: str | Path) -> Program:
    """The step in a file.

    Raises:
        AdviceError: it is none, or an older one that does not tell what happens to memory.

    """
    path = Path(path)
    found = _document(path)
    memory = found.get("memory")
    if not isinstance(memory, dict):
        raise AdviceError(
            f"{path}: expected `memory`, what the script asks its allocator for, found none",
            _HINT,
            code="missing",
            file=path,
            key="memory",
        )
    try:
        return _program(path, found, memory)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise AdviceError(
            f"{path}: not a recorded step (docs/trace-format.md): {type(error).__name__} {error}",
            _HINT,
            code="unexpected-value",
            file=path,
        ) from None


def _document(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            unpacked = zlib.decompressobj(wbits=31)
            content = unpacked.decompress(content, _MOST_TEXT)
        found = json.loads(content)
    except OSError as error:
        raise AdviceError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from None
    except (ValueError, zlib.error, gzip.BadGzipFile, RecursionError) as error:
        raise AdviceError(f"{path}: not a recorded step: {error}", _HINT, code="syntax", file=path) from None
    if not isinstance(found, dict) or found.get("octavo_step") != 1:
        raise AdviceError(
            f"{path}: expected a recorded step of version 1, found something else",
            _HINT,
            code="unexpected-value",
            file=path,
        )
    return found


def _linear(pair: Any) -> Linear:
    fixed, each = pair
    if type(fixed) is not int or type(each) is not int:
        raise TypeError(f"expected two whole numbers, found {pair}")
    return Linear(fixed, each)


def _program(path: Path, found: dict[str, Any], memory: dict[str, Any]) -> Program:
    blocks = [(str(role), _linear(size)) for role, size in memory["blocks"]]
    unknown = {role for role, _ in blocks} - set(ROLES)
    if unknown:
        raise ValueError(f"unknown roles {', '.join(sorted(unknown))}")
    tensors = [_linear(size) for _, size in found["tensors"]]
    return Program(
        name=str(found["command"]).split(" ", 1)[0] or path.name,
        path=path,
        batch=None if found["batch"] is None else int(found["batch"]),
        roles=tuple(role for role, _ in blocks),  # type: ignore[misc]
        sizes=tuple(size for _, size in blocks),
        events=tuple(int(event) for event in memory["events"]),
        products=tuple(sorted(int(place) for place in memory["products"])),
        marks=tuple((int(place), str(what)) for place, what in memory["marks"]),
        modules=tuple(_module(one) for one in memory["modules"]),
        operators=tuple(_operator(one, tensors) for one in found["operators"]),
        assumed=tuple(str(one) for one in memory["assumed"]),
        **_names(memory.get("names", {})),
    )


def _names(found: dict[str, Any]) -> dict[str, str]:
    """Names to write code with, as far as the script tells them."""
    keys = {"model": "model", "optimizer": "optimizer", "class": "optimizer_class"}
    return {
        keys[key]: str(name) for key, name in found.items() if key in keys and str(name).replace(".", "").isidentifier()
    }


def _module(one: dict[str, Any]) -> Module:
    begin, end = one["events"]
    flops, moved, launches = (_linear(each) for each in one["work"])
    return Module(str(one["name"]), str(one["class"]), int(begin), int(end), flops, moved, launches.fixed)


def _operator(one: dict[str, Any], tensors: list[Linear]) -> tuple[Linear, Linear]:
    touched = [
        tensors[operand] if isinstance(operand, int) else _linear(operand[2])
        for key in ("reads", "writes")
        for operand in one.get(key, ())
    ]
    moved = Linear(sum(each.fixed for each in touched), sum(each.each for each in touched))
    return _linear(one.get("flops", (0, 0))), moved
