#!/usr/bin/env python3
"""Compiles OpenCL kernels for GCN3 and lists how many instructions stand between their memory accesses.

Usage: gcn_costs.py FILE.cl ... (needs clang 14 with the AMDGPU target)

One line for each run of instructions without memory access, wait, barrier or label: vector, scalar, local data and
branch instructions, as in `Op::mix`. Loads of kernel arguments are left out, as in the models.
"""

import re
import subprocess
import sys

CLANG = ["clang-14", "-x", "cl", "-cl-std=CL1.2", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx803", "-nogpulib"]
CLASSES = ("vector", "scalar", "local data", "branch")


def assembly(path: str) -> list[str]:
    """Lines of the compiled kernels of `path`."""
    command = [*CLANG, "-O2", "-cl-mad-enable", "-S", "-o", "-", path]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()  # noqa: S603


def kind(instruction: str) -> str:
    """The class of an instruction, or the instruction itself where it ends a run."""
    name = instruction.split(maxsplit=1)[0]
    if name.startswith(("s_cbranch", "s_branch")):
        return "branch"
    if name.startswith("ds_"):
        return "local data"
    if name.startswith("v_"):
        return "vector"
    if name.startswith(("s_load", "s_nop")):
        return "left out"
    ends_run = name.startswith(("flat_", "global_", "buffer_", "s_waitcnt", "s_barrier", "s_endpgm"))
    return instruction if ends_run else "scalar"


def report(lines: list[str]) -> None:
    """Prints the runs of all kernels."""
    counts = dict.fromkeys(CLASSES, 0)

    def flush() -> None:
        if any(counts.values()):
            print("   ", "mix({}, {}, {}, {})".format(*counts.values()))
        counts.update(dict.fromkeys(CLASSES, 0))

    for line in lines:
        text = line.split(";")[0].strip()
        label = re.fullmatch(r"(\w+|\.LBB\w+):", text)
        used = re.match(r"\.(?:sgpr_count|vgpr_count|group_segment_fixed_size|name):\s+(\S+)", text)
        if label and not text.startswith((".Lfunc", ".L__")):
            flush()
            print(label[1])
        elif used:
            print("      ", text)
        elif text and not text.startswith("."):
            found = kind(text)
            if found in counts:
                counts[found] += 1
                if found == "branch":
                    flush()
                    print("   ", text)
            elif found != "left out":
                flush()
                print("   ", found)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for source in sys.argv[1:]:
        print(f"== {source}")
        report(assembly(source))
