"""Every operator that PyTorch dispatches, with the memory that it reads, writes, makes and gives back."""

from __future__ import annotations

from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from .flops import flops

MAKE_ONLY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted"}
"""Operators that make memory and leave it as it is."""
OVERWRITE = {"fill_", "zero_", "copy_", "bernoulli_", "uniform_", "normal_", "random_", "exponential_"}
"""Operators that write all of their first argument and do not read it."""

RUNNING_STATISTICS = {"native_batch_norm", "cudnn_batch_norm"}
"""Operators that write their fourth and fifth argument in training, which their schemas do not mention."""

Event = tuple[Any, ...]
"""`("free", tensor)`, or `("run", name, flops, reads, writes, made)`, operands as (tensor, offset, bytes)."""


class Tape(TorchDispatchMode):  # type: ignore[misc]
    """What was dispatched. Tensors that share memory are one, numbered in the order of their first use."""

    def __init__(self) -> None:
        super().__init__()
        self.quiet = False
        """Whether what runs is no part of the program."""
        self.events: list[Event] = []
        self.sizes: list[int] = []
        self.parameters: dict[int, int] = {}
        """Elements of each model parameter, by number."""
        self._known: dict[int, tuple[int, Any]] = {}
        """What is alive, by address of its storage: number, weak reference."""

    def alive(self) -> set[int]:
        """Numbers of all tensors that are there."""
        self._sweep()
        return {number for number, _ in self._known.values()}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operator and take it down."""
        kwargs = kwargs or {}
        self._sweep()
        out = func(*args, **kwargs)
        if func.namespace != "profiler" and not self.quiet:
            self._note(func, args, kwargs, out)
        return out

    def _sweep(self) -> None:
        gone = [address for address, (_, reference) in self._known.items() if reference.expired()]
        self.events.extend(("free", self._known.pop(address)[0]) for address in gone)

    def _note(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        name = func._schema.name.split("::")[-1]
        reads: list[Any] = []
        writes: list[Any] = []
        for index, argument in enumerate(func._schema.arguments):
            value = args[index] if index < len(args) else kwargs.get(argument.name)
            operands = [self._operand(tensor) for tensor in _tensors(value) if tensor.numel()]
            written = argument.alias_info is not None and argument.alias_info.is_write
            written |= name in RUNNING_STATISTICS and index in {3, 4} and args[5] is True
            only = written and (argument.is_out or (index == 0 and name in OVERWRITE))
            reads.extend([] if only else operands)
            writes.extend(operands if written else [])
        given = {operand[0] for operand in (*reads, *writes)}
        returned = [self._operand(tensor) for tensor in _tensors(out) if tensor.numel()]
        made = list(dict.fromkeys(operand[0] for operand in returned if operand[0] not in given))
        if returned and not made and not writes:
            return  # another view of the same memory
        if name in MAKE_ONLY:
            reads.clear()
        else:
            writes.extend((number, 0, self.sizes[number]) for number in made)
        if not (reads or writes or made):
            return
        self.events.append(("run", name, flops(name, args, out), _once(reads), _once(writes), made))

    def _operand(self, tensor: Any) -> tuple[int, int, int]:
        number = self._number(tensor)
        width = tensor.element_size()
        reach = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))  # noqa: B905
        return number, tensor.storage_offset() * width, reach * width

    def _number(self, tensor: Any) -> int:
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        address = storage._cdata
        if address not in self._known:
            self._known[address] = (len(self.sizes), StorageWeakRef(storage))
            self.sizes.append(storage.nbytes())
        number = self._known[address][0]
        if isinstance(tensor, torch.nn.Parameter):
            self.parameters[number] = max(tensor.numel(), self.parameters.get(number, 0))
        return number


def _once(operands: list[Any]) -> list[Any]:
    return list(dict.fromkeys(operands))


def _tensors(value: Any) -> list[Any]:
    """The tensors in an argument or result."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for one in value for tensor in _tensors(one)]
    return []
