"""Memory of NVIDIA GPUs, from the library that comes with their driver (NVML)."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

_LIBRARY = "libnvidia-ml.so.1"
_NAME_BYTES = 96
_INSUFFICIENT_SIZE = 7
_UNKNOWN = (1 << 64) - 1
"""The value that NVML returns for a process whose memory it does not know."""
_NO_NODE = (1 << 32) - 1


class _Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class _Process(ctypes.Structure):
    _fields_ = [
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("compute", ctypes.c_uint),
    ]


@dataclass(frozen=True)
class Gpu:
    """A GPU."""

    number: int
    name: str
    capacity: int
    """Bytes of memory."""
    node: int | None
    """The NUMA node of its memory, if the system sees it as one."""


class Gpus:
    """The GPUs of this machine."""

    def __init__(self, library: Any, count: int) -> None:
        self._library = library
        self._handles = [_handle(library, number) for number in range(count)]
        self._before = [self._used(handle) for handle in self._handles]
        self.guesses = 0
        """How often memory was counted that the driver assigned to no process."""
        self.about = [self._about(number, handle) for number, handle in enumerate(self._handles)]

    def used(self, pids: Collection[int]) -> list[int]:
        """Bytes of each GPU that processes use, if the driver shows them; otherwise the increase since the start.

        The driver counts by process if it knows the processes: not in containers, and not for some kinds of GPUs.
        """
        return [self._of(handle, before, pids) for handle, before in zip(self._handles, self._before, strict=True)]

    def _of(self, handle: Any, before: int, pids: Collection[int]) -> int:
        listed = self._processes(handle)
        own = [used for pid, used in listed.items() if pid in pids]
        if own and _UNKNOWN not in own:
            return sum(own)
        more = max(self._used(handle) - before, 0)
        self.guesses += more > 0
        return more

    def _used(self, handle: Any) -> int:
        memory = _Memory()
        self._library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory))
        return int(memory.used)

    def _processes(self, handle: Any) -> dict[int, int]:
        call = getattr(self._library, "nvmlDeviceGetComputeRunningProcesses_v3", None)
        count = ctypes.c_uint(0)
        if call is None or call(handle, ctypes.byref(count), None) not in (0, _INSUFFICIENT_SIZE):
            return {}
        count.value += 8  # Others may come meanwhile.
        found = (_Process * count.value)()
        if call(handle, ctypes.byref(count), found) != 0:
            return {}
        return {one.pid: one.used for one in found[: count.value]}

    def _about(self, number: int, handle: Any) -> Gpu:
        name, memory = ctypes.create_string_buffer(_NAME_BYTES), _Memory()
        self._library.nvmlDeviceGetName(handle, name, _NAME_BYTES)
        self._library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory))
        return Gpu(number, name.value.decode(errors="replace"), int(memory.total), self._node(handle))

    def _node(self, handle: Any) -> int | None:
        call, node = getattr(self._library, "nvmlDeviceGetNumaNodeId", None), ctypes.c_uint(_NO_NODE)
        known = call is not None and call(handle, ctypes.byref(node)) == 0 and node.value != _NO_NODE
        return node.value if known else None


def _handle(library: Any, number: int) -> Any:
    handle = ctypes.c_void_p()
    library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(handle))
    return handle


def opened(name: str = _LIBRARY) -> Gpus | str:
    """The GPUs, or the reason why there are none."""
    try:
        library = ctypes.CDLL(name)
        begun, count = library.nvmlInit_v2(), ctypes.c_uint()
    except (OSError, AttributeError):
        return f"GPU memory: there is no NVML ({name}), which comes with NVIDIA's driver"
    if begun != 0 or library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
        return f"GPU memory: NVML does not begin (error {begun})"
    return Gpus(library, count.value) if count.value else "GPU memory: NVML finds no GPU"
