"""The code on a machine of a Ray cluster: an actor that reports which engine it has, and then runs points.

Ray sends this module by value, so a machine without Octavo or with another build of it can report that. Therefore
nothing of Octavo is imported before the builds are known to be the same.
"""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path
from typing import Any


def engine() -> str:
    """The build that runs here: a digest of the compiled library and of all Python sources of the package.

    Raises:
        ImportError: there is none that can be loaded.

    """
    import octavo._core as library  # noqa: PLC0415 - perhaps it is not there

    root = Path(str(library.__file__)).parent
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    files["_core"] = Path(str(library.__file__))
    digest = hashlib.blake2b(digest_size=16)
    for name, path in sorted(files.items()):
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


class Hand:
    """A process on a machine of the cluster."""

    def greet(self, folder: str) -> dict[str, Any]:
        """Go to the folder in which relative paths begin, if it exists, and report what is here."""
        if Path(folder).is_dir():
            os.chdir(folder)
        found: dict[str, Any] = {"host": socket.gethostname(), "engine": None, "problem": ""}
        try:
            return found | {"engine": engine()}
        except Exception as error:
            return found | {"problem": f"{type(error).__name__}: {error}"}

    def run(self, scenario: str, files: dict[str, str], limits: tuple[int | None, int | None]) -> dict[str, Any]:
        """Run a point, on a machine with the same build; see `octavo.sweeps.remote.run`."""
        from octavo.sweeps import remote  # noqa: PLC0415 - as above

        return remote.run(scenario, files, limits)
