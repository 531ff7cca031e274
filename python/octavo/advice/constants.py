"""Constants of a machine as a file, for programs that ask where to allocate while they run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.advice import systems
from octavo.files import atomic
from octavo.files.replaced import check_free

if TYPE_CHECKING:
    from octavo.advice.systems import SystemConstants

FORMAT = 3
"""Version of the file; `crates/octavo-runtime/src/machine.rs` reads it."""


def document(constants: SystemConstants) -> dict[str, Any]:
    """What the file holds: `constants` is the format, `system` the constants as the model reads them."""
    return {
        "constants": FORMAT,
        "name": constants.name,
        "system": constants.system.to_model(),
        "origins": {name: vars(origin) for name, origin in constants.origins.items()},
    }


def write(node: str | Path, file: str | Path, *, force: bool = False) -> None:
    """Write the constants of a node, or of a machine file, for the runtime library.

    Args:
        node: a preset, or a file: a machine file, or one with a `[node]`.
        file: what to write.
        force: replace the file if it exists.

    Raises:
        OutputError: the file exists already, or cannot be written.
        OctavoError: there is no such node, or it cannot be used.

    Examples:
        >>> import tempfile
        >>> write("cuda-sm90", Path(tempfile.mkdtemp()) / "constants.json")

    """
    file = Path(file)
    check_free(file, force=force)
    atomic.write_bytes(file, text(systems.from_node(node)).encode())


def text(constants: SystemConstants) -> str:
    """The file."""
    return json.dumps(document(constants), indent=2, ensure_ascii=False) + "\n"
