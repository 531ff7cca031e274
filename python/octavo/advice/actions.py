"""Calls to write into a program for a placement: CUDA 12, RMM and PyTorch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.advice.facts import Buffer, Placement
    from octavo.advice.moments import Moves

_RMM = {
    "device": "rmm::mr::cuda_async_memory_resource",
    "managed": "rmm::mr::managed_memory_resource",
    "prefetched": "rmm::mr::managed_memory_resource",
    "pinned": "rmm::mr::pinned_host_memory_resource",
}
_CALLS = {
    "managed": ("cudaMallocManaged", "cudaFree"),
    "prefetched": ("cudaMallocManaged", "cudaFree"),
    "pinned": ("cudaMallocHost", "cudaFreeHost"),
}
_IN_AND_OUT = 2
"""Copies of a buffer that goes there and back once."""


def of(buffer: Buffer, placement: Placement) -> dict[str, list[str]]:
    """Lines for each library."""
    return {
        "cuda": _cuda(buffer, placement),
        "rmm": _rmm(buffer, placement),
        "pytorch": _pytorch(buffer, placement),
    }


def _name(buffer: Buffer) -> str:
    """A buffer as a variable."""
    name = re.sub(r"\W", "_", buffer.name)
    return name if name and not name[0].isdigit() else f"b_{name}"


def _cuda(buffer: Buffer, placement: Placement) -> list[str]:
    name, size = _name(buffer), buffer.size
    if placement == "device":
        lines = [f"cudaMalloc(&{name}, {size});"]
        if buffer.facts["copied_in"].value:
            lines.append(f"cudaMemcpyAsync({name}, {name}_host, {size}, cudaMemcpyHostToDevice, stream);")
        if buffer.facts["copied_out"].value:
            lines.append(f"cudaMemcpyAsync({name}_host, {name}, {size}, cudaMemcpyDeviceToHost, stream);")
        calls = round(buffer.facts["copies"].value)
        more = (
            f"  // {calls} copies in all: between launches, too, and then of what changed"
            if calls > _IN_AND_OUT
            else ""
        )
        return [*lines, f"cudaFree({name});{more}"]
    if placement == "pinned":
        return [f"cudaMallocHost(&{name}, {size});  // kernels use the same pointer", f"cudaFreeHost({name});"]
    hints = _prefetches(buffer, name) if placement == "prefetched" else _hints(buffer, name)
    return [f"cudaMallocManaged(&{name}, {size});", *hints, f"cudaFree({name});"]


def _prefetches(buffer: Buffer, name: str) -> list[str]:
    """Prefetches, as they are written."""
    return [f"cudaMemPrefetchAsync({name}, {buffer.size}, device, stream);  // {_when(buffer)}"]


def moved(lines: Sequence[str], buffer: Buffer, moves: Moves) -> list[str]:
    """Lines for CUDA of memory that moves before launches, with what else its recording asks for."""
    (allocate, *to_device, free), name, size = lines, _name(buffer), buffer.size
    advice = f"cudaMemAdvise({name}, {size}, cudaMemAdviseSetReadMostly, device);  // nobody was seen to write it"
    to_host = f"cudaMemPrefetchAsync({name}, {size}, cudaCpuDeviceId, stream);  // before the host waits to use it"
    before = [advice] if moves.read_mostly else []
    after = [to_host] if moves.to_host_after and not moves.read_mostly else []
    return [allocate, *before, *to_device, *after, free]


def _when(buffer: Buffer) -> str:
    """When to prefetch."""
    if buffer.exchanged:
        return "before each launch that uses it: the host touches it in between"
    return "before the first launch that uses it"


def _rmm(buffer: Buffer, placement: Placement) -> list[str]:
    lines = [f"{_RMM[placement]} resource;  // for {buffer.name}: pass it to rmm::device_buffer or a container"]
    if placement == "prefetched":
        lines.append(f"rmm::prefetch({_name(buffer)}.data(), {buffer.size}, device, stream);  // {_when(buffer)}")
    return lines


def _hints(buffer: Buffer, name: str) -> list[str]:
    """What the driver is told about managed memory. It is not part of the prediction."""
    if buffer.first == "device":
        return [f"cudaMemAdvise({name}, {buffer.size}, cudaMemAdviseSetPreferredLocation, device);  // made there"]
    return []


def _pytorch(buffer: Buffer, placement: Placement) -> list[str]:
    name = _name(buffer)
    if placement == "device":
        return [f'{name} = torch.empty(shape, device="cuda")']
    allocate, free = _CALLS[placement]
    lines = [
        f"# placement.so: allocate() calls {allocate}, release() calls {free}",
        'allocator = torch.cuda.memory.CUDAPluggableAllocator("placement.so", "allocate", "release")',
        "with torch.cuda.use_mem_pool(torch.cuda.MemPool(allocator.allocator())):",
        f'    {name} = torch.empty(shape, device="cuda")',
    ]
    if placement == "prefetched":
        call = f"cudaMemPrefetchAsync({name}.data_ptr(), {buffer.size}, device, stream)"
        lines.append(f"# {_when(buffer)}: {call}, by cuda.bindings.runtime")
    return lines
