"""Chakra execution traces of PyTorch programs as recorded steps: operators, and the tensors that they touch."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import TraceError
from octavo.files.atomic import write_bytes
from octavo.files.disk import check_file
from octavo.trace.chakra_nodes import AGAIN, nodes
from octavo.trace.octavo_recorder.flops import flops

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from octavo.trace.chakra_nodes import Node

_ALLOCATES = re.compile(r"aten::(new_)?empty(_like|_strided|_permuted|_quantized)?$")
"""Operators that hand out memory and touch none."""
_NO_WORK = {"aten::resize_", "aten::detach_", "aten::set_", "aten::requires_grad_", "aten::record_stream"}
_ONLY_WRITES = re.compile(r"aten::(zero_|fill_|copy_|normal_|uniform_|random_|bernoulli_)$")
"""Operators that store to their first tensor without loading it."""
_TENSOR = 6
"""Values of a tensor: its number, its storage, first element, elements, bytes of each, device."""
_MOST_BYTES = 1 << 46


@dataclass(frozen=True)
class _Tensor:
    """A tensor as an operator sees it."""

    number: int
    storage: int
    first: int
    bytes: int
    device: str


@dataclass
class _Memory:
    """A storage between its allocation and its end."""

    bytes: int
    kept: bool
    """It was there before the step."""
    written: bool = False
    last: int = 0
    """The last operator that touches it, or the one before which it is allocated."""


@dataclass
class _Step:
    """A step that is being put together."""

    memories: list[_Memory] = field(default_factory=list)
    current: dict[int, int] = field(default_factory=dict)
    """By storage, the memory that has it now: storages of what was freed are used again."""
    broadcast: set[int] = field(default_factory=set)
    """Tensors with more elements than their storage."""
    operators: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    """Memories that the next operator allocates."""
    unborn: set[int] = field(default_factory=set)
    """Storages that the operator under way allocates."""
    notes: Counter[str] = field(default_factory=Counter)

    def see(self, tensor: _Tensor) -> int:
        """The memory of an operand, which was there from the start if no operator made it."""
        if tensor.storage in self.unborn:
            return self.make(tensor)
        index = self.current.get(tensor.storage)
        if index is None:
            index = self.current[tensor.storage] = len(self.memories)
            self.memories.append(_Memory(1, kept=True))
        memory = self.memories[index]
        if tensor.number not in self.broadcast:
            memory.bytes = max(memory.bytes, tensor.first + tensor.bytes)
        return index

    def make(self, tensor: _Tensor) -> int:
        """Memory for a result."""
        self.unborn.discard(tensor.storage)
        index = self.current[tensor.storage] = len(self.memories)
        self.memories.append(_Memory(max(tensor.first + tensor.bytes, 1), kept=False))
        self.waiting.append(index)
        return index

    def run(self, name: str, work: int, reads: dict[int, _Tensor], writes: dict[int, _Tensor]) -> None:
        """An operator touches memory."""
        number = len(self.operators)
        for index in {*reads, *writes, *self.waiting}:
            self.memories[index].last = number
        for index in writes:
            self.memories[index].written = True
        self.operators.append(
            {"name": name, "flops": [work, 0], "reads": reads, "writes": writes, "allocates": self.waiting, "frees": []}
        )
        self.waiting = []


def convert_chakra(path: str | Path, output: str | Path) -> dict[str, Any]:
    """Make a recorded step of an execution trace, and write it to `output`.

    Args:
        path: what `torch.profiler.ExecutionTraceObserver` wrote (JSON, perhaps `.gz`), or Chakra's protobuf of it.
        output: the file to write, `NAME.step` by convention.

    Returns:
        The file's content, and as `assumed` what the trace does not tell.

    Raises:
        TraceError: the file is no execution trace, or tells of no operators with tensors.
        OutputError: the file cannot be written.

    """
    path, output = Path(path), Path(output)
    check_file(output)
    source, found = nodes(path)
    step = _step(path, found)
    content = {
        "octavo_step": 1,
        "command": f"octavo trace chakra {path.name}",
        "source": source,
        "batch": None,
        "parameters": 0,
        "tensors": [(_role(memory), (memory.bytes, 0)) for memory in step.memories],
        "operators": _operators(step),
    }
    write_bytes(output, gzip.compress(json.dumps(content, separators=(",", ":")).encode(), mtime=0))
    return {**content, "assumed": _assumed(step)}


def _role(memory: _Memory) -> str:
    return "temporary" if not memory.kept else "state" if memory.written else "input"


def _assumed(step: _Step) -> list[str]:
    return [
        "what is there before the step is kept: state if the step writes it, else an input that the host writes before "
        "each step; the trace does not tell parameters from samples",
        "memory ends with its last use, as the trace has no frees",
        "a tensor is as large as its elements, without gaps between them",
        "durations are not used: a replay makes its own",
        *(f"{what} ({count:,})" for what, count in step.notes.items() if count),
    ]


def _step(path: Path, found: list[Node]) -> _Step:
    step = _Step()
    on_gpu = any(_is_gpu(tensor.device) for node in found for tensor in _tensors(node.inputs, node.outputs))
    working = _working(found)
    for node in found:
        _follow(step, node, node.id in working, on_gpu)
    step.notes["the trace is of a CPU, whose operators stand for a GPU's"] += not on_gpu
    step.notes["collectives and sends between GPUs: their tensors are touched, nothing is sent"] += sum(
        node.communicates for node in found
    )
    if not step.operators:
        schemas = sum(bool(node.schema) for node in found)
        message = f"{path}: expected operators with tensors, found {len(found):,} nodes, {schemas:,} with an op_schema"
        raise TraceError(message, AGAIN, code="missing", file=path, key="op_schema")
    if step.waiting:  # What no operator touches any more.
        del step.memories[step.waiting[0] :]
    if sum(memory.bytes for memory in step.memories) > _MOST_BYTES:
        raise TraceError(f"{path}: expected tensors of at most 64 TiB together", code="too-large", file=path)
    return step


def _is_gpu(device: str) -> bool:
    return not device.startswith(("cpu", "meta")) and device != ""


def _follow(step: _Step, node: Node, works: bool, on_gpu: bool) -> None:
    """An operator's effect on memory."""
    inputs, outputs = (
        [one for one in _tensors(side) if not on_gpu or _is_gpu(one.device)] for side in (node.inputs, node.outputs)
    )
    seen = {one.storage: step.see(one) for one in inputs}
    largest = max((one.bytes for one in inputs), default=0)
    for one in outputs:
        alias = one.storage in seen
        (step.broadcast.add if alias and one.bytes > largest else step.broadcast.discard)(one.number)
    results = [one for one in outputs if node.schema and one.storage not in seen]
    for one in results:
        step.current.pop(one.storage, None)
        step.unborn.add(one.storage)
    if not works and not _ALLOCATES.match(node.name):
        return
    fresh = {step.make(one): one for one in results}
    if _ALLOCATES.match(node.name):
        return
    changed = {seen[one.storage]: one for one in _changed(node) if one.storage in seen}
    reads = {seen[one.storage]: one for one in inputs}
    if _ONLY_WRITES.match(node.name):
        reads = {index: one for index, one in reads.items() if index not in changed}
    if reads or changed or fresh:
        step.run(node.name, _work(node), reads, {**changed, **fresh})


