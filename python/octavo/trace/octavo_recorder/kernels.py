"""Runs operators: those on tensors without values (the meta device), too, which stand for tensors on a GPU."""

from __future__ import annotations

from typing import Any

import torch

SHAPE_IS_DATA = "the shape of its result depends on values, which nobody has"

_OF_VALUES = {"_local_scalar_dense", "equal", "is_nonzero"}
"""Operators that tell values to the host."""
_HALVES = {torch.float16, torch.bfloat16}


class ValuesNeededError(RuntimeError):
    """An operator needs values of tensors that have none."""


class Kernels:
    """Operators on tensors without values give tensors of the right shape, also where PyTorch has no such kernel."""

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of an operator.

        Raises:
            ValuesNeededError: its shape cannot be known.

        """
        name = func._schema.name.split("::")[-1]
        if name == "detach" and not isinstance(args[0], torch.Tensor):
            return torch.tensor(args[0])  # numbers beside tensors, which 1.13 unwraps before modes see them
        return (
            func(*args, **kwargs) if not _lacks_values(args, kwargs) else self._without_values(name, func, args, kwargs)
        )

    def _without_values(self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name in _OF_VALUES:
            return _nought(args[0].dtype if name == "_local_scalar_dense" else torch.bool)
        if name == "copy_" and not args[0].is_meta:
            return args[0].zero_()
        try:
            if name == "_to_copy" and _goes_to_host(kwargs):
                dtype = kwargs.get("dtype") or args[0].dtype
                return torch.zeros(args[0].shape, dtype=dtype, device="cpu")
            return func(*args, **kwargs)
        except (NotImplementedError, RuntimeError) as error:
            if torch.Tag.dynamic_output_shape in getattr(func, "tags", ()):
                raise ValuesNeededError(f"{name}: {SHAPE_IS_DATA}") from error
            return _on_host(func, args, kwargs, error)


def _lacks_values(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return any(tensor.is_meta for value in (*args, *kwargs.values()) for tensor in tensors(value))


def tensors(value: Any) -> list[Any]:
    """The tensors in an argument or result."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for one in value for tensor in tensors(one)]
    return []


def _nought(dtype: torch.dtype) -> Any:
    """What stands for a value that nobody has."""
    return False if dtype == torch.bool else 0.0 if dtype.is_floating_point else 0


def _goes_to_host(kwargs: dict[str, Any]) -> bool:
    device = kwargs.get("device")
    return device is not None and torch.device(device).type == "cpu"


def _on_host(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Any:
    """The result of the same operator on the CPU with zeros, as far as its shape and type go.

    Raises:
        ValuesNeededError: it cannot be run there either.

    """
    returns = func._schema.returns
    changes = [argument.alias_info for argument in func._schema.arguments if argument.alias_info is not None]
    if any(one.is_write for one in changes) and all(one.alias_info is not None for one in returns):
        # It writes its arguments, and makes nothing.
        return args[0] if returns else None
    for wide in (False, True):
        known: dict[int, Any] = {}
        try:
            out = func(*_zeros(args, known, wide=wide), **_zeros(kwargs, known, wide=wide))
        except (NotImplementedError, RuntimeError, IndexError, ValueError):
            continue
        halves = {tensor.dtype for value in args for tensor in tensors(value)} & _HALVES
        return _empty(out, halves.pop() if wide and halves else None)
    name = func._schema.name.split("::")[-1]
    said = str(error).split("\n", 1)[0][:200]
    raise ValuesNeededError(f"{name} does not run without values: {said}") from error


def _zeros(value: Any, known: dict[int, Any], *, wide: bool) -> Any:
    """The same arguments on the CPU; `wide`: in float32, as CPUs lack many kernels for less."""
    if isinstance(value, torch.Tensor) and value.is_meta:
        if id(value) not in known:
            dtype = torch.float32 if wide and value.dtype in _HALVES else value.dtype
            known[id(value)] = torch.empty_strided(value.shape, value.stride(), dtype=dtype, device="cpu").zero_()
        return known[id(value)]
    if isinstance(value, (list, tuple)):
        return type(value)(_zeros(one, known, wide=wide) for one in value)
    if isinstance(value, dict):
        return {key: _zeros(one, known, wide=wide) for key, one in value.items()}
    return torch.device("cpu") if isinstance(value, torch.device) and value.type == "meta" else value


def _empty(value: Any, half: torch.dtype | None) -> Any:
    """The same results without values, in half precision if that is what was meant."""
    if isinstance(value, torch.Tensor):
        dtype = half if half is not None and value.dtype == torch.float32 else value.dtype
        return torch.empty_strided(value.shape, value.stride(), dtype=dtype, device="meta")
    if isinstance(value, (list, tuple)):
        return type(value)(_empty(one, half) for one in value)
    return value
