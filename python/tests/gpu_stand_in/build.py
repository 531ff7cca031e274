"""Makes a driver of a GPU that is not there: the probes' own kernels, compiled for the host behind a driver's calls."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import octavo._core as _core

HERE = Path(__file__).parent
NAMESPACE = "probe_"
"""Before the name of a probe, which may also be the name of a host function, such as `system`."""
KERNEL = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)')


def build(folder: Path, compiler: str) -> Path:
    """Build `libcuda.so.1` in a folder; returns that folder, to be put into LD_LIBRARY_PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernels.h").write_text(_header())
    (folder / "kernels.cpp").write_text(_kernels())
    sources = [*map(str, sorted(HERE.glob("*.cpp"))), str(folder / "kernels.cpp")]
    command = [
        compiler,
        "-std=c++17",
        "-O2",
        "-w",
        "-fPIC",
        "-shared",
        "-Wl,-soname,libcuda.so.1",
        f"-I{HERE}",
        f"-I{folder}",
    ]
    subprocess.run(
        [*command, *sources, "-o", str(folder / "libcuda.so.1")],
        check=True,
    )
    return folder


def _header() -> str:
    return """#pragma once
#include <vector>
struct Kernel {
    const char *module, *name;
    size_t arguments;
    std::vector<size_t> sizes;
    void (*call)(void **);
};
extern const std::vector<Kernel> KERNELS;
"""


def _kernels() -> str:
    """Each source in a namespace of its own, and a table of what can be launched."""
    pieces, rows = ['#include "device.h"', '#include "kernels.h"'], []
    for probe in _core.gpu_probes():
        module = probe["name"].replace("-", "_")
        pieces.append(f"namespace {NAMESPACE}{module} {{")
        pieces.append(re.sub(r'extern\s+"C"\s+__global__', "__global__", probe["source"]))
        for name, arguments in KERNEL.findall(probe["source"]):
            wrapper, row = _wrapper(module, name, arguments)
            pieces.append(wrapper)
            rows.append(row)
        pieces.append("}")
    pieces.append("const std::vector<Kernel> KERNELS = {\n" + ",\n".join(rows) + "};")
    return "\n".join(pieces)


def _wrapper(module: str, name: str, arguments: str) -> tuple[str, str]:
    types = [_type(argument) for argument in arguments.split(",") if argument.strip()]
    given = ", ".join(f"*({kind} *)arguments[{index}]" for index, kind in enumerate(types))
    wrapper = f"static void call_{name}(void **arguments) {{ {name}({given}); }}"
    sizes = ", ".join(f"sizeof({NAMESPACE}{module}::stand_in_{name}_{index})" for index in range(len(types)))
    names = "\n".join(f"typedef {kind} stand_in_{name}_{index};" for index, kind in enumerate(types))
    row = f'{{"{module}", "{name}", {len(types)}, {{{sizes}}}, {NAMESPACE}{module}::call_{name}}}'
    return f"{names}\n{wrapper}", row


def _type(argument: str) -> str:
    """`const u32 *restrict where` is a `const u32 *`."""
    declared = argument.replace("__restrict__", " ").strip()
    return re.sub(r"\w+$", "", declared).strip()
