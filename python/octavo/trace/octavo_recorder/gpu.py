"""A GPU that is not there: `torch.cuda` answers as on a machine with one, and does nothing."""

from __future__ import annotations

import contextlib
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from .history import History
_ADAMS = {"torch.optim.adam", "torch.optim.adamw"}


class Gpu:
    """The GPU that a program sees."""

    def __init__(self, memory: int, capability: tuple[int, int], on: str) -> None:
        self.used = False
        """Whether the program has put anything there."""
        self.on = on
        """PyTorch's device that stands in for it: `meta`, whose tensors have no values, or `cpu`."""
        self.paused = False
        """Whether those who ask see PyTorch as it is."""
        self._memory, self._capability = memory, capability
        self._assumed: dict[str, None] = {}

    @property
    def assumed(self) -> list[str]:
        """What was assumed, in sentences."""
        return list(self._assumed)

    @property
    def is_apart(self) -> bool:
        """Whether tensors on it can be told from those of the host."""
        return self.used and self.on == "meta"

    def host(self, history: History) -> set[int]:
        """Tensors that are not on it."""
        return history.host if self.is_apart else set()

    def assume(self, what: str) -> None:
        """Something that the program does otherwise on a real GPU."""
        self._assumed[what] = None

    def install(self, history: History, sizes: list[int]) -> None:
        """Put it in the place of CUDA."""
        cuda = torch.cuda
        answers = {
            **self._properties(),
            **_nothing_done(),
            **_memory(history, sizes, self),
            "Event": _Event,
            "Stream": _Stream,
            "stream": lambda _stream: contextlib.nullcontext(),
            "device": lambda _device: contextlib.nullcontext(),
            "current_stream": lambda _device=None: _Stream(),
            "default_stream": lambda _device=None: _Stream(),
        }
        for name, answer in answers.items():
            setattr(cuda, name, answer)
        accelerator = getattr(torch, "accelerator", None)
        if accelerator is not None:
            accelerator.is_available = lambda: True
            accelerator.device_count = lambda: 1
            accelerator.current_accelerator = lambda *_, **__: torch.device("cuda")
            accelerator.synchronize = _doing_nothing()
        _let_parts_of_pytorch_do_without(self)

    def _properties(self) -> dict[str, Any]:
        facts = SimpleNamespace(
            name="a GPU that Octavo assumes",
            major=self._capability[0],
            minor=self._capability[1],
            total_memory=self._memory,
            multi_processor_count=132,
            is_integrated=False,
        )
        return {
            "is_available": lambda: True,
            "is_initialized": lambda: True,
            "device_count": lambda: 1,
            "current_device": lambda: 0,
            "get_device_name": lambda _device=None: facts.name,
            "get_device_properties": lambda _device=None: facts,
            "get_device_capability": lambda _device=None: self._capability,
            "is_bf16_supported": lambda *_, **__: self._capability[0] >= 8,
            "is_current_stream_capturing": lambda: False,
            "get_rng_state": lambda *_, **__: torch.zeros(16, dtype=torch.uint8),
            "get_rng_state_all": list,
            "get_arch_list": lambda: ["sm_{}{}".format(*self._capability)],
        }


