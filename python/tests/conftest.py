from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from gpu_stand_in.build import build
from warm import Warm

from octavo.errors import OctavoError
from octavo.files import manifest
from octavo.files.notes import OctavoNote

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Sequence

SMALL = 1 / 64
os.environ.pop("COLUMNS", None)  # Processes that run tests side by side set it, and commands fold lines by it.
HERE = Path(__file__).parent
Environment = dict[str, str]


AROUND = 112 << 20
"""Bytes that Python and its packages count with beside a run, in a process that runs one first of all."""


def missing(what: str) -> NoReturn:
    """End a test that needs what is not here: as skipped, as failed if `OCTAVO_TOOLS=required` forbids it."""
    if os.environ.get("OCTAVO_TOOLS") == "required":
        pytest.fail(f"{what} is missing, and OCTAVO_TOOLS=required", pytrace=False)
    pytest.skip(f"{what} is missing", allow_module_level=True)


def tool(name: str) -> str:
    """Where a program is installed; without it the test ends."""
    return shutil.which(name) or missing(f"`{name}`")


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What workloads in Python generate is kept for the tests alone."""
    os.environ["OCTAVO_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """What starts the command quickly."""
    found = Warm()
    yield found
    found.close()


@pytest.fixture
def cli(warm: Warm, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in an empty folder."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return warm.run(arguments, tmp_path, timeout=300)

    return run


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by relative name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def sealed_anew(folder: Path) -> Path:
    """A folder whose files a test changed, with a manifest that vouches for them as they are by now."""
    known = manifest.read(folder)
    assert known is not None
    (folder / manifest.MANIFEST_FILE).write_text(manifest.of_files(folder, known.kind).text())
    return folder


@pytest.fixture(scope="session")
def libraries() -> str:
    """Folder of the compiler of kernels, which needs no GPU."""
    nvrtc = pytest.importorskip("nvidia.cuda_nvrtc", reason="the compiler comes with `make`: nvidia-cuda-nvrtc-cu12")
    return str(Path(nvrtc.__path__[0]) / "lib")


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory, libraries: str) -> Environment:
    """What a process needs to find a driver of a GPU that is not there."""
    folder = build(tmp_path_factory.mktemp("stand-in"), tool("c++"))
    return {"LD_LIBRARY_PATH": f"{folder}:{libraries}", "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}


@contextmanager
def noted(*names: str) -> Iterator[None]:
    """Whatever its words are, the block notes something that quotes these names."""
    with pytest.warns(OctavoNote) as notes:
        yield
    said = [str(each.message) for each in notes]
    assert any(all(name in each for name in names) for each in said), said


@contextmanager
def refused(
    code: str, kind: type[OctavoError] = OctavoError, *, names: Sequence[str] = (), **facts: object
) -> Iterator[pytest.ExceptionInfo[OctavoError]]:
    """Whatever its words are, the block raises the error with this code and these facts.

    Its message quotes `names`, which the test gave. `file` is a whole path, or the last part of one.
    """
    with pytest.raises(kind) as found:
        yield found
    error = found.value
    assert error.code == code, (error.code, error.facts, error)
    assert error.message
    for fact, expected in facts.items():
        said = getattr(error, fact)
        if fact == "file" and isinstance(expected, str):
            said = Path(said or "").name
        assert said == (str(expected) if isinstance(expected, Path) else expected), (fact, error.facts, error)
    for name in names:
        assert name in str(error), error
