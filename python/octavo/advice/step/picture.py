"""The frontier of batch sizes as a picture: memory and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.runs import colours
from octavo.runs.contrast import DARK_PAPER, in_the_dark, on_paper
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from octavo.advice.step.answer import Needs, Point
    from octavo.runs.pictures import Picture

_INK = {False: "#222222", True: "#e6e6e6"}


def draw(needs: Needs, *, width: float = sheet.PAGE, dark: bool = False) -> Picture:
    """Memory and time of a sample by batch size, as the program is and with levers, on light or dark paper."""
    found = sheet.figure(width, 3.0)
    memory, time = found.subplots(1, 2)
    shades = (in_the_dark if dark else on_paper)(list(colours.SERIES[:2]))
    names = ["as it is", "with " + " and ".join(lever.name for lever in needs.with_levers)]
    both = needs.frontier, needs.frontier_with
    for points, shade, name, style in zip(both, shades, names, ("-", "--"), strict=True):
        if points:
            _lines((memory, time), points, name, {"color": shade, "linestyle": style, "marker": "o", "markersize": 3})
    memory.axhline(needs.room / 1e9, color=_INK[dark], linewidth=0.9, linestyle=":")
    memory.annotate(
        f"{needs.room / 1e9:,.3g} GB for PyTorch",
        (0.02, needs.room / 1e9),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize=7,
        color=_INK[dark],
    )
    for axes in (memory, time):
        axes.set_xscale("log", base=2)
        axes.set_xticks([point.batch for point in needs.frontier], [f"{point.batch:,}" for point in needs.frontier])
        axes.set_xlabel("samples of a batch", fontsize=8)
    memory.set_yscale("log")
    time.set_ylim(bottom=0)
    memory.set_ylabel("GB that PyTorch holds at its most", fontsize=8)
    time.set_ylabel("ms for a sample", fontsize=8)
    sheet.tidy(memory, "Memory")
    sheet.tidy(time, "Time")
    sheet.steps(memory.yaxis, 2.0, 0.2)
    for axes in (memory, time):
        axes.tick_params(axis="x", labelsize=7, rotation=45)
        if dark:
            _darken(axes)
    sheet.headline(found, f"{needs.program.name} on {needs.node}")
    sheet.legend(found, memory)
    if dark:
        found.set_facecolor(DARK_PAPER)
        for text in (*found.texts, *(each for legend in found.legends for each in legend.get_texts())):
            text.set_color(_INK[True])
        if found._suptitle is not None:  # type: ignore[attr-defined]  # Matplotlib has no other way to it
            found._suptitle.set_color(_INK[True])  # type: ignore[attr-defined]
    return sheet.write(found, None)


def _lines(both: tuple[Axes, Axes], points: list[Point], name: str, look: dict[str, Any]) -> None:
    memory, time = both
    batches = [point.batch for point in points]
    memory.plot(batches, [point.reserved / 1e9 for point in points], label=name, **look)
    time.plot(batches, [1e3 * point.seconds / point.batch for point in points], **look)


def _darken(axes: Axes) -> None:
    axes.set_facecolor(DARK_PAPER)
    axes.tick_params(colors=_INK[True])
    for spine in axes.spines.values():
        spine.set_color(_INK[True])
    for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
        text.set_color(_INK[True])
