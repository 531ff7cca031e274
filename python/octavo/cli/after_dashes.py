"""Commands that run a program, which has to follow `--`."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand


class AfterDashes(TyperCommand):
    """A command whose parameter `command` is what follows `--`; options before that are its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments.

        Raises:
            BadParameter: part of the program stands before `--`, where its options would be taken for ours.

        """
        behind = len(args) - args.index("--") - 1 if "--" in args else 0
        rest = super().parse_args(ctx, args)
        if len(ctx.params.get("command") or ()) > behind and not ctx.resilient_parsing:
            raise typer.BadParameter(f"expected the program after --, found `{ctx.params['command'][0]}` before it")
        return rest
