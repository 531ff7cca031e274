"""Where the interposer is: in a named file, installed, or built in this checkout."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from octavo.errors import ProfileError

VARIABLE = "OCTAVO_INTERPOSE"
"""Names the library's file."""
NAME = "liboctavo_interpose.so"


def find() -> Path:
    """The library.

    Raises:
        ProfileError: it is nowhere, or not where the environment says, or where `LD_PRELOAD` cannot name it; or this
            is no machine that it runs on.

    """
    if not sys.platform.startswith("linux") or os.uname().machine != "x86_64":
        raise ProfileError(
            f"the interposer runs on Linux on x86-64, found {sys.platform} on {os.uname().machine}", found=sys.platform
        )
    found = _found().absolute()
    if re.search(r"[\s:]", str(found)):
        raise ProfileError(
            f"{found}: expected a path without spaces and colons, at which LD_PRELOAD ends",
            f"name a link to it in {VARIABLE}",
            code="unexpected-value",
            file=found,
        )
    return found


def _found() -> Path:
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise ProfileError(
                f"{VARIABLE}: expected the file of {NAME}, found none at {named}",
                code="missing",
                key=VARIABLE,
                file=named,
            )
        return Path(named)
    looked = _places()
    found = next((place / NAME for place in looked if (place / NAME).is_file()), None)
    if found is None:
        raise ProfileError(
            f"expected {NAME}, found it in none of {', '.join(map(str, looked))}",
            f"install it from Octavo's sources with make runtime PREFIX=$HOME/.local, or name its file in {VARIABLE}",
            expected=NAME,
            code="missing",
        )
    return found


def _places() -> list[Path]:
    """Folders in the order in which they are searched."""
    checkout = Path(__file__).parents[4]
    built = [checkout / "target" / profile for profile in ("release", "debug")]
    prefixes = [Path(sys.prefix), Path.home() / ".local", Path("/usr/local"), Path("/usr")]
    installed = [prefix / "lib" for prefix in dict.fromkeys(prefixes)]
    return [*(built if (checkout / "Cargo.toml").is_file() else []), *installed]
