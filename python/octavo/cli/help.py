"""The text of `--help`: paragraphs, options without types of Python, and examples line by line."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEAD = "Examples"
_CONTINUED = " " * 6
"""The indent of the rest of an example that is wider than the terminal."""
_NAME = 10
"""About the length of the longest name of a command, so that summaries align in all groups."""
_WORDS = {
    "<str>": "NAME",
    "<list[str]>": "NAMES",
    "<path>": "FILE",
    "<int>": "N",
    "<int range>": "N",
    "<float>": "NUMBER",
    "<float range>": "NUMBER",
}
"""Words that help shows instead of types of Python."""


def examples(*commands: str) -> str:
    """The foot of a command's help: each example on a line of its own."""
    return "\n".join([_HEAD, *commands])


def write_examples(epilog: str | None, formatter: Any) -> None:
    """Write what `examples` made."""
    head, *lines = (epilog or "").split("\n")
    if head != _HEAD:
        return
    formatter.write_paragraph()
    formatter.write(f"{head}:\n")
    for line in lines:
        shown = textwrap.wrap(
            line,
            formatter.width,
            initial_indent="  ",
            subsequent_indent=_CONTINUED,
            break_long_words=False,
            break_on_hyphens=False,
        )
        formatter.write("\n".join(shown) + "\n")


def plain(command: Any) -> Any:
    """A command, with all below it, whose help is wrapped at the width of the terminal, not as in the source."""
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    parameters = command.get_params
    command.get_params = lambda ctx: without_types(parameters(ctx), ctx)
    command.format_epilog = lambda _ctx, formatter: write_examples(command.epilog, formatter)
    below = getattr(command, "commands", None)
    if below:
        said = {name: plain(each).help for name, each in below.items()}
        command.format_commands = lambda _ctx, formatter: write_commands("Commands", said, formatter)
    return command


def write_commands(title: str, found: Mapping[str, str], formatter: Any) -> None:
    """Write commands, each with the whole first paragraph of its help."""
    with formatter.section(title):
        formatter.write_dl([(f"{name:{_NAME}}", said.partition("\n\n")[0]) for name, said in found.items()])


def without_types(parameters: Any, ctx: Any) -> Any:
    """Parameters whose help shows no types: switches have none, and arguments are named already."""
    for each in parameters:
        if each.param_type_name == "argument":
            each.display_type_rich = lambda ctx: ""
        elif each.metavar is None and not getattr(each, "is_flag", False):
            shown = each.display_type_rich(ctx) if hasattr(each, "display_type_rich") else each.make_metavar(ctx)
            each.metavar = _WORDS.get(shown, shown)
    return parameters