def _working(found: list[Node]) -> set[int]:
    """Operators that touch memory themselves: those that call no other that does, and products that call no other."""
    parents = {node.id: node.parent for node in found}
    own = {node.id for node in found if node.schema and _does_work(node)}
    products = {node.id for node in found if node.id in own and _work(node)}
    return (own - _callers(own, parents)) | (products - _callers(products, parents))


def _callers(of: set[int], parents: dict[int, int | None]) -> set[int]:
    """Nodes that some nodes are below of."""
    found: set[int] = set()
    for number in of:
        parent = parents.get(number)
        while parent is not None and parent not in found and parent in parents:
            found.add(parent)
            parent = parents[parent]
    return found


def _does_work(node: Node) -> bool:
    if node.name in _NO_WORK or _ALLOCATES.match(node.name):
        return False
    inputs, outputs = list(_tensors(node.inputs)), list(_tensors(node.outputs))
    if not inputs and not outputs:
        return False
    makes = {one.storage for one in outputs} - {one.storage for one in inputs}
    # A view has the storage of its operand, and writes nothing.
    return bool(makes) or bool(_changed(node)) or not outputs


_ARGUMENTS = re.compile(r"\((.*)\)\s*->", re.DOTALL)


def _changed(node: Node) -> list[_Tensor]:
    """Operands that an operator stores to, as `!` in its signature says."""
    if "!" not in node.schema:
        return []
    signature = _ARGUMENTS.search(node.schema)
    arguments = [one.strip() for one in _parted(signature[1])] if signature else []
    arguments = [one for one in arguments if one != "*"]
    values, shapes, types = node.inputs
    places = [place for place, one in enumerate(arguments) if "!" in one and place < len(values)]
    return list(_tensors([[part[place] for place in places] for part in (values, shapes, types)]))


