"""Programs before and after `octavo transform`, as clang's own CUDA front end reads them with CUDA's own headers."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest
from conftest import missing, tool

if importlib.util.find_spec("clang") is None:
    missing("libclang, which comes with `make`,")

from octavo.transform import include_folder, transform

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "transform").glob("*.cu"))
CLANG = "clang++-19"
"""Debian's, which supports the version of CUDA whose headers `make` installs."""


@pytest.fixture(scope="module")
def cuda(tmp_path_factory) -> Path:
    """A CUDA installation as clang looks for it, of the parts that are packages on PyPI."""
    found = importlib.util.find_spec("nvidia")
    places = [] if found is None else [Path(each) for each in found.submodule_search_locations or ()]
    parts = {
        name: place / name for place in places for name in ("cuda_runtime", "cuda_nvcc") if (place / name).is_dir()
    }
    if len(parts) < 2:
        missing("CUDA's headers, which come with `make`,")
    root = tmp_path_factory.mktemp("cuda")
    include = root / "include"
    include.mkdir()
    for part in parts.values():
        for each in (part / "include").iterdir():
            if not each.name.startswith("__"):
                (include / each.name).symlink_to(each)
    # Clang includes it for random numbers on the device, which belong to another package; no program here has any.
    (include / "curand_mtgp32_kernel.h").touch()
    (root / "bin").mkdir()
    (root / "nvvm").symlink_to(parts["cuda_nvcc"] / "nvvm")
    return root


def compiled(cuda: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Host and device, the syntax alone; warnings are errors."""
    how = ["-x", "cuda", "-std=c++17", "-fsyntax-only", "-Werror", f"--cuda-path={cuda}", "--cuda-gpu-arch=sm_70"]
    command = [tool(CLANG), *how, "-I", str(include_folder()), *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_compile_before_and_after(path, cuda, tmp_path):
    out = tmp_path / "out.cu"
    out.write_bytes(transform(path).after)
    done = compiled(cuda, path, out)
    assert done.returncode == 0, done.stderr


def test_what_does_not_compile_is_found(cuda, tmp_path):
    bad = tmp_path / "bad.cu"
    bad.write_text(EXAMPLES[0].read_text().replace("cudaMallocManaged(", "cudaMallocManagedly("))
    done = compiled(cuda, bad)
    assert done.returncode != 0
    assert "cudaMallocManagedly" in done.stderr
