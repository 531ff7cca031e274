#!/usr/bin/env python3
"""How many cycles NVIDIA's compiler puts between instructions of a warp: `node.compute.vector_alu.latency`.

Needs `nvdisasm` of the CUDA toolkit on PATH, and compiled kernels:

    nvcc -std=c++17 -cubin -arch sm_90 -o programs.cubin validation/gpu/programs.cu
    tools/sass/stalls.py programs.cubin

From Volta on an instruction has 128 bits; four of them, from bit 105 on, say how many cycles the scheduler waits
before the next one of the same warp (Jia and others, Dissecting the NVIDIA Volta GPU architecture via
microbenchmarking, 2018). What takes a variable time, as memory does, is waited for apart and not counted. One line for
each kernel: instructions, and cycles for each; then those of all code, and the mean of the kernels.
"""

import argparse
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

KERNEL = re.compile(r"\s*\.text\.(\S+):")
CODE = re.compile(r"(?:/\*[0-9a-f]{4,}\*/\s+(?P<text>.*?);)?\s+/\* 0x(?P<word>[0-9a-f]{16}) \*/")
# In the second word of an instruction.
STALL_SHIFT, STALL_BITS = 105 - 64, 4


def stalls(listing: str) -> dict[str, list[int]]:
    """Cycles after each instruction, by kernel."""
    found: dict[str, list[int]] = {}
    for name, text, second in _instructions(listing.splitlines()):
        if not text.startswith("NOP"):
            found.setdefault(name, []).append(second >> STALL_SHIFT & (1 << STALL_BITS) - 1)
    return found


def _instructions(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """Kernel, text and second word of each instruction, which takes two lines."""
    name = text = ""
    for line in lines:
        if kernel := KERNEL.match(line):
            name = kernel[1]
        elif code := CODE.search(line):
            if code["text"] is not None:
                text = code["text"].strip()
            else:
                yield name, text, int(code["word"], 16)


def main() -> None:
    """Prints the cycles of a file of kernels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cubin", type=Path, help="compiled kernels")
    command = ["nvdisasm", "-hex", "-c", str(parser.parse_args().cubin)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - the user's file
    kernels = stalls(listing)
    if not kernels:
        parser.exit(1, "the listing has no instructions\n")
    for name, cycles in kernels.items():
        print(f"{len(cycles):6} {mean(cycles):5.2f}  {name}")
    everything = [cycle for cycles in kernels.values() for cycle in cycles]
    print(f"{len(everything):6} {mean(everything):5.2f}  all code")
    print(f"{len(kernels):6} {mean(map(mean, kernels.values())):5.2f}  mean of the kernels")


if __name__ == "__main__":
    main()
