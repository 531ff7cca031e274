"""The calls of the CUDA runtime that deal with memory, and what becomes of them."""

from __future__ import annotations

ALLOCATE = {"cudaMalloc": "device", "cudaMallocManaged": "managed", "cudaMallocHost": "pinned"}
"""Calls that allocate, and the kind of memory they give."""
FREE = frozenset({"cudaFree", "cudaFreeHost"})
COPY = {"cudaMemcpy": 3, "cudaMemcpyAsync": 3, "cudaMemcpy2D": 6, "cudaMemcpy2DAsync": 6}
"""Calls that copy, and which argument says from where to where."""
FILL = frozenset({"cudaMemset", "cudaMemsetAsync", "cudaMemset2D"})
"""Calls that do the same with every kind of memory."""
TUNE = frozenset({"cudaMemAdvise", "cudaMemPrefetchAsync", "cudaStreamAttachMemAsync"})
"""Calls by which a program says itself where managed memory is to lie."""
LEFT = {
    "cudaHostAlloc": "it asks for more than memory: its flags",
    "cudaHostRegister": "it pins memory that another allocator gave",
    "cudaMalloc3D": "pitched memory has one placement, the device",
    "cudaMallocArray": "arrays have one placement, the device",
    "cudaMallocAsync": "the memory belongs to the pool of a stream",
    "cudaMallocPitch": "pitched memory has one placement, the device",
    "cudaFreeArray": "arrays have one placement, the device",
    "cudaFreeAsync": "the memory belongs to the pool of a stream",
    "cudaHostUnregister": "it was pinned by cudaHostRegister",
    "cudaMemcpy3D": "what it copies stands in a struct",
    "cudaMemcpyFromSymbol": "a symbol has one placement, the device",
    "cudaMemcpyPeer": "it is about devices, not about placement",
    "cudaMemcpyPeerAsync": "it is about devices, not about placement",
    "cudaMemcpyToSymbol": "a symbol has one placement, the device",
}
"""Calls that are never changed, and why."""
ALL = frozenset({*ALLOCATE, *FREE, *COPY, *LEFT})
"""Calls that are listed where they stay unchanged."""
READS = frozenset({
    "memcmp", "memcpy", "memmove", "memset", "printf", "fprintf", "fread", "fwrite", "scanf", "fscanf", "sscanf",
})  # fmt: skip
"""Functions of the C library that use memory of the host and keep no pointer."""

REPLACED = {
    "cudaMalloc": "octavo_malloc",
    "cudaMallocManaged": "octavo_malloc_managed",
    "cudaMallocHost": "octavo_malloc_host",
    "cudaFree": "octavo_free",
    "cudaFreeHost": "octavo_free",
}
"""The function that is called instead, from `include/octavo/transform.h`."""
HEADER = "octavo/transform.h"
