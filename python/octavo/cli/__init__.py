"""The command `octavo`."""

import sys

from octavo import addresses

_LACKING = addresses.lacking()
if _LACKING is not None:  # Before packages are loaded: each of them fails in its own way.
    sys.exit(f"error: {_LACKING}")

from octavo.cli.app import main  # noqa: E402 - see above

__all__ = ["main"]