def _parted(text: str) -> Iterator[str]:
    """Text between the commas outside of brackets."""
    depth = start = 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _tensors(*sides: list[list[Any]]) -> Iterator[_Tensor]:
    """All tensors of some arguments; lists of tensors are parted."""
    for values, _, types in sides:
        for value, kind in zip(values, types, strict=True):
            if not isinstance(kind, str) or "Tensor" not in kind or not isinstance(value, (list, tuple)):
                continue
            several = kind.startswith("GenericList")
            for one in value if several else (value,):
                if (tensor := _tensor(one)) is not None:
                    yield tensor


def _tensor(value: object) -> _Tensor | None:
    """None for one without memory."""
    if not isinstance(value, (list, tuple)) or len(value) < _TENSOR:
        return None
    number, storage, first, elements, width, device = value[:_TENSOR]
    counts = (number, storage, first, elements, width)
    if not all(isinstance(one, int) and 0 <= one < _MOST_BYTES for one in counts) or not isinstance(device, str):
        return None
    size = elements * width
    return _Tensor(number, storage, first * width, size, device) if storage and size else None


@dataclass(frozen=True)
class _Shape:
    shape: tuple[int, ...]

    def numel(self) -> int:
        """Elements."""
        product = 1
        for size in self.shape:
            product *= size
        return product


def _work(node: Node) -> int:
    """Operations of products and convolutions."""
    shapes = [_shaped(shape, value) for shape, value in zip(node.inputs[1], node.inputs[0], strict=True)]
    out = [_shaped(shape, None) for shape in node.outputs[1]]
    try:
        work = flops(node.name.removeprefix("aten::"), tuple(shapes), out[0] if out else None)
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError, ZeroDivisionError):
        return 0
    return work if 0 <= work < 1 << 62 else 0


def _shaped(shape: object, value: object) -> object:
    if isinstance(shape, (list, tuple)) and shape and all(isinstance(size, int) for size in shape):
        return _Shape(tuple(shape))
    return value


def _operators(step: _Step) -> list[dict[str, Any]]:
    """Operators as a file has them: memory is given back before the operator after its last use."""
    found = [
        {**one, "reads": _parts(step, one["reads"]), "writes": _parts(step, one["writes"])} for one in step.operators
    ]
    found.append({"name": "end of the step", "frees": []})
    for index, memory in enumerate(step.memories):
        if not memory.kept:
            found[memory.last + 1]["frees"].append(index)
    return found


def _parts(step: _Step, touched: dict[int, _Tensor]) -> list[Any]:
    return list(_ranges(step, touched.items()))


def _ranges(step: _Step, touched: Iterable[tuple[int, _Tensor]]) -> Iterator[Any]:
    for index, one in touched:
        whole = step.memories[index].bytes
        first = min(one.first, whole - 1)
        size = min(one.bytes, whole - first)
        yield index if (first, size) == (0, whole) else [index, [first, 0], [size, 0]]