class _Event:
    """An event of a stream; no time passes between two."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def elapsed_time(self, _end: Any) -> float:
        """Milliseconds; one, so that programs can divide by it."""
        return 1.0

    def query(self) -> bool:
        """Whether it has happened."""
        return True

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return _nothing


class _Stream(_Event):
    """A stream: all work is done at once."""

    cuda_stream = 0
    device = torch.device("cuda", 0)

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _nothing(*_: Any, **__: Any) -> None:
    pass


def _doing_nothing() -> Callable[..., None]:
    return lambda *_, **__: None


def _nothing_done() -> dict[str, Any]:
    names = (
        "init", "_lazy_init", "synchronize", "empty_cache", "manual_seed", "manual_seed_all", "seed", "seed_all",
        "set_device", "ipc_collect", "reset_max_memory_allocated", "reset_max_memory_cached", "set_stream",
        "reset_accumulated_memory_stats", "set_per_process_memory_fraction", "set_rng_state", "_check_capability",
    )  # fmt: skip
    # One function each: parts of PyTorch tell functions apart by what they are.
    return {name: _doing_nothing() for name in names}


def _memory(history: History, sizes: list[int], gpu: Gpu) -> dict[str, Any]:
    """What the allocator says of itself: blocks as they are rounded, without workspaces and segments."""
    since = [0]

    def most() -> int:
        return history.most(sizes, since[0], gpu.host(history))

    def now() -> int:
        return history.most(sizes, len(history.events), gpu.host(history))

    def reset(_device: Any = None) -> None:
        since[0] = len(history.events)

    def said(answer: Callable[[], int]) -> Callable[..., int]:
        def told(_device: Any = None) -> int:
            gpu.assume("the program asked for its memory, and was told its blocks without workspaces and segments")
            return answer()

        return told

    names = {"memory_allocated": now, "memory_reserved": now, "max_memory_allocated": most}
    names |= {"max_memory_reserved": most, "memory_cached": now, "max_memory_cached": most}
    return {
        **{name: said(answer) for name, answer in names.items()},
        "reset_peak_memory_stats": reset,
        "mem_get_info": lambda _device=None: (gpu._memory - now(), gpu._memory),
        "memory_summary": lambda *_, **__: "",
        "memory_stats": lambda *_, **__: {},
    }


def _let_parts_of_pytorch_do_without(gpu: Gpu) -> None:
    """Parts that would need a real GPU, or more processes."""
    _load_to_host()
    _keep_loaders_here()
    _keep_ties()
    _as_version_two(gpu)
    shown = torch.Tensor.__format__

    def formatted(tensor: Any, spec: str) -> str:
        return format(tensor.item(), spec) if tensor.is_meta and not tensor.dim() else shown(tensor, spec)

    torch.Tensor.__format__ = formatted

    def saved(*_: Any, **__: Any) -> None:
        gpu.assume("torch.save wrote nothing")

    def compiled(model: Any = None, **_: Any) -> Any:
        gpu.assume("torch.compile left its models as they are: operators are not fused")
        return (lambda given: given) if model is None else model

    save = getattr(torch.autograd.graph, "save_on_cpu", None)
    if save is not None:
        keep = save.__init__
        save.__init__ = lambda this, pin_memory=False, *rest: keep(this, False, *rest)
    torch.save = saved
    if hasattr(torch, "compile"):
        torch.compile = compiled


def _load_to_host() -> None:
    load = torch.load

    def loaded(*args: Any, **kwargs: Any) -> Any:
        kwargs["map_location"] = "cpu"
        return load(args[0], **kwargs)

    torch.load = loaded


def _keep_loaders_here() -> None:
    prepare = torch.utils.data.DataLoader.__init__

    def prepared(loader: Any, *args: Any, **kwargs: Any) -> None:
        for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
            kwargs.pop(name, None)
        prepare(loader, *args, **{**kwargs, "num_workers": 0, "pin_memory": False})

    torch.utils.data.DataLoader.__init__ = prepared


def _keep_ties() -> None:
    """Parameters that several modules share are still one when a model goes to the GPU, as with CUDA."""
    apply = torch.nn.Module._apply
    moved: dict[int, tuple[Any, Any]] = {}

    def applied(module: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(module._parameters)
        result = apply(module, *args, **kwargs)
        for name, old in before.items():
            new = module._parameters[name]
            if old is not None and new is not old:
                known = moved.setdefault(id(old), (old, new))[1]
                if known.is_meta == new.is_meta and known.dtype == new.dtype:
                    module._parameters[name] = known
        return result

    torch.nn.Module._apply = applied


def _as_version_two(gpu: Gpu) -> None:
    """Optimizers do what version 2 does on a GPU."""
    if int(torch.__version__.split(".", maxsplit=1)[0]) > 1:
        return
    zero = torch.optim.Optimizer.zero_grad
    torch.optim.Optimizer.zero_grad = lambda this, set_to_none=None: zero(
        this, gpu.used if set_to_none is None else set_to_none
    )
    prepare = torch.optim.Optimizer.__init__

    def prepared(optimizer: Any, *args: Any, **kwargs: Any) -> None:
        prepare(optimizer, *args, **kwargs)
        for group in optimizer.param_groups:
            on_gpu = gpu.used and all(one.is_meta or gpu.on == "cpu" for one in group["params"])
            if on_gpu and group.get("foreach", False) is None and not group.get("fused"):
                group["foreach"] = True
                gpu.assume("optimizers do as PyTorch 2 does: foreach kernels, and zero_grad gives gradients back")

    torch.optim.Optimizer.__init__ = prepared
    add = torch._foreach_add

    def added(tensors: Any, other: Any, **kwargs: Any) -> Any:
        # Adam adds epsilon in place since version 2, and needs no room for that.
        if isinstance(other, float) and sys._getframe(1).f_globals.get("__name__") in _ADAMS:
            torch._foreach_add_(tensors, other)
            return tensors
        return add(tensors, other, **kwargs)

    torch._foreach_add = added
