"""`octavo transform`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli import options
from octavo.cli.terminal import Terminal
from octavo.errors import OutputError
from octavo.files import atomic
from octavo.files.replacement import check_free
from octavo.plain import visible
from octavo.transform import include_folder
from octavo.transform import transform as transformed

if TYPE_CHECKING:
    from octavo.cli.sink import Sink
    from octavo.transform import Transformed

_MOST_UNREAD = 10
"""Our choice: errors after the first few mostly follow from these; --json has more."""
EXAMPLES = options.examples(
    "octavo transform fir.cu",
    "octavo transform fir.cu -o fir_placed.cu",
    "octavo transform src/kmeans.cu -I include -D NDEBUG --in-place",
    "nvcc -I$(octavo transform --include-dir) fir_placed.cu -loctavo",
)


def _print_folder(wanted: bool) -> None:
    if wanted:
        typer.echo(include_folder())
        raise typer.Exit


File = Annotated[Path, typer.Argument(metavar="FILE", help="CUDA C++ source file.", show_default=False)]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write the result to; none if left out.")
]
InPlace = Annotated[bool, typer.Option("--in-place", help="Write the result over the file itself.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file that -o names, if there is one.")]
Include = Annotated[
    list[Path] | None, typer.Option("--include", "-I", metavar="DIR", help="Folder with headers; may be repeated.")
]
Define = Annotated[
    list[str] | None,
    typer.Option("--define", "-D", metavar="NAME[=VALUE]", help="Macro of the compiler; may be repeated."),
]
Standard = Annotated[str, typer.Option("--std", help="Language standard, as for compilers.")]
IncludeDir = Annotated[
    bool,
    typer.Option(
        "--include-dir",
        help="Print the folder with the headers of transformed programs, and exit.",
        is_eager=True,
        callback=_print_folder,
    ),
]


def transform(
    file: File,
    output: Output = None,
    in_place: InPlace = False,
    force: Force = False,
    include: Include = None,
    define: Define = None,
    standard: Standard = "c++17",
    said: options.Said = options.SAID,
    _include_dir: IncludeDir = False,
) -> None:
    """Make a CUDA program ask for the placement of each buffer as it allocates. Shows the changes as a diff.

    Nothing is written without -o or --in-place. Code that is not understood or does not parse is left as it is, and
    listed with the reason.
    """
    target = _target(file, output, in_place=in_place, force=force)
    result = transformed(file, include=include or (), define=define or (), standard=standard)
    sink = said.sink(Terminal(errors=True))
    if sink.human and result.changed:
        # A person reads a terminal, `patch` reads anything else, to the byte.
        sys.stdout.write(visible(result.diff) if sys.stdout.isatty() else result.diff)
    written = target if target is not None and (result.changed or not in_place) else None
    if written is not None:
        _write(written, result)
    sink.document({**result.to_dict(), "written": None if written is None else str(written)})
    _tell(sink, result, written)


def _target(file: Path, output: Path | None, *, in_place: bool, force: bool) -> Path | None:
    if in_place and output is not None:
        raise OutputError("both -o and --in-place are given", "name one of them")
    if output is not None:
        check_free(output, force=force, hint="--force replaces it; --in-place writes over the source")
    return file if in_place else output


def _write(path: Path, result: Transformed) -> None:
    """Write a file completely or not at all, with the permissions of the source."""
    with atomic.replaced_file(path) as temporary:
        temporary.write_bytes(result.after)
        shutil.copymode(result.path, temporary)


def _tell(sink: Sink, result: Transformed, written: Path | None) -> None:
    for each in result.skipped:
        buffer = f" of `{each.buffer}`" if each.buffer else ""
        sink.tell(f"{result.path}:{each.line}:{each.column}: {each.call}{buffer} is left as it is: {each.why}")
    for unread in result.unread[:_MOST_UNREAD]:
        where = f"{result.path}:{unread.line}:{unread.column}" if unread.line else f"{result.path}"
        sink.tell(f"{where}: does not parse, so what it names is left as it is: {unread.why}")
    if len(result.unread) > _MOST_UNREAD:
        sink.tell(f"{result.path}: {len(result.unread) - _MOST_UNREAD} more places do not parse")
    if any("file not found" in each.why for each in result.unread):
        sink.tell("-I names folders of headers")
    if result.changed:
        counts = f"{len(result.buffers)} allocations ask for their placement, {len(result.skipped)} calls are left"
        sink.tell(counts)
    else:
        sink.say(f"Nothing to change in {result.path}")
    if written is not None:
        sink.say(f"Written: {written}")
    elif result.changed:
        sink.say("Nothing is written: -o FILE or --in-place does that")
