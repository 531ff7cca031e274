"""Every operator that PyTorch dispatches, with the memory that it reads, writes, makes and gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from .flops import flops
from .history import History
from .kernels import Kernels, tensors

if TYPE_CHECKING:
    from .gpu import Gpu

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

    def __init__(self, gpu: Gpu) -> None:
        super().__init__()
        self.quiet = False
        """Whether what runs is no part of the program."""
        self.events: list[Event] = []
        self.sizes: list[int] = []
        self.parameters: dict[int, int] = {}
        """Elements of each model parameter, by number."""
        self.history = History()
        self._gpu = gpu
        self._kernels = Kernels()
        self._known: dict[int, tuple[int, Any]] = {}
        """What is alive, by address of its storage: number, weak reference."""

    def alive(self) -> set[int]:
        """Numbers of all tensors that are there."""
        self.sweep()
        return {number for number, _ in self._known.values()}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operator and take it down."""
        kwargs = kwargs or {}
        self.sweep()
        paused, self._gpu.paused = self._gpu.paused, True
        try:
            out = self._kernels.run(func, args, kwargs)
            if func.namespace != "profiler" and not self.quiet:
                self._note(func, args, kwargs, out)
        finally:
            self._gpu.paused = paused
        return out

    def begins_backward(self) -> None:
        """The program begins to go backward."""
        self.sweep()
        self.history.backward()

    def ends_backward(self) -> None:
        """Gradients are there."""
        self.history.thread = 0

    def note_gradients(self, optimizer: Any) -> None:
        """An optimizer is about to use its gradients."""
        self.sweep()
        self.history.marks.append((len(self.history.events), "optimizer"))
        of_parameters = (one.grad for group in optimizer.param_groups for one in group["params"])
        self.history.roles["gradient"] |= {self.number(one) for one in of_parameters if one is not None and one.numel()}

    def note_state(self, optimizer: Any) -> None:
        """A step of an optimizer ended: what it keeps is state."""
        kept = (one for of_one in optimizer.state.values() for one in of_one.values() if isinstance(of_one, dict))
        self.history.roles["state"] |= {self.number(one) for one in kept if isinstance(one, torch.Tensor)}
        self.sweep()
        self.history.ended()

    def sweep(self) -> None:
        """Take down what is gone."""
        gone = [address for address, (_, reference) in self._known.items() if reference.expired()]
        for address in gone:
            number = self._known.pop(address)[0]
            self.events.append(("free", number))
            self.history.free(number)

    def _note(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        name = func._schema.name.split("::")[-1]
        reads: list[Any] = []
        writes: list[Any] = []
        for index, argument in enumerate(func._schema.arguments):
            value = args[index] if index < len(args) else kwargs.get(argument.name)
            operands = [self._operand(tensor) for tensor in tensors(value) if tensor.numel()]
            written = argument.alias_info is not None and argument.alias_info.is_write
            written |= name in RUNNING_STATISTICS and index in {3, 4} and args[5] is True
            only = written and (argument.is_out or (index == 0 and name in OVERWRITE))
            reads.extend([] if only else operands)
            writes.extend(operands if written else [])
        given = {operand[0] for operand in (*reads, *writes)}
        returned = [self._operand(tensor) for tensor in tensors(out) if tensor.numel()]
        made = list(dict.fromkeys(operand[0] for operand in returned if operand[0] not in given))
        if returned and not made and not writes:
            return  # another view of the same memory
        if name in MAKE_ONLY:
            reads.clear()
        else:
            writes.extend((number, 0, self.sizes[number]) for number in made)
        if not (reads or writes or made):
            return
        operations = flops(name, args, out)
        self.events.append(("run", name, operations, _once(reads), _once(writes), made))
        self.history.run(name, operations, self._on_gpu(reads), self._on_gpu(writes), made)

    def _on_gpu(self, operands: list[Any]) -> dict[int, int]:
        """Bytes of each tensor on the GPU that are touched."""
        return {
            number: size for number, _, size in operands if number not in self.history.host or not self._gpu.is_apart
        }

    def _operand(self, tensor: Any) -> tuple[int, int, int]:
        number = self.number(tensor)
        width = tensor.element_size()
        reach = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))  # noqa: B905
        return number, tensor.storage_offset() * width, reach * width

    def number(self, tensor: Any) -> int:
        """Which of all tensors this is, or shares its memory with."""
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        address = storage._cdata
        if address not in self._known:
            number = len(self.sizes)
            self._known[address] = (number, StorageWeakRef(storage))
            self.sizes.append(storage.nbytes())
            if not tensor.is_meta:
                self.history.host.add(number)
            self.history.allocate(number)
        number = self._known[address][0]
        if isinstance(tensor, torch.nn.Parameter):
            self.parameters[number] = max(tensor.numel(), self.parameters.get(number, 0))
        return number


def _once(operands: list[Any]) -> list[Any]:
    return list(dict.fromkeys(operands))
