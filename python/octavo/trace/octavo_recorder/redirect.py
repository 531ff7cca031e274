"""What a program sends to a GPU is kept without values (the meta device), and runs as a GPU would run it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from .gpu import Gpu

_LOWER = {
    "linear", "matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "addmv", "addr",
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "prelu", "chain_matmul",
    "einsum", "scaled_dot_product_attention",
}  # fmt: skip
"""Functions that autocast runs in the lower precision on CUDA (docs of torch.amp, "CUDA ops that can autocast")."""
_FULL = {
    "softmax", "log_softmax", "layer_norm", "group_norm", "nll_loss", "nll_loss_nd", "cross_entropy_loss", "mse_loss",
    "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy_with_logits", "cosine_similarity",
    "cosine_embedding_loss", "exp", "log", "log2", "log10", "log1p", "expm1", "pow", "__pow__", "__rpow__", "prod",
    "sum", "cumsum", "cumprod", "norm", "rsqrt", "reciprocal", "sinh", "cosh", "tan", "acos", "asin", "erfinv",
    "softmin", "softplus", "renorm", "dist", "cdist", "pdist",
}  # fmt: skip
"""Functions that autocast runs in float32 on CUDA."""


class Redirect(TorchFunctionMode):  # type: ignore[misc]
    """Replaces CUDA devices in calls by the device without values, and looks like CUDA to those who ask."""

    def __init__(self, gpu: Gpu) -> None:
        super().__init__()
        self._gpu = gpu
        self._own: dict[str, Callable[..., Any]] = {
            "backward": self._backward,
            "cuda": self._to_gpu,
            "pin_memory": lambda tensor, *_, **__: tensor,
            "is_pinned": lambda *_, **__: True,
            "get_device": lambda tensor: 0 if tensor.is_meta else -1,
        }
        """Methods of tensors that do something else."""

    def _to_gpu(self, tensor: Any, *_: Any, **__: Any) -> Any:
        self._gpu.used = True
        return tensor.to(self._gpu.on)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call a function of PyTorch."""
        kwargs = dict(kwargs or {})
        if self._gpu.paused:
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        if name == "__get__":
            return self._attribute(func, args)
        if name in self._own:
            return self._own[name](*args, **kwargs)
        kwargs.pop("pin_memory", None)
        args = tuple(self._placed(one) for one in args)
        kwargs = {key: self._placed(one) for key, one in kwargs.items()}
        instead = self._instead(name, args, kwargs)
        if instead is not None:
            return instead
        if torch.is_autocast_enabled():
            args, kwargs = _cast(name, args, kwargs, on_host=self._gpu.on == "cpu")
        return func(*args, **kwargs)

    def _attribute(self, func: Any, args: Any) -> Any:
        found = func(*args)
        what = getattr(getattr(func, "__self__", None), "__name__", "")
        if what in {"device", "is_cuda"} and self._gpu.used and (args[0].is_meta or not self._gpu.is_apart):
            return torch.device("cuda", 0) if what == "device" else True
        return found

    def _backward(self, tensor: Any, *args: Any, **kwargs: Any) -> None:
        """As `Tensor.backward`, but what Python does on the way is redirected, too."""
        inputs = kwargs.pop("inputs", None)
        order = ("gradient", "retain_graph", "create_graph")
        given = {**dict(zip(order, args)), **kwargs}  # noqa: B905
        with self:
            torch.autograd.backward(
                tensor, given.get("gradient"), given.get("retain_graph"), bool(given.get("create_graph")), inputs=inputs
            )

    def _placed(self, value: Any) -> Any:
        """The same argument, with the device without values for a CUDA device."""
        is_cuda = isinstance(value, torch.device) and value.type == "cuda"
        if is_cuda or (isinstance(value, str) and value.split(":", 1)[0] == "cuda"):
            self._gpu.used = True
            return torch.device(self._gpu.on)
        return value

    def _instead(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What CUDA does in place of some functions; none for all others."""
        if name == "dropout" and _is_valueless(args):
            share, training = (*args[1:], *kwargs.values())[:2] if len(args) + len(kwargs) > 2 else (0.0, False)
            if training and 0 < share < 1:
                return torch.native_dropout(args[0], share, True)[0]
        if name == "scaled_dot_product_attention" and _is_valueless(args):
            return _attention(args, kwargs)
        return None


def watch_backward(began: Any, ended: Any) -> None:
    """Call functions when the program begins and ends to go backward."""
    for where, name in ((torch.autograd, "backward"), (torch.autograd, "grad")):
        setattr(where, name, _watched(getattr(where, name), began, ended))


def _watched(function: Any, began: Any, ended: Any) -> Any:
    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        began()
        try:
            return function(*args, **kwargs)
        finally:
            ended()

    return watched


def see_through_functional() -> None:
    """Make functions of these modules transparent to the mode, so that it sees the operators that they call."""
    for where in (torch.nn.functional, torch.autograd):
        for name in ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic"):
            if hasattr(where, name):
                setattr(where, name, lambda *_: False)


def _is_valueless(args: tuple[Any, ...]) -> bool:
    return bool(args) and isinstance(args[0], torch.Tensor) and args[0].is_meta


def _cast(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, on_host: bool
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments in the precision that autocast chooses; PyTorch itself does it for tensors on CUDA only."""
    if name in _LOWER:
        # CPUs do not compute in float16, whose tensors are as large.
        dtype = torch.bfloat16 if on_host else torch.get_autocast_gpu_dtype()
    elif name in _FULL:
        dtype = torch.float32
    else:
        return args, kwargs

    def cast(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            wrong = (
                (value.is_meta or on_host) and value.is_floating_point() and value.dtype not in {dtype, torch.float64}
            )
            return value.to(dtype) if wrong else value
        return type(value)(cast(one) for one in value) if type(value) in {list, tuple} else value

    return tuple(cast(one) for one in args), {key: cast(one) for key, one in kwargs.items()}


def _attention(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The fused kernel that CUDA takes: flash in half precision without a mask, else memory-efficient."""
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    given = {**dict(zip(names, args)), **kwargs}  # noqa: B905
    query, key, value, mask = given["query"], given["key"], given["value"], given.get("attn_mask")
    if any(one.dim() != 4 for one in (query, key, value)) or given.get("enable_gqa"):
        return None
    share, causal, scale = given.get("dropout_p", 0.0), given.get("is_causal", False), given.get("scale")
    try:
        if query.dtype in {torch.float16, torch.bfloat16} and mask is None:
            flash = torch.ops.aten._scaled_dot_product_flash_attention
            return flash(query, key, value, share, causal, scale=scale)[0]
        efficient = torch.ops.aten._scaled_dot_product_efficient_attention
        if mask is not None:
            mask = mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
        keep = any(one.requires_grad for one in (query, key, value))
        return efficient(query, key, value, mask, keep, share, causal)[0]
    except (AttributeError, RuntimeError, TypeError, NotImplementedError):
        return None
