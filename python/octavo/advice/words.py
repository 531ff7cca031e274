"""A decision in words: why a placement is advised, and the calls to write for it: CUDA 12, cuda.core, RMM, PyTorch."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from octavo import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.advice.facts import Buffer, Placement
    from octavo.advice.model import Penalty
    from octavo.advice.moments import Moves


class Library(Enum):
    """For which library actions are written."""

    cuda = "cuda"
    cuda_core = "cuda.core"
    rmm = "rmm"
    pytorch = "pytorch"


_SPARSE = 0.5
"""The share of a buffer in use below which words call it sparse; our choice."""
_ONCE = 1.05
"""How often pages come at most for words to say that they come once; our choice."""
_RMM = {
    "device": "rmm::mr::cuda_async_memory_resource",
    "managed": "rmm::mr::managed_memory_resource",
    "prefetched": "rmm::mr::managed_memory_resource",
    "pinned": "rmm::mr::pinned_host_memory_resource",
}
_CUDA_CORE = {
    "device": "DeviceMemoryResource(device)",
    "managed": "ManagedMemoryResource()",
    "prefetched": "ManagedMemoryResource()",
    "pinned": "LegacyPinnedMemoryResource()",
}
"""Source: the reference of cuda.core 0.5; its managed memory needs CUDA 13."""
_CALLS = {
    "managed": ("cudaMallocManaged", "cudaFree"),
    "prefetched": ("cudaMallocManaged", "cudaFree"),
    "pinned": ("cudaMallocHost", "cudaFreeHost"),
}
_IN_AND_OUT = 2
"""Copies of a buffer that goes to the device and back once."""


def why(buffer: Buffer, placement: Placement, penalties: Mapping[Placement, Penalty], *, fits: bool) -> str:
    """Why a placement is advised: the term that costs its rival most.

    The rival is the present placement, or the cheapest other one if the present one stays.
    """
    if placement != "device" and not fits:
        return "larger than the device memory that may be used"
    costs: dict[Placement, float] = {} if buffer.known else {"device": 0.0}
    costs |= {each: penalty.phi for each, penalty in penalties.items()}
    others = [each for each in costs if each != placement]
    if not others:
        return "nothing else may be advised"
    rival = buffer.present if buffer.present in others else min(others, key=lambda each: costs[each])
    if rival in penalties and penalties[rival].thrashes:
        return f"{rival} memory thrashes: host and device write it in turns"
    own = penalties[placement].terms if placement in penalties else {}
    terms = penalties[rival].terms if rival in penalties else dict.fromkeys(own, 0.0)
    term = max(terms, key=lambda name: terms[name] - own.get(name, 0.0))
    return f"{rival} memory costs {_cost(buffer, rival, term, penalties.get(rival))}"


def _cost(buffer: Buffer, rival: Placement, term: str, penalty: Penalty | None) -> str:
    if penalty is None:
        of_device = {"copy": "a copy", "launches": "cutting it up", "having": _device(buffer)}
        return f"{of_device.get(term, 'more')}; {_times(buffer)}, {_density(buffer)}"
    together = max(buffer.facts["concurrency"].value, 1.0)
    over_link = f"{plain.size(penalty.volume)} over the link, {_times(buffer)}"
    of_host = {
        "exposed": over_link if penalty.volume else f"{plain.seconds(penalty.exposed)} of launches over the link",
        "faults": f"{_faults(buffer)}, {together:.0f} served at a time",
        "prefetches": f"prefetching it before launches{_often(buffer.facts['ahead_calls'].value)}",
        "thrashing": "faults that are held up: host and device write it in turns",
        "first_touch": f"{_faults(buffer)}: the device touches it first",
        "returned": f"{plain.size(buffer.facts['returned'].value)} back to the host, by its faults",
        "copies": f"{buffer.facts['copies'].value:,.0f} copies",
        "having": "pinning its pages" if rival == "pinned" else "making and freeing its pages",
    }
    return of_host.get(term, "more")


def _often(count: float) -> str:
    return f", {count:,.0f} times" if count > 1 else ""


def _faults(buffer: Buffer) -> str:
    count = f"{buffer.facts['faults'].value:,.0f}"
    return f"{count} fault" if count == "1" else f"{count} faults"


def _device(buffer: Buffer) -> str:
    """The cost of device memory, in words."""
    seen = buffer.facts["copied_in"].value + buffer.facts["copied_out"].value > 0
    return "a second allocation beside the host's" if seen else "an allocation on the device"


def _times(buffer: Buffer) -> str:
    rho = buffer.facts["rho"].value
    return "touched once" if rho < _ONCE else f"its pages come {rho:.1f} times"


def _density(buffer: Buffer) -> str:
    used = buffer.facts["used"].value
    return f"sparse: {used:.2g} of it is used" if used < _SPARSE else "dense"


def actions(buffer: Buffer, placement: Placement) -> dict[str, list[str]]:
    """The calls of each library."""
    return {
        "cuda": _cuda(buffer, placement),
        "cuda.core": _cuda_core(buffer, placement),
        "rmm": _rmm(buffer, placement),
        "pytorch": _pytorch(buffer, placement),
    }


def _name(buffer: Buffer) -> str:
    """The name of a buffer as a variable in C."""
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
        instead = ", and it is not copied" if buffer.facts["copies"].value else ""
        same = f"// kernels use the same pointer{instead}"
        return [f"cudaMallocHost(&{name}, {size});  {same}", f"cudaFreeHost({name});"]
    hints = _prefetches(buffer, name) if placement == "prefetched" else _hints(buffer, name)
    return [f"cudaMallocManaged(&{name}, {size});", *hints, f"cudaFree({name});"]


def _cuda_core(buffer: Buffer, placement: Placement) -> list[str]:
    name, resource = _name(buffer), _CUDA_CORE[placement]
    lines = [
        f"from cuda.core import {resource.partition('(')[0]}",
        f"{name} = {resource}.allocate({buffer.size}, stream=stream)",
    ]
    if placement == "device":
        copies = {"copied_in": "copy_from", "copied_out": "copy_to"}
        made = [call for fact, call in copies.items() if buffer.facts[fact].value]
        lines += [f"{name}.{call}({name}_host, stream=stream)  # {name}_host: a Buffer, too" for call in made]
    if placement == "prefetched":
        lines += [
            "from cuda.bindings import runtime",
            "there = runtime.cudaMemLocation()",
            "there.type, there.id = runtime.cudaMemLocationType.cudaMemLocationTypeDevice, device",
            f"# {_when(buffer)}:",
            f"runtime.cudaMemPrefetchAsync(int({name}.handle), {buffer.size}, there, 0, stream.handle)",
        ]
    same = "  # kernels use the same pointer" if placement == "pinned" else ""
    return [*lines[:1], lines[1] + same, *lines[2:], f"{name}.close(stream)"]


def _prefetches(buffer: Buffer, name: str) -> list[str]:
    """Calls that prefetch."""
    return [f"cudaMemPrefetchAsync({name}, {buffer.size}, device, stream);  // {_when(buffer)}"]


def moving(lines: Sequence[str], buffer: Buffer, moves: Moves) -> list[str]:
    """Lines of CUDA for memory that moves before launches, with the hints that its recording suggests."""
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
    """The hints that the driver gets about managed memory. It is not part of the prediction."""
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
