"""The command `octavo`."""

from octavo.cli.app import main

__all__ = ["main"]
