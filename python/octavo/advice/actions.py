"""Calls to write into a program for a placement: CUDA 12, RMM and PyTorch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from octavo.advice.facts import Buffer, Placement

Hint = Literal["prefer-device", "prefetch"]
"""What the driver is told about managed memory; `crates/octavo-interpose/src/apply/placement.rs` has all."""
_RMM = {
    "device": "rmm::mr::cuda_async_memory_resource",
    "managed": "rmm::mr::managed_memory_resource",
    "pinned": "rmm::mr::pinned_host_memory_resource",
}
_CALLS = {
    "managed": ("cudaMallocManaged", "cudaFree"),
    "pinned": ("cudaMallocHost", "cudaFreeHost"),
}
_IN_AND_OUT = 2
"""Copies of a buffer that goes there and back once."""
_DENSE = 0.5
"""Share of the pages from which bringing all of them at once costs no more than their faults; chosen."""


def of(buffer: Buffer, placement: Placement) -> dict[str, list[str]]:
    """Lines for each library."""
    return {
        "cuda": _cuda(buffer, placement),
        "rmm": [f"{_RMM[placement]} resource;  // for {buffer.name}: pass it to rmm::device_buffer or a container"],
        "pytorch": _pytorch(_name(buffer), placement),
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
    return [f"cudaMallocManaged(&{name}, {size});", *_hints(buffer, name), f"cudaFree({name});"]


def hint(buffer: Buffer) -> Hint | None:
    """The hint for a managed buffer. It is not part of the prediction."""
    if buffer.first == "device":
        return "prefer-device"
    return "prefetch" if buffer.facts["sigma"].value >= _DENSE else None


def _hints(buffer: Buffer, name: str) -> list[str]:
    """Advice and prefetches, as they are written."""
    match hint(buffer):
        case "prefer-device":
            return [f"cudaMemAdvise({name}, {buffer.size}, cudaMemAdviseSetPreferredLocation, device);  // made there"]
        case "prefetch":
            return [f"cudaMemPrefetchAsync({name}, {buffer.size}, device, stream);  // after the host wrote it"]
        case None:
            return [f"// no cudaMemPrefetchAsync: {buffer.facts['used'].value:.2g} of {name} is used"]


def _pytorch(name: str, placement: Placement) -> list[str]:
    if placement == "device":
        return [f'{name} = torch.empty(shape, device="cuda")']
    allocate, free = _CALLS[placement]
    return [
        f"# placement.so: allocate() calls {allocate}, release() calls {free}",
        'allocator = torch.cuda.memory.CUDAPluggableAllocator("placement.so", "allocate", "release")',
        "with torch.cuda.use_mem_pool(torch.cuda.MemPool(allocator.allocator())):",
        f'    {name} = torch.empty(shape, device="cuda")',
    ]
